"""Maps from logits to weights: formulas, limits, masks, precision, gradients."""

import inspect
import math
from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sharp_attention.attention.activations import (
    entmax,
    erf,
    linear,
    scalable_softmax,
    sigmoid,
    softmax,
    softplus,
    sparsemax,
    stick_breaking,
)

F32 = 5e-6
F64 = 1e-12

NORMALISED: dict[str, Callable] = {
    "softmax": partial(softmax, temperature=0.3),
    "softplus": softplus,
    "sparsemax": sparsemax,
    "entmax-1.5": entmax,
    "entmax-3": partial(entmax, alpha=3.0),
    "scalable-softmax": partial(scalable_softmax, scale=0.43),
}
OTHERS: dict[str, Callable] = {
    "linear": linear,
    "erf": partial(erf, offset=0.5),
    "sigmoid": partial(sigmoid, bias=-1.0),
    "stick-breaking": stick_breaking,
}
ALL = NORMALISED | OTHERS

# Without the type checker of the tests, whose error would come first.
unchecked_entmax = inspect.unwrap(entmax)

# Everything below has this shape where it can, so that XLA compiles each map once.
LOGITS = np.array([[0.3, -1.2, 2.0, 1.9, 0.0, -0.5], [50.0, 50.0, -30.0, 49.5, 0.0, 1]])

row = hnp.arrays(np.float64, 6, elements=st.floats(-20, 20), fill=st.nothing())
property_test = settings(derandomize=True, deadline=None, max_examples=40)


@pytest.fixture(params=ALL, ids=list(ALL))
def activation(request: pytest.FixtureRequest) -> Callable:
    return ALL[request.param]


@pytest.fixture(params=NORMALISED, ids=list(NORMALISED))
def normalised(request: pytest.FixtureRequest) -> Callable:
    return NORMALISED[request.param]


# ── Formulas, written independently in NumPy ─────────────────────────────────────


def stick_by_hand(logits: np.ndarray) -> np.ndarray:
    weights, left = np.zeros(logits.shape), 1.0
    for k in reversed(range(len(logits))):
        weights[k] = left * scipy.special.expit(logits[k])
        left *= 1 - scipy.special.expit(logits[k])
    return weights


FORMULAS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "softmax": lambda e: scipy.special.softmax(e / 0.3),
    "softplus": lambda e: np.logaddexp(0, e) / np.logaddexp(0, e).sum(),
    "scalable-softmax": lambda e: scipy.special.softmax(0.43 * math.log(e.size) * e),
    "linear": lambda e: 1 + e,
    "erf": lambda e: 1 + scipy.special.erf(0.5 + e),
    "sigmoid": lambda e: scipy.special.expit(e - 1),
    "stick-breaking": stick_by_hand,
}


@pytest.mark.parametrize("name", FORMULAS)
@property_test
@given(logits=row)
def test_formula(name: str, logits: np.ndarray) -> None:
    with jax.enable_x64(True):
        got = ALL[name](logits)
    np.testing.assert_allclose(got, FORMULAS[name](logits), atol=F64, rtol=1e-9)


@pytest.mark.parametrize("alpha", [1.01, 1.3, 1.5, 2.0, 2.5, 4.0])
@property_test
@given(logits=row)
def test_entmax_satisfies_its_optimality_condition(
    alpha: float, logits: np.ndarray
) -> None:
    with jax.enable_x64(True):
        weights = np.asarray(entmax(logits, alpha=alpha))
    assert weights.sum() == pytest.approx(1.0, abs=1e-12)
    on = weights > 1e-8
    # On the support (alpha−1) e − p^(alpha−1) is the same number τ, off it e is lower.
    levels = (alpha - 1) * logits[on] - weights[on] ** (alpha - 1)
    assert np.ptp(levels) < 1e-8
    assert ((alpha - 1) * logits[~on] <= levels.max() + 1e-8 ** (alpha - 1)).all()


def test_sparsemax_by_hand() -> None:
    np.testing.assert_allclose(sparsemax([1.0, 0.9, 0.3, -2.0]), [0.55, 0.45, 0, 0])
    np.testing.assert_allclose(sparsemax([0.0, 0.0]), [0.5, 0.5])
    np.testing.assert_array_equal(sparsemax([3.0, 1.0]), [1.0, 0.0])


def test_sorting_and_bisection_agree() -> None:
    for exact, alpha in [(1.5, 1.5 + 1e-9), (2.0, 2.0 + 1e-9)]:
        with jax.enable_x64(True):
            sorted_ = entmax(LOGITS, alpha=exact)
            bisected = entmax(LOGITS, alpha=alpha)
        np.testing.assert_allclose(bisected, sorted_, atol=1e-7)


def test_entmax_approaches_softmax_as_alpha_falls_to_one() -> None:
    with jax.enable_x64(True):
        got = entmax(LOGITS[0], alpha=1 + 1e-7)
    np.testing.assert_allclose(got, scipy.special.softmax(LOGITS[0]), atol=1e-6)


def test_entmax_drops_what_is_far_below_and_splits_ties_exactly() -> None:
    # k leaders ahead by k^(1−alpha)/(alpha−1) get 1/k each, for any number of others.
    gap = 3**-0.5 / 0.5
    logits = np.array([gap] * 3 + [0.0] * 500)
    weights = np.asarray(entmax(logits))
    np.testing.assert_allclose(weights[:3], 1 / 3, rtol=1e-6)
    assert (weights[3:] <= 1e-9).all()
    # Negative control: with a smaller gap the others get some weight.
    logits[:3] *= 0.9
    assert float(entmax(logits)[3]) > 1e-5


@property_test
@given(row, st.floats(0.05, 50))
def test_temperature_divides_the_logits(logits: np.ndarray, temperature: float) -> None:
    with jax.enable_x64(True):
        cold = softmax(logits, temperature=temperature)
        np.testing.assert_allclose(cold, softmax(logits / temperature), atol=F64)


def test_scalable_softmax_is_not_a_shift() -> None:
    # Subtracting s log n instead of multiplying by it changes nothing at all.
    weights = scalable_softmax([3.0, -2.0, -2.0, -2.0], scale=0.43)
    assert float(weights[0]) == pytest.approx(0.8678, abs=5e-5)
    assert float(softmax([3.0, -2.0, -2.0, -2.0])[0]) == pytest.approx(0.9802, abs=5e-5)


def test_scalable_softmax_counts_only_keys_that_take_part() -> None:
    padded = np.array([3.0, -2.0, -2.0, -2.0, 7.0, -np.inf])
    where = np.array([True] * 4 + [False, True])
    got = scalable_softmax(padded, scale=0.43, where=where)
    want = scalable_softmax(padded[:4], scale=0.43)
    np.testing.assert_allclose(got[:4], want, rtol=1e-6)
    np.testing.assert_array_equal(scalable_softmax([5.0], scale=1.0), [1.0])


def test_a_parameter_per_row() -> None:
    temperature = np.array([[0.5], [2.0]])
    by_row = softmax(LOGITS, temperature=temperature)
    np.testing.assert_array_equal(by_row[1], softmax(LOGITS[1], temperature=2.0))
    scaled = scalable_softmax(LOGITS, scale=temperature)
    np.testing.assert_allclose(
        scaled[0], scalable_softmax(LOGITS[0], scale=0.5), rtol=1e-6
    )


def test_a_factor_beyond_the_float_type_is_the_largest() -> None:
    weights = scalable_softmax([3.0, 1.0, 3.0], scale=3.4e38)
    np.testing.assert_array_equal(weights, [0.5, 0.0, 0.5])


def test_stick_breaking_prefers_the_last_and_leaves_the_rest() -> None:
    weights = np.asarray(stick_breaking([100.0, 100.0, 100.0]))
    np.testing.assert_allclose(weights, [0, 0, 1], atol=1e-30)
    assert np.asarray(stick_breaking(np.zeros(3))) == pytest.approx(
        [1 / 8, 1 / 4, 1 / 2]
    )


def test_small_weights_keep_their_relative_precision() -> None:
    assert float(erf(-4.0 + np.zeros(1))[0]) == pytest.approx(
        scipy.special.erfc(4.0), rel=1e-5
    )
    # softplus(−200) underflows in float32, its row does not.
    np.testing.assert_allclose(
        softplus([-200.0, -201.0, -300.0]), softmax([-200.0, -201.0, -300.0]), rtol=2e-5
    )


# ── What all of them share ───────────────────────────────────────────────────────


def test_normalised_rows_sum_to_one(normalised: Callable) -> None:
    np.testing.assert_allclose(normalised(LOGITS).sum(-1), 1.0, rtol=1e-6)
    assert (normalised(LOGITS) >= 0).all()


def test_masked_keys_weigh_nothing_and_change_nothing(activation: Callable) -> None:
    by_infinity = LOGITS.copy()
    by_infinity[0, 1] = by_infinity[1, 4:] = -np.inf
    garbage = LOGITS.copy()
    garbage[0, 1], garbage[1, 4:] = np.nan, 1e30
    where = by_infinity > -np.inf
    masked = np.asarray(activation(garbage, where=where))
    assert (masked[~where] == 0).all()
    np.testing.assert_array_equal(masked, activation(by_infinity))
    alone = activation(LOGITS[1, :4])
    np.testing.assert_allclose(masked[1, :4], alone, rtol=1e-6, atol=1e-30)


def test_rows_without_keys_are_zero(activation: Callable) -> None:
    where = np.array([[True], [False]])
    weights = activation(LOGITS, where=where)
    np.testing.assert_array_equal(weights[1], np.zeros(6))
    np.testing.assert_array_equal(weights[0], activation(LOGITS)[0])
    nothing = activation(np.full(LOGITS.shape, -np.inf))
    np.testing.assert_array_equal(nothing, np.zeros(LOGITS.shape))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_in_and_out(activation: Callable, dtype: str) -> None:
    rounded = jnp.asarray(LOGITS, dtype)
    got = activation(rounded)
    assert got.dtype == dtype
    want = np.asarray(activation(rounded.astype("float32")))
    eps = float(jnp.finfo(dtype).eps)
    np.testing.assert_allclose(np.asarray(got, "float32"), want, rtol=eps, atol=1e-7)


def test_lists_integers_and_float64(activation: Callable) -> None:
    assert activation([[1, 2, 3, 0, 0, 0]] * 2).dtype == jnp.float32
    with jax.enable_x64(True):
        assert activation(LOGITS).dtype == jnp.float64


@pytest.mark.parametrize("transform", [jax.jit, lambda f: jax.jit(jax.vmap(f))])
def test_jit_and_vmap_change_nothing(
    activation: Callable, transform: Callable[[Callable], Callable]
) -> None:
    transformed = transform(activation)
    eager = activation(LOGITS)
    np.testing.assert_allclose(transformed(LOGITS), eager, rtol=1e-6, atol=1e-9)
    spoilt = LOGITS.copy()
    spoilt[0, 1] = np.nan
    weights = transformed(spoilt)
    assert jnp.isnan(weights[0, 1])
    np.testing.assert_allclose(weights[1], eager[1], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_eager_nan_and_infinity_raise(activation: Callable, bad: float) -> None:
    logits = LOGITS.copy()
    logits[1, 3] = bad
    with pytest.raises(ValueError, match=r"logits must be free of NaN and \+inf"):
        activation(logits)


def test_extreme_finite_logits_give_no_nan(activation: Callable) -> None:
    huge = float(np.finfo(np.float32).max)
    rows = np.array([[huge, -huge, 0, 1, 2, 3], [-2.3819763e38] * 6])
    assert not jnp.isnan(activation(rows)).any()


def test_gradients_are_right_and_finite(activation: Callable) -> None:
    logits = np.array([[0.3, -1.2, 2.0, 1.9, -np.inf, 0.5], [-np.inf] * 6])
    cotangent = np.array([1.0, -2.0, 0.5, 3.0, 1.0, -1.0])

    def score(values: jax.Array) -> jax.Array:
        return jnp.sum(cotangent * activation(values))

    with jax.enable_x64(True):
        slope = jax.jit(jax.grad(score))
        gradient = np.asarray(slope(jnp.asarray(logits)))
        for k in (0, 1, 2, 3, 5):
            step = np.where(np.arange(6) == k, 1e-6, 0.0)
            rise = float(score(logits + step) - score(logits - step))
            assert gradient[0, k] == pytest.approx(rise / 2e-6, abs=1e-6)
        assert gradient[0, 4] == 0
        assert (gradient[1] == 0).all()
        extreme = np.array([[50.0, 50.0, -30.0, 0, -1.7e308, 1], [-800.0] * 6])
        assert jnp.isfinite(slope(jnp.asarray(extreme))).all()


@pytest.mark.parametrize("alpha", [1.5, 3.0])
def test_second_derivatives_of_entmax(alpha: float) -> None:
    with jax.enable_x64(True):
        hessian = jax.jit(jax.hessian(lambda e: entmax(e, alpha=alpha)[0]))(LOGITS[0])
    assert jnp.isfinite(hessian).all()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: softmax([1.0], temperature=0.0),
            ValueError,
            "temperature must be > 0",
        ),
        (lambda: softmax([1.0], temperature=-1), ValueError, "temperature must be > 0"),
        (lambda: softmax([1.0], temperature=math.nan), ValueError, "temperature"),
        (
            lambda: softmax([1.0], temperature=1e-40),
            ValueError,
            "temperature must be >=",
        ),
        (lambda: softmax([[1.0]], temperature=[0.0]), ValueError, "temperature"),
        (lambda: entmax([1.0], alpha=1.0), ValueError, "alpha must be > 1"),
        (lambda: entmax([1.0], alpha=math.inf), ValueError, "alpha must be finite"),
        (lambda: entmax([1.0], alpha=1e300), ValueError, "alpha must be <= 1000"),
        (
            lambda: unchecked_entmax([1.0], alpha=np.array([1.5, 2.0])),
            ValueError,
            "alpha must be a single number",
        ),
        (
            lambda: jax.jit(lambda alpha: unchecked_entmax([1.0], alpha=alpha))(1.5),
            TypeError,
            "alpha must be a number known when tracing",
        ),
        (lambda: scalable_softmax([1.0], scale=-1.0), ValueError, "scale must be >= 0"),
        (
            lambda: softmax(np.ones((2, 3)), temperature=np.array([1.0, 2.0])),
            ValueError,
            r"temperature must be of a shape .* to \(2, 1\); received \(2,\)",
        ),
        (
            lambda: softmax(np.ones(3), temperature=np.ones((4, 1))),
            ValueError,
            r"temperature must be of a shape .* to \(1,\); received \(4, 1\)",
        ),
        (
            lambda: softmax(np.ones(3), temperature=np.ones(3)),
            ValueError,
            r"temperature must be .* to \(1,\)",
        ),
        (
            lambda: jax.jit(softmax)(np.ones(3), temperature=np.ones(2)),
            ValueError,
            "temperature must be",
        ),
        (
            lambda: scalable_softmax(np.ones(3), scale=np.ones(2)),
            ValueError,
            r"scale must be of a shape that broadcasts to \(1,\)",
        ),
        (lambda: erf(np.ones(3), offset=np.ones(2)), ValueError, "offset must be"),
        (lambda: sigmoid(np.ones(3), bias=np.ones((2, 1))), ValueError, "bias must be"),
        (lambda: erf([1.0], offset=math.nan), ValueError, "offset must be a number"),
        (lambda: sigmoid([1.0], bias=math.inf), ValueError, "bias must be finite"),
        (lambda: linear(1.0), ValueError, "logits must be an array with a last axis"),
        (lambda: linear([1.0], where=[1.0]), TypeError, "where must be boolean"),
        (lambda: linear([1.0], where=[True] * 2), ValueError, "where must broadcast"),
    ],
)
def test_bad_arguments(call: Callable, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
