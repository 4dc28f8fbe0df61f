"""The rule: golden values, its exact domain, the inputs that break naive versions."""

import inspect
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sharp_attention.attention.activations import softmax
from sharp_attention.attention.entropy import entropy
from sharp_attention.attention.temperature import (
    POLYNOMIAL,
    active_domain,
    adaptive_softmax,
    fit_polynomial,
    inverse_temperature,
    maximum,
    optimal_inverse_temperature,
)

F64 = 1e-9  # the golden values have ten digits
F32 = 5e-6

# logits, entropy, r(entropy), beta, largest weight of softmax and of adaptive softmax
GOLDEN = {
    "3-zeros": ([0.0] * 3, 1.0986122887, 1.4187862290, None, 1 / 3, 1 / 3),
    "1-to-4": (
        [1, 2, 3, 4],
        0.9475369640, 1.1824114138, None, 0.6439142599, 0.6996388758,
    ),
    "ramp": (
        [0.2 * k for k in range(16)],
        2.4335046640, 2.1882298601, None, 0.1889721690, 0.3547684656,
    ),
    "2-and-15-zeros": (
        [2.0] + [0.0] * 15,
        2.4485126374, 2.1902391962, None, 0.3300298175, 0.8418992936,
    ),
    "10-and-3-zeros": (
        [10.0, 0, 0, 0],
        0.0014980029, -1.7836394792, 1.0, 0.9998638188, 0.9998638188,
    ),
    "one-masked": (
        [0.0, 0, 0, -np.inf],
        1.0986122887, 1.4187862290, None, 1 / 3, 1 / 3,
    ),
    "5-and-511-zeros": (
        [5.0] + [0.0] * 511,
        5.3660075705, 2.0096395715, None, 0.2250685432, 0.9783704568,
    ),
    "5-and-1023-zeros": (
        [5.0] + [0.0] * 1023,
        6.4324869916, -0.6538624137, 1.0, 0.1266958271, 0.1266958271,
    ),
}  # fmt: skip

# Rows on which naive versions go wrong, with the reason.
TRAPS = {
    "no-keys": [-np.inf] * 4,
    "one-masked": [0.0, 0.0, 0.0, -np.inf],
    "zeros-and-gemma-mask": [0.0] * 4 + [-2.3819763e38] * 2,
    "all-at-gemma-mask": [-2.3819763e38] * 4,
    "all-at-lowest-float32": [float(np.finfo(np.float32).min)] * 4,
    "probability-underflows": [0.0, 0.0, 0.0, -20.0],
    "scaled-logit-overflows-float16": [50000.0, 50000.0, 50000.0, 0.0],
    "uniform-256": [0.0] * 256,
    "uniform-64": [0.0] * 64,
    "uniform-4": [0.0] * 4,
    "dispersed-16384": [5.0] + [0.0] * 16383,
    "leader-of-5": [4.0, 1.0, 1.0, 1.0, 1.0],
    "wrong-leader": [2.0, 2.1] + [0.0] * 6,
    "tie": [3.0, 3.0, 0.0, 0.0, 0.0, 0.0],
    "two-keys": [0.9, 1.0],
}

row = hnp.arrays(np.float64, 12, elements=st.floats(-20, 20), fill=st.nothing())
masked_row = hnp.arrays(
    np.float64, 12, elements=st.floats(-20, 20) | st.just(-np.inf), fill=st.nothing()
)
property_test = settings(derandomize=True, deadline=None, max_examples=40)


def reference(logits: np.ndarray) -> tuple[float, float, np.ndarray]:
    """Entropy, beta and weights in float64, written without the library."""
    keep = logits > -np.inf
    weights = np.zeros(logits.shape)
    if not keep.any():
        return 0.0, 1.0, weights
    gaps = logits[keep] - logits[keep].max()
    plain = np.exp(gaps) / np.exp(gaps).sum()
    positive = plain[plain > 0]
    value = float(-(positive * np.log(positive)).sum())
    beta = max(float(np.polyval(POLYNOMIAL, value)), 1.0)
    sharp = np.exp(beta * gaps)
    weights[keep] = sharp / sharp.sum()
    return value, beta, weights


# ── Golden values ────────────────────────────────────────────────────────────────


def padded(rows: list[list[float]]) -> np.ndarray:
    """Make up rows with −inf to the longest, so that XLA compiles once for all."""
    width = max(map(len, rows))
    return np.array([[*row, *[-np.inf] * (width - len(row))] for row in rows])


@pytest.fixture(scope="module", params=["float64", "float32"])
def golden(request: pytest.FixtureRequest) -> tuple[str, dict[str, np.ndarray]]:
    """Precision, and what the library makes of each golden row in it."""
    with jax.enable_x64(request.param == "float64"):
        rows = jnp.asarray(padded([row for row, *_ in GOLDEN.values()]), request.param)
        values = entropy(rows)
        computed = {
            "entropy": values,
            "beta": inverse_temperature(values),
            "base": softmax(rows).max(axis=-1),
            "adaptive": adaptive_softmax(rows).max(axis=-1),
        }
        assert all(column.dtype == request.param for column in computed.values())
    return request.param, {name: np.asarray(c) for name, c in computed.items()}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_values(name: str, golden: tuple[str, dict[str, np.ndarray]]) -> None:
    precision, computed = golden
    row = {key: column[list(GOLDEN).index(name)] for key, column in computed.items()}
    _, want_entropy, polynomial, beta, base, adaptive = GOLDEN[name]
    tolerance = F64 if precision == "float64" else F32
    np.testing.assert_allclose(row["entropy"], want_entropy, atol=tolerance)
    r = np.polyval(POLYNOMIAL, np.float64(row["entropy"]))
    np.testing.assert_allclose(r, polynomial, atol=10 * tolerance)
    want_beta = polynomial if beta is None else beta
    np.testing.assert_allclose(row["beta"], want_beta, atol=tolerance)
    np.testing.assert_allclose(row["base"], base, atol=tolerance)
    np.testing.assert_allclose(row["adaptive"], adaptive, atol=tolerance)


@pytest.mark.parametrize("name", ["ramp", "one-masked"])
def test_golden_rows_need_no_padding(name: str) -> None:
    logits, want_entropy, *_, adaptive = GOLDEN[name]
    with jax.enable_x64(True):
        assert float(entropy(logits)) == pytest.approx(want_entropy, abs=F64)
        largest = float(adaptive_softmax(logits).max())
    assert largest == pytest.approx(adaptive, abs=F64)


def test_uniform_rows_are_sharpened_from_3_to_381_keys() -> None:
    sizes = [1, 2, 3, 381, 382, 16384]
    rows = padded([[0.0] * size for size in sizes])
    want = [1.0, 1.0, 1.4187862, 1.00434, 1.0, 1.0]
    np.testing.assert_allclose(inverse_temperature(entropy(rows)), want, atol=6e-6)
    largest = adaptive_softmax(rows).max(axis=-1)
    np.testing.assert_allclose(largest, 1 / np.array(sizes), rtol=1e-6)


@pytest.mark.parametrize(
    ("value", "want"),
    [(1, 1.27), (2, 2.099), (3, 2.25), (4, 2.389), (5, 2.294), (5.9, 1.109363)],
)
def test_rule_at_round_entropies(value: float, want: float) -> None:
    assert float(inverse_temperature(value)) == pytest.approx(want, abs=F32)


# ── Exact properties of the polynomial ───────────────────────────────────────────


def test_active_domain_and_maximum() -> None:
    assert active_domain() == pytest.approx((0.8485819960, 5.9445208279), abs=1e-10)
    assert np.exp(active_domain()) == pytest.approx((2.336, 381.66), abs=5e-3)
    assert maximum() == pytest.approx((4.41240, 2.4213877), abs=5e-6)


def test_the_rule_acts_inside_its_domain_only() -> None:
    lower, upper = active_domain()
    inside = np.linspace(lower + 1e-4, upper - 1e-4, 2001)
    outside = np.concatenate([np.linspace(0, lower, 501), np.linspace(upper, 20, 501)])
    assert (inverse_temperature(inside) > 1).all()
    np.testing.assert_allclose(inverse_temperature(outside), 1.0, atol=1e-6)
    assert float(inverse_temperature(inside).max()) <= maximum()[1] + 1e-6


def test_the_condition_on_entropy_above_one_half_never_binds() -> None:
    grid = np.linspace(0.0, 0.5, 5001)
    assert np.polyval(POLYNOMIAL, grid).max() == pytest.approx(0.1503125)
    assert (inverse_temperature(grid) == 1).all()


def test_half_precision_entropy_is_widened_before_the_polynomial() -> None:
    # Horner in bfloat16 itself gives 2.281 at 4.5.
    value = inverse_temperature(jnp.asarray(4.5, jnp.bfloat16))
    assert value.dtype == jnp.float32
    assert float(value) == pytest.approx(2.4193125, abs=F32)


def test_reversed_coefficients_are_another_rule() -> None:
    # Negative control, seen in public code: power ascending, coefficients descending.
    backwards = POLYNOMIAL[::-1]
    value = inverse_temperature(np.log(4.0), polynomial=backwards)
    assert float(value) == pytest.approx(2.695, abs=5e-4)
    assert float(inverse_temperature(np.log(4.0))) == pytest.approx(1.750, abs=5e-4)


def test_entropy_in_bits_is_another_rule() -> None:
    assert float(inverse_temperature(np.log2(64.0))) == 1.0
    assert float(inverse_temperature(np.log(64.0))) == pytest.approx(2.408, abs=5e-4)


# ── Inputs that break naive versions ─────────────────────────────────────────────


Outputs = tuple[jax.Array, jax.Array, jax.Array]


def eagerly(logits: jax.Array) -> Outputs:
    """Entropy, beta and weights of each row."""
    value = entropy(logits)
    return value, inverse_temperature(value), adaptive_softmax(logits)


def rounded_traps(dtype: str) -> jax.Array:
    with np.errstate(over="ignore"):  # Gemma's mask is −inf in float16
        return jnp.asarray(padded(list(TRAPS.values())).astype(dtype))


@pytest.mark.parametrize(
    "call",
    [eagerly, jax.jit(eagerly), jax.jit(jax.vmap(eagerly))],
    ids=["eager", "jit", "vmap"],
)
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_traps(dtype: str, call: Callable[[jax.Array], Outputs]) -> None:
    rounding = float(jnp.finfo(dtype).eps) / 2
    rows = rounded_traps(dtype)
    values, betas, weights = call(rows)
    assert weights.dtype == dtype
    assert values.dtype == betas.dtype == jnp.float32
    want = [reference(row) for row in np.asarray(rows, np.float64)]
    np.testing.assert_allclose(values, [w[0] for w in want], atol=F32)
    np.testing.assert_allclose(betas, [w[1] for w in want], atol=2 * F32)
    np.testing.assert_allclose(
        np.asarray(weights, np.float64),
        [w[2] for w in want],
        rtol=rounding + F32,
        atol=1e-7,  # half a step of float16's subnormals is 3e-8
    )


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_gradients_are_finite_on_every_trap(dtype: str) -> None:
    def total(rows: jax.Array) -> jax.Array:
        value, beta, weights = eagerly(rows)
        return value.sum() + beta.sum() + weights.max(-1).sum().astype("float32")

    gradient = jax.jit(jax.grad(total))(rounded_traps(dtype))
    assert jnp.isfinite(gradient).all()


def test_gradient_agrees_with_finite_differences() -> None:
    logits = np.array([1.0, 2.0, 3.0, 4.0, -np.inf])

    def first_two(values):
        return jnp.sum(adaptive_softmax(values)[:2])

    with jax.enable_x64(True):
        gradient = np.asarray(jax.jit(jax.grad(first_two))(jnp.asarray(logits)))
        for k in range(4):
            step = np.zeros(5)
            step[k] = 1e-6
            rise = first_two(logits + step) - first_two(logits - step)
            assert gradient[k] == pytest.approx(float(rise) / 2e-6, abs=1e-8)
        assert gradient[4] == 0


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_and_infinity_raise_or_stay_visible(bad: float) -> None:
    logits = jnp.array([[bad, 0.0, 0.0], [1.0, 2.0, 3.0]])
    with pytest.raises(ValueError, match=r"logits must be free of NaN and \+inf"):
        adaptive_softmax(logits)
    weights = jax.jit(adaptive_softmax)(logits)
    assert jnp.isnan(weights[0]).all()
    np.testing.assert_allclose(weights[1], adaptive_softmax(logits[1]), rtol=1e-6)
    assert jnp.isnan(jax.jit(inverse_temperature)(jnp.nan))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"entropy": np.nan}, ValueError, "entropy must be a number, not NaN"),
        ({"entropy": [1.0, -np.inf]}, ValueError, "entropy must be finite"),
        ({"entropy": np.inf}, ValueError, "entropy must be finite"),
        ({"entropy": None}, TypeError, "entropy must be .*; received None"),
        ({"polynomial": (np.nan,)}, ValueError, "polynomial must be a number, not"),
        ({"polynomial": (1.0, np.inf)}, ValueError, "polynomial must be finite"),
        ({"polynomial": [[1.0]]}, ValueError, "polynomial must be one-dimensional"),
    ],
)
def test_bad_arguments_of_the_rule(arguments, error, message) -> None:
    # Without the type checker of the tests, whose error would come first.
    unchecked = inspect.unwrap(inverse_temperature)
    with pytest.raises(error, match=message):
        unchecked(**{"entropy": 1.0} | arguments)


def test_beta_belongs_to_its_row() -> None:
    # With the entropy's axis dropped, a square array scales its columns instead.
    scores = np.array([[9.0, 0, 0, 0]] * 3 + [[0.0, 0, 0, 0]])
    weights = adaptive_softmax(scores)
    np.testing.assert_allclose(weights[:3], softmax(scores)[:3], rtol=1e-6)
    np.testing.assert_allclose(weights[3], 0.25)
    wrong = np.asarray(inverse_temperature(entropy(scores))) * scores
    assert wrong[:3, 0] == pytest.approx(9.0)
    assert np.ptp(np.asarray(inverse_temperature(entropy(scores)))) > 0.7


@pytest.mark.parametrize("num_pads", [0, 11, 59])
def test_padding_is_irrelevant_once_masked(num_pads: int) -> None:
    logits = np.array([4.0, 1, 1, 1, 1] + [0.0] * num_pads)
    where = np.arange(logits.size) < 5
    largest = float(adaptive_softmax(logits, where=where)[0])
    assert largest == pytest.approx(0.8339, abs=5e-5)
    # Negative control: as ordinary keys they sharpen the row.
    unmasked = {0: 0.834, 11: 0.965, 59: 0.988}[num_pads]
    assert float(adaptive_softmax(logits)[0]) == pytest.approx(unmasked, abs=5e-4)


def test_temperature_cannot_mend_the_order() -> None:
    logits = np.array([2.0, 2.1] + [0.0] * 6)
    before, after = softmax(logits), adaptive_softmax(logits)
    np.testing.assert_allclose(before[:2], [0.343, 0.379], atol=5e-4)
    np.testing.assert_allclose(after[:2], [0.427, 0.517], atol=5e-4)


def test_without_the_clamp_at_one_the_order_is_inverted() -> None:
    # Negative control for the dispersed row: r(H) itself is −57.8.
    logits = np.array([5.0] + [0.0] * 16383)
    r = float(np.polyval(POLYNOMIAL, float(entropy(logits))))
    assert r == pytest.approx(-57.8, abs=0.05)
    assert r * 5.0 < -250
    np.testing.assert_allclose(adaptive_softmax(logits), softmax(logits), rtol=1e-6)


# ── Properties ───────────────────────────────────────────────────────────────────


@property_test
@given(masked_row)
def test_weights_sum_to_one_and_entropy_never_rises(logits: np.ndarray) -> None:
    with jax.enable_x64(True):
        weights = np.asarray(adaptive_softmax(logits))
        if np.isneginf(logits).all():
            assert (weights == 0).all()
            return
        assert weights.sum() == pytest.approx(1.0, abs=1e-12)
        beta = np.asarray(inverse_temperature(entropy(logits)))
        assert float(entropy(beta * logits)) <= float(entropy(logits)) + 1e-12


@property_test
@given(row, st.floats(-1e3, 1e3))
def test_a_common_shift_changes_nothing(logits: np.ndarray, offset: float) -> None:
    with jax.enable_x64(True):
        shifted = adaptive_softmax(logits + offset)
        np.testing.assert_allclose(shifted, adaptive_softmax(logits), atol=1e-11)


@property_test
@given(masked_row, st.permutations(range(12)))
def test_permuting_keys_permutes_weights(logits: np.ndarray, order: list) -> None:
    with jax.enable_x64(True):
        permuted = adaptive_softmax(logits[np.array(order)])
        np.testing.assert_allclose(
            permuted, adaptive_softmax(logits)[np.array(order)], atol=1e-12
        )


@property_test
@given(row)
def test_order_is_kept(logits: np.ndarray) -> None:
    with jax.enable_x64(True):
        weights = np.asarray(adaptive_softmax(logits))
    assert (np.diff(weights[np.argsort(logits)]) >= -1e-15).all()


@property_test
@given(st.floats(-20, 20), st.floats(-20, 20))
def test_rows_of_two_are_never_changed(first: float, second: float) -> None:
    logits = [first, second]
    np.testing.assert_array_equal(adaptive_softmax(logits), softmax(logits))


@property_test
@given(masked_row, hnp.arrays(bool, 12))
def test_where_is_the_same_as_minus_infinity(
    logits: np.ndarray, where: np.ndarray
) -> None:
    masked = np.where(where, logits, -np.inf)
    np.testing.assert_array_equal(
        adaptive_softmax(logits, where=where), adaptive_softmax(masked)
    )


# ── The fit ──────────────────────────────────────────────────────────────────────


def test_optimal_inverse_temperature_of_the_worked_example() -> None:
    logits = np.array([3, 2.8, 1, 0, 0, 0, 0, 0])
    beta = optimal_inverse_temperature(logits, 1)
    assert isinstance(beta, float)
    assert beta == pytest.approx(1.57752, abs=5e-6)
    with jax.enable_x64(True):
        weights = softmax(logits, temperature=1 / beta)
        assert float(softmax(logits)[1]) == pytest.approx(0.3716, abs=5e-5)
        assert float(weights[1]) == pytest.approx(0.4016, abs=5e-5)
        assert float(weights @ logits) == pytest.approx(2.8, abs=1e-12)


@property_test
@given(
    hnp.arrays(np.float64, 8, elements=st.integers(-40, 40).map(lambda k: k / 8)),
    st.integers(0, 7),
)
def test_optimum_beats_its_neighbours(logits: np.ndarray, target: int) -> None:
    beta = optimal_inverse_temperature(logits, target)
    distance = logits - logits[target]

    def score(b: float) -> float:
        return -float(np.log(np.exp(b * distance).sum()))

    if distance.max() == distance.min():
        assert beta == 1.0
    elif distance.max() == 0:
        assert beta == np.inf
    elif distance.min() == 0:
        assert beta == -np.inf
    else:
        weights = np.exp(beta * distance - (beta * distance).max())
        assert weights @ distance / weights.sum() == pytest.approx(0, abs=1e-9)
        assert score(beta) >= max(score(beta + 1e-3), score(beta - 1e-3)) - 1e-12


def test_optimum_in_a_batch_with_masks_and_edges() -> None:
    logits = np.array([[3.0, 2, 1, -np.inf]] * 3 + [[2.0, 2.0, -np.inf, 2.0]])
    beta = optimal_inverse_temperature(logits, [0, 1, 2, 3])
    assert isinstance(beta, np.ndarray)
    assert beta.dtype == np.float64
    np.testing.assert_allclose(beta, [np.inf, 0.0, -np.inf, 1.0], atol=1e-12)


def test_optimum_with_a_needle_of_a_gap() -> None:
    # The leader is ahead by 1e-6 only: the bracket has to reach out to beta ~ 1e7.
    beta = optimal_inverse_temperature([1e-6, 0.0, -1.0, -1.0], 1)
    # 1e-6 exp(1e-6 beta) = 2 exp(−beta)
    assert beta == pytest.approx(np.log(2e6) / (1 + 1e-6), abs=1e-9)


@pytest.mark.parametrize(
    ("logits", "target", "error", "message"),
    [
        ([1.0, 2.0], 0.5, TypeError, "target must be an integer"),
        ([1.0, 2.0], 2, ValueError, r"target must be in 0\.\.1"),
        ([1.0, 2.0], -1, ValueError, r"target must be in 0\.\.1"),
        ([1.0, 2.0], [0, 1], ValueError, r"target must be of shape \(\)"),
        ([1.0, -np.inf], 1, ValueError, "target must be a key whose logit is not"),
        ([1.0, np.nan], 0, ValueError, "logits must be free of NaN"),
    ],
)
def test_bad_targets(logits, target, error, message) -> None:
    with pytest.raises(error, match=message):
        optimal_inverse_temperature(logits, target)


def test_fit_recovers_the_polynomial() -> None:
    grid = np.linspace(0.9, 5.9, 50)
    fitted = fit_polynomial(grid, np.polyval(POLYNOMIAL, grid))
    np.testing.assert_allclose(fitted, POLYNOMIAL, rtol=1e-9)
    line = fit_polynomial([0.0, 1.0, 2.0], [1.0, 3.0, 5.0], degree=1)
    np.testing.assert_allclose(line, [2.0, 1.0], atol=1e-12)
    constant = fit_polynomial([0.0, 1.0, 2.0, 3.0, 4.0], [1.0] * 5)
    np.testing.assert_allclose(constant, [0, 0, 0, 0, 1], atol=1e-12)


def test_fit_minimises_the_squared_error() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.uniform(1, 6, 40), rng.normal(2, 0.3, 40)
    fitted = fit_polynomial(x, y, degree=2)
    residual = y - np.polyval(fitted, x)
    for power in range(3):  # orthogonal to every column of the design
        assert residual @ x**power == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([1.0, 2.0], [1.0, 2.0], 4), ValueError, "entropy must be 5 different values"),
        (([1.0] * 9, [1.0] * 9, 1), ValueError, "entropy must be 2 different values"),
        (([1.0, 2.0], [1.0], 1), ValueError, r"inverse_temperature must be of shape"),
        (([1.0, np.nan], [1.0, 2.0], 1), ValueError, "entropy must be finite"),
        (([1.0, 2.0], [1.0, np.inf], 1), ValueError, "inverse_temperature must be fin"),
        (([[1.0, 2.0]], [[1.0, 2.0]], 1), ValueError, "entropy must be one-dimens"),
        (([1.0, 2.0], [1.0, 2.0], -1), ValueError, "degree must be >= 0"),
        (([1.0, 2.0], [1.0, 2.0], 1.0), TypeError, "degree"),
    ],
)
def test_bad_fits(arguments, error, message) -> None:
    with pytest.raises(error, match=message):
        fit_polynomial(*arguments)
