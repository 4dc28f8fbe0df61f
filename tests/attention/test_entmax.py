"""Entmax at every alpha against double precision, in a form where nothing cancels."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sharp_attention.attention.activations import entmax

ROUNDING = {"float32": 1e-5, "float64": 1e-13}
ALPHAS = [1.01, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 9.0, 17.0, 64.0, 1000.0]
# Each compiles for itself.
QUICK = {(alpha, "float32") for alpha in (1.01, 1.5, 2.0, 4.0, 64.0)}
CASES = [
    pytest.param(
        alpha, dtype, marks=[] if (alpha, dtype) in QUICK else pytest.mark.slow
    )
    for alpha in ALPHAS
    for dtype in ROUNDING
]
SIZES = [1, 2, 16, 64, 1000]


def reference(logits: np.ndarray, alpha: float) -> np.ndarray:
    """Weights by way of v = p^a of the last key in the support, a = alpha − 1.

    The k largest logits have (v + a (e_j − e_k))^(1/a): sums of what is not negative,
    in logarithms.  The support is the largest whose sum is at most 1 at v = 0.
    """
    a = alpha - 1
    order = np.argsort(-logits, kind="stable")
    descending = logits[order]

    def weights(count: int, log_v: float) -> np.ndarray:
        with np.errstate(divide="ignore"):
            above = np.log(a * (descending[:count] - descending[count - 1]))
        return np.exp(np.logaddexp(log_v, above) / a)

    support, beyond = 1, len(logits) + 1
    while beyond - support > 1:
        middle = (support + beyond) // 2
        fits = weights(middle, -np.inf).sum() <= 1
        support, beyond = (middle, beyond) if fits else (support, middle)
    low, high = -1e6, 0.0
    for _ in range(100):
        middle = (low + high) / 2
        is_enough = weights(support, middle).sum() >= 1
        low, high = (low, middle) if is_enough else (middle, high)
    found = np.zeros(len(logits))
    found[order[:support]] = weights(support, high)
    return found


def make_rows() -> np.ndarray:
    """Equal, nearly equal and spread logits; rows padded with −inf, compiled once."""
    rng = np.random.default_rng(0)
    rows = np.full((4 * len(SIZES), max(SIZES)), -np.inf)
    for block, size in zip(rows.reshape(len(SIZES), 4, -1), SIZES, strict=True):
        normal = rng.standard_normal(size)
        leaders = np.minimum(normal, 0.0)  # many, exactly equal
        block[:, :size] = 0 * normal, 1e-6 * normal, normal, leaders
    return rows


@pytest.mark.parametrize(("alpha", "dtype"), CASES)
def test_agrees_with_double_precision(alpha: float, dtype: str) -> None:
    rounding = ROUNDING[dtype]
    with jax.enable_x64(dtype == "float64"):
        rows = jnp.asarray(make_rows(), dtype)
        weights = np.asarray(entmax(rows, alpha=alpha), np.float64)
    np.testing.assert_allclose(weights.sum(-1), 1, atol=rounding / 10)
    for got, row in zip(weights, np.asarray(rows, np.float64), strict=True):
        takes_part = row > -np.inf
        want = reference(row[takes_part], alpha)
        atol = rounding * want.max()
        np.testing.assert_allclose(got[takes_part], want, rtol=0, atol=atol)


@pytest.mark.parametrize(
    ("size", "alpha"),
    [(4, 65.0)]
    + [
        pytest.param(size, alpha, marks=pytest.mark.slow)
        for size, alpha in ((100, 5.0), (16, 9.0), (4, 17.0), (10_000, 3.0))
    ],
)
def test_equal_keys_share_equally(size: int, alpha: float) -> None:
    np.testing.assert_allclose(entmax(np.zeros(size), alpha=alpha), 1 / size, rtol=1e-6)


def test_reference_by_hand() -> None:
    np.testing.assert_allclose(
        reference(np.array([1.0, 0.9, 0.3, -2]), 2.0), [0.55, 0.45, 0, 0]
    )
    np.testing.assert_allclose(reference(np.array([0.0, 0.0]), 65.0), [0.5, 0.5])


@pytest.mark.parametrize("alpha", [pytest.param(1.2, marks=pytest.mark.slow), 4.0])
def test_gradients_of_nearly_equal_keys(alpha: float) -> None:
    logits = 1e-3 * np.random.default_rng(1).standard_normal(8)
    with jax.enable_x64(True):
        slope = jax.jit(jax.jacobian(lambda e: entmax(e, alpha=alpha)))
        jacobian = np.asarray(slope(logits))
    step = 1e-6 * np.eye(8)
    rises = [reference(logits + s, alpha) - reference(logits - s, alpha) for s in step]
    slopes = np.array(rises).T / 2e-6
    np.testing.assert_allclose(jacobian, slopes, atol=1e-6 * np.abs(slopes).max())


@pytest.mark.parametrize("alpha", [64.0, pytest.param(1e3, marks=pytest.mark.slow)])
def test_gradients_beyond_the_range_of_floats_are_held_finite(alpha: float) -> None:
    rows = jnp.array([[0.0] * 16, [1e-6] * 15 + [0.0], [5.0] + [0.0] * 15])
    gradient = jax.jit(jax.grad(lambda e: entmax(e, alpha=alpha)[:, 0].sum()))(rows)
    assert jnp.isfinite(gradient).all()
    # More weight for the key, less for the others; nothing moves a lone key.
    assert (gradient[:2, 0] > 0).all()
    assert (gradient[:2, 1:] <= 0).all()
    assert (gradient[2] == 0).all()
