"""The polynomial exponential against double precision."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sharp_attention.attention.exponential import POWER_OF_TWO, exp_of_nonpositive

# Compiled, since a compiler may try to cancel the rounding constant.
compiled = jax.jit(exp_of_nonpositive)


def test_relative_error_bound():
    x = -np.linspace(0, 87, 200_001, dtype=np.float32)
    exact = np.exp(x.astype(np.float64))
    error = np.abs(np.asarray(compiled(x), np.float64) / exact - 1)
    assert (error <= 2e-7 + 1e-7 * np.abs(x)).all()


def test_absolute_error_is_that_of_float32():
    x = -np.linspace(0, 200, 200_001, dtype=np.float32)
    error = np.abs(np.asarray(compiled(x), np.float64) - np.exp(x.astype(np.float64)))
    assert error.max() <= 2e-7


@pytest.mark.parametrize("x", [-88.0, -104.0, -1e4, -1e24, -np.inf])
def test_far_below_zero_is_exactly_zero(x):
    assert compiled(jnp.float32(x)) == 0


def test_zero_gives_exactly_one():
    assert compiled(jnp.zeros(3)).tolist() == [1, 1, 1]
    assert compiled(jnp.float32(-0.0)) == 1


def test_nan_stays_nan():
    assert np.isnan(compiled(jnp.float32(np.nan)))


def test_double_precision_is_the_library_function():
    with jax.enable_x64(True):
        x = -jnp.linspace(0, 50, 1001)
        assert x.dtype == jnp.float64
        np.testing.assert_array_equal(exp_of_nonpositive(x), jnp.exp(x))


def test_polynomial_error_oscillates():
    """Chebyshev: the best polynomial reaches its largest error again and again."""
    f = np.linspace(-0.5, 0.5, 100_001)
    error = np.polyval(POWER_OF_TWO, f) / 2**f - 1
    largest = np.abs(error).max()
    assert largest < 1.0e-7
    extremes = error[np.abs(error) > 0.9 * largest]
    assert (np.diff(np.sign(extremes)) != 0).sum() >= 4


def test_doubling_is_exact():
    """Powers of two come from the exponent bits."""
    x = np.float32(-3 * np.log(2))
    assert compiled(x) == pytest.approx(0.125, rel=1e-6)
