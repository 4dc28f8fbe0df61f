"""The proximal maps: minima, their derivatives, jumps, limits and bad input.

All solutions share one shape, so that each channel is compiled once.
"""

import functools
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import optimize, special

from sharp_attention.channels import proximal

POINTS = 64
NEWTON = ["softmax", "softplus", "erf"]
ALL = [*NEWTON, "linear"]

WEIGHTS = {
    "softmax": lambda logits: special.softmax(logits, axis=-1),
    "softplus": lambda logits: (
        np.logaddexp(0, logits) / np.logaddexp(0, logits).sum(-1, keepdims=True)
    ),
    "erf": lambda logits: 1 + special.erf(logits),
    "linear": lambda logits: 1 + logits,
}


class Problem(NamedTuple):
    key_field: np.ndarray
    value_field: np.ndarray
    target: np.ndarray
    variance_k: float
    variance_v: float


@functools.cache
def problem(length: int, variance_k: float = 0.7, variance_v: float = 0.4) -> Problem:
    rng = np.random.default_rng(length)
    fields = rng.normal(size=(2, POINTS, length))
    return Problem(*fields, 1.5 * rng.normal(size=POINTS), variance_k, variance_v)


@functools.cache
def solved(activation: str, given: tuple) -> proximal.Proximal:
    return proximal.solve(activation, *problem(*given))


def objective(activation: str, p: Problem, logits, value) -> np.ndarray:
    misfit = p.target - np.sum(WEIGHTS[activation](logits) * value, axis=-1)
    return (
        np.sum((logits - p.key_field) ** 2, axis=-1) / (2 * p.variance_k)
        + np.sum((value - p.value_field) ** 2, axis=-1) / (2 * p.variance_v)
        + misfit**2 / 2
    )


@pytest.mark.parametrize("activation", ALL)
def test_the_envelope_is_the_objective_at_the_minimum(activation):
    p, found = problem(2), solved(activation, (2,))
    at_minimum = objective(activation, p, found.logits, found.value)
    np.testing.assert_allclose(found.envelope, at_minimum, rtol=0, atol=1e-12)
    misfit = p.target - np.sum(WEIGHTS[activation](found.logits) * found.value, axis=-1)
    np.testing.assert_allclose(found.residual, misfit, rtol=0, atol=1e-10)


@pytest.mark.parametrize("activation", ALL)
@pytest.mark.parametrize("variance_k", [0.7, 12.0])
def test_no_start_of_another_optimiser_gets_lower(activation, variance_k):
    # Eight random starts of BFGS per point, an optimiser that knows nothing of ours.
    p, found = problem(2, variance_k), solved(activation, (2, variance_k))
    rng = np.random.default_rng(0)
    for point in range(0, POINTS, 6):
        one = Problem(*(x[point] for x in p[:3]), *p[3:])

        def value(place, one=one):
            return float(objective(activation, one, place[:2], place[2:]))

        for _ in range(8):
            start = np.concatenate([3 * rng.normal(size=2), one.value_field])
            lowest = optimize.minimize(value, start, method="BFGS").fun
            assert found.envelope[point] <= lowest + 1e-6


@pytest.mark.parametrize("activation", ALL)
def test_derivatives_of_the_envelope_are_those_of_the_envelope_theorem(activation):
    p, found = problem(2), solved(activation, (2,))
    step = 1e-5
    pull_k = found.logits - p.key_field
    pull_v = found.value - p.value_field
    expected = {
        "variance_k": -np.sum(pull_k**2, axis=-1) / (2 * p.variance_k**2),
        "variance_v": -np.sum(pull_v**2, axis=-1) / (2 * p.variance_v**2),
        "target": found.residual,
    }
    for name, slope in expected.items():
        high, low = (
            proximal.solve(activation, *p._replace(**{name: getattr(p, name) + d}))
            for d in (step, -step)
        )
        measured = (high.envelope - low.envelope) / (2 * step)
        np.testing.assert_allclose(measured, slope, rtol=0, atol=1e-7)


@pytest.mark.parametrize("activation", ALL)
def test_little_variance_moves_nothing(activation):
    p = problem(2)._replace(variance_k=1e-9, variance_v=1e-9)
    found = proximal.solve(activation, *p)
    np.testing.assert_allclose(found.logits, p.key_field, atol=1e-7)
    np.testing.assert_allclose(found.value, p.value_field, atol=1e-7)


@pytest.mark.parametrize("activation", ALL)
def test_much_variance_fits_the_target(activation):
    # The misfit shrinks by 1 + V_v |s|^2, and a weight of erf may be as small as 1e-4.
    p = problem(2)._replace(variance_v=1e9)
    assert np.abs(proximal.solve(activation, *p).residual).max() < 1e-4


@pytest.mark.parametrize("activation", ALL)
def test_flipping_target_and_read_outs_flips_the_answer(activation):
    p, found = problem(2), solved(activation, (2,))
    flipped = proximal.solve(
        activation, *p._replace(value_field=-p.value_field, target=-p.target)
    )
    np.testing.assert_allclose(flipped.envelope, found.envelope, atol=1e-10)
    np.testing.assert_allclose(flipped.residual, -found.residual, atol=1e-9)


def test_softmax_keeps_the_mean_of_the_logits():
    p, found = problem(2), solved("softmax", (2,))
    means = found.logits.mean(axis=-1), p.key_field.mean(axis=-1)
    np.testing.assert_allclose(*means, rtol=0, atol=1e-13)


@pytest.mark.parametrize("activation", ["softmax", "linear"])
def test_three_tokens(activation):
    p, found = problem(3), solved(activation, (3,))
    at_minimum = objective(activation, p, found.logits, found.value)
    np.testing.assert_allclose(found.envelope, at_minimum, rtol=0, atol=1e-12)
    # Stationary in z: z - b = V_v e s.
    pull = p.variance_v * found.residual[:, None] * WEIGHTS[activation](found.logits)
    np.testing.assert_allclose(found.value - p.value_field, pull, atol=1e-10)


@pytest.mark.parametrize("activation", ["softmax", "erf"])
def test_several_minima_are_noticed_where_the_variance_is_large(activation):
    # erf, whose weights are not normalised, has several already at V_k = 0.7.
    assert not solved(activation, (2, 0.1)).is_multistable.any()
    assert 0.01 < solved(activation, (2, 12.0)).is_multistable.mean() < 0.5


def test_linear_attention_never_has_several():
    assert not solved("linear", (2, 12.0)).is_multistable.any()


def test_negative_control_the_nearest_minimum_is_not_always_the_lowest():
    p, found = problem(2, 12.0), solved("softmax", (2, 12.0))
    worse = 0
    for point in np.flatnonzero(found.is_multistable):
        one = Problem(*(x[point] for x in p[:3]), *p[3:])
        start = np.concatenate([one.key_field, one.value_field])
        near = optimize.minimize(
            lambda place, one=one: float(
                objective("softmax", one, place[:2], place[2:])
            ),
            start,
            method="BFGS",
        ).fun
        worse += near > found.envelope[point] + 1e-6
    assert worse > 0


def test_any_shape_in_front():
    p, found = problem(2), solved("linear", (2,))
    shaped = proximal.solve(
        "linear",
        p.key_field.reshape(8, 8, 2),
        p.value_field.reshape(8, 8, 2),
        p.target.reshape(8, 8),
        p.variance_k,
        p.variance_v,
    )
    assert shaped.logits.shape == (8, 8, 2)
    assert shaped.is_multistable.shape == (8, 8)
    np.testing.assert_array_equal(shaped.residual.ravel(), found.residual)


def test_double_precision_does_not_leak():
    solved("linear", (2,))
    assert jnp.asarray(1.0).dtype == jnp.float32


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"variance_k": 0.0}, ValueError, "variance_k must be > 0; received 0.0"),
        ({"variance_v": -1.0}, ValueError, "variance_v must be > 0"),
        ({"variance_k": np.inf}, ValueError, "variance_k must be finite"),
        ({"target": np.full(POINTS, np.nan)}, ValueError, "target must be a number"),
        ({"key_field": np.zeros(())}, ValueError, "key_field must be"),
        ({"value_field": np.zeros(3)}, ValueError, "value_field must be of shape"),
        ({"target": np.zeros(3)}, ValueError, "target must be of shape"),
    ],
    ids=lambda case: next(iter(case)) if isinstance(case, dict) else None,
)
def test_bad_input_is_named(change, error, message):
    with pytest.raises(error, match=message):
        proximal.solve("linear", **{**problem(2)._asdict(), **change})


@pytest.mark.parametrize(
    ("activation", "length", "error", "message"),
    [
        ("sparsemax", 3, ValueError, "activation must be one of"),
        ("softmax", 1, ValueError, "length must be >= 2; received 1"),
        ("softmax", 17, ValueError, "length must be <= 16; received 17"),
    ],
)
def test_a_channel_that_does_not_exist(activation, length, error, message):
    with pytest.raises(error, match=message):
        proximal.channel(activation, length)


def test_channels_are_equal_and_hashable():
    # Else every call would compile anew.
    for activation in ALL:
        one, other = (proximal.channel(activation, 3) for _ in range(2))
        assert one == other
        assert hash(one) == hash(other)
        assert one != proximal.channel(activation, 4)
