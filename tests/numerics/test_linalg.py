"""The unrolled factorisation against NumPy, and what it does to indefinite matrices."""

import jax
import numpy as np
import pytest

from sharp_attention.numerics import linalg

SIZES = [1, 2, 3, 4, 6, 8]
# Entries are of order one and condition numbers below 1e3.
MACHINE_PRECISION = 1e-11


def random_matrices(size: int, *, is_definite: bool, points: int = 50) -> np.ndarray:
    rng = np.random.default_rng(size)
    square = rng.normal(size=(points, size, size))
    if is_definite:
        return square @ square.transpose(0, 2, 1) + np.eye(size)
    return square + square.transpose(0, 2, 1)


def as_rows(vectors: np.ndarray) -> linalg.Rows:
    return tuple(jax.numpy.asarray(column) for column in vectors.T)


def as_lower(matrices: np.ndarray) -> linalg.Lower:
    size = matrices.shape[-1]
    return tuple(as_rows(matrices[:, i, : i + 1]) for i in range(size))


def rebuild(factors: linalg.Factors) -> np.ndarray:
    size, points = len(factors.pivots), factors.pivots[0].size
    lower = np.tile(np.eye(size), (points, 1, 1))
    for i in range(size):
        for j in range(i):
            lower[:, i, j] = factors.lower[i][j]
    pivots = np.stack(factors.pivots, axis=1)
    return lower * pivots[:, None, :] @ lower.transpose(0, 2, 1)


@pytest.fixture(autouse=True)
def _double_precision():
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("size", SIZES)
def test_solves_like_numpy(size):
    matrices = random_matrices(size, is_definite=True)
    right = np.random.default_rng(99).normal(size=(50, size))
    factors = linalg.factorise(as_lower(matrices), floor=1e-12)
    found = np.stack(linalg.solve_factored(factors, as_rows(right)), axis=1)
    expected = np.linalg.solve(matrices, right[..., None])[..., 0]
    np.testing.assert_allclose(found, expected, rtol=0, atol=MACHINE_PRECISION)


@pytest.mark.parametrize("size", SIZES)
def test_factors_of_a_definite_matrix_are_exact(size):
    matrices = random_matrices(size, is_definite=True)
    rebuilt = rebuild(linalg.factorise(as_lower(matrices), floor=1e-12))
    np.testing.assert_allclose(rebuilt, matrices, rtol=0, atol=MACHINE_PRECISION)


@pytest.mark.parametrize("size", SIZES)
def test_indefinite_matrices_become_definite(size):
    floor = 0.3
    matrices = random_matrices(size, is_definite=False)
    assert (np.linalg.eigvalsh(matrices)[:, 0] < 0).any()
    factors = linalg.factorise(as_lower(matrices), floor)
    assert (np.stack(factors.pivots) >= floor).all()
    assert (np.linalg.eigvalsh(rebuild(factors))[:, 0] > 0).all()


@pytest.mark.parametrize("size", SIZES)
def test_the_step_descends_even_where_the_matrix_is_indefinite(size):
    matrices = random_matrices(size, is_definite=False)
    gradient = np.random.default_rng(7).normal(size=(50, size))
    factors = linalg.factorise(as_lower(matrices), floor=0.1)
    step = np.stack(linalg.solve_factored(factors, as_rows(-gradient)), axis=1)
    assert (np.sum(step * gradient, axis=1) < 0).all()
    # Negative control: the bare Newton step goes uphill somewhere.
    bare = -np.linalg.solve(matrices, gradient[..., None])[..., 0]
    assert (np.sum(bare * gradient, axis=1) > 0).any()


def test_zero_matrix_is_lifted_to_the_floor():
    zero = as_lower(np.zeros((3, 2, 2)))
    assert np.allclose(np.stack(linalg.factorise(zero, 0.5).pivots), 0.5)


@pytest.mark.parametrize("length", [2, 3, 4, 10])
def test_zero_sum_basis_is_orthonormal_and_sums_to_zero(length):
    basis = linalg.zero_sum_basis(length)
    assert basis.shape == (length, length - 1)
    np.testing.assert_allclose(basis.T @ basis, np.eye(length - 1), atol=1e-15)
    np.testing.assert_allclose(basis.sum(axis=0), 0, atol=1e-15)


def test_zero_sum_basis_needs_two_entries():
    with pytest.raises(ValueError, match="length must be >= 2; received 1"):
        linalg.zero_sum_basis(1)
