import numpy as np
import pytest

from sharp_attention.numerics.sobol import sobol_normals


def test_points_are_standard_normal_and_even() -> None:
    normals = sobol_normals(3, 2**10, seed=0)
    assert normals.shape == (3, 2**10)
    # Plain sampling would leave an error of 0.03 on a mean.
    np.testing.assert_allclose(normals.mean(axis=1), 0, atol=2e-3)
    np.testing.assert_allclose(np.cov(normals), np.eye(3), atol=0.02)


def test_the_seed_decides() -> None:
    one, same, other = (sobol_normals(2, 8, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert np.abs(one - other).max() > 0.1


def test_any_number_of_points() -> None:
    assert sobol_normals(2, 5, seed=0).shape == (2, 5)


@pytest.mark.parametrize("arguments", [(0, 8, 0), (2, 0, 0), (2, 8, -1)])
def test_bad_input(arguments) -> None:
    with pytest.raises(ValueError, match="must be >="):
        sobol_normals(*arguments)
