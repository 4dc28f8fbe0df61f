"""Fixed points of maps whose answer is known, and honesty about failure."""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sharp_attention.numerics import fixed_point

COSINE = 0.7390851332151607  # the number with cos(x) = x


@pytest.fixture(autouse=True)
def _double_precision():
    with jax.enable_x64(True):
        yield


class Problem(NamedTuple):
    """A map with its fixed point and the largest step count that we allow."""

    name: str
    update: object
    start: list[float]
    answer: list[float]
    most_steps: int


ROTATION = 0.9 * np.array([[np.cos(1.0), -np.sin(1.0)], [np.sin(1.0), np.cos(1.0)]])
SHIFT = np.array([1.0, -2.0])

PROBLEMS = [
    Problem("cosine", jnp.cos, [1.0], [COSINE], 8),
    Problem("babylonian", lambda x: 0.5 * (x + 2 / x), [1.0], [2**0.5], 8),
    Problem(
        "slow-rotation",
        lambda x: ROTATION @ x + SHIFT,
        [0.0, 0.0],
        list(np.linalg.solve(np.eye(2) - ROTATION, SHIFT)),
        8,
    ),
    Problem("repelling", lambda x: 3 - 2 * x, [0.2], [1.0], 8),
    Problem(
        "nearly-neutral",
        lambda x: jnp.array([0.999, 0.5, 0.1]) * x + jnp.array([0.001, 0.5, 0.9]),
        [5.0, -3.0, 0.0],
        [1.0, 1.0, 1.0],
        12,
    ),
]


def stateless(update):
    return lambda point, state: (update(point), state)


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: p.name)
def test_finds_the_known_point(problem):
    found = fixed_point.solve(
        stateless(problem.update), jnp.array(problem.start), tolerance=1e-12
    )
    assert bool(found.is_converged)
    assert int(found.num_steps) <= problem.most_steps
    np.testing.assert_allclose(found.value, problem.answer, rtol=0, atol=1e-9)


@pytest.mark.parametrize("damping", [0.0, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("memory", [0, 5])
def test_the_residual_is_the_undamped_one(damping, memory):
    tolerance = 1e-6
    found = fixed_point.solve(
        stateless(jnp.cos),
        jnp.array([1.0]),
        tolerance=tolerance,
        damping=damping,
        memory=memory,
        max_steps=20_000,
    )
    true_residual = float(jnp.max(jnp.abs(jnp.cos(found.value) - found.value)))
    assert bool(found.is_converged)
    assert float(found.residual) == pytest.approx(true_residual, abs=1e-15)
    assert true_residual <= tolerance


def test_negative_control_the_damped_step_would_have_stopped_too_early():
    point, damping, tolerance = jnp.array(1.0), 0.99, 1e-6
    while float(jnp.abs((1 - damping) * (jnp.cos(point) - point))) > tolerance:
        point = point + (1 - damping) * (jnp.cos(point) - point)
    assert float(jnp.abs(jnp.cos(point) - point)) > 50 * tolerance


def test_acceleration_saves_most_of_the_steps():
    def steps(memory: int) -> int:
        return int(
            fixed_point.solve(
                stateless(lambda x: 0.99 * x + 0.01 * jnp.cos(x)),
                jnp.array([0.0]),
                memory=memory,
                max_steps=5000,
            ).num_steps
        )

    assert steps(5) * 5 < steps(0)


def test_an_extrapolation_that_runs_away_is_undone():
    # The slope of the residual vanishes at the start: the first extrapolation lands
    # near x = 100, where a plain step would go to -10,000 and never come back.
    update = stateless(lambda x: x + 0.01 * (1 - x**3))
    found = fixed_point.solve(update, jnp.array([0.0]), max_steps=400)
    assert bool(found.is_converged)
    assert float(found.value[0]) == pytest.approx(1.0, abs=1e-6)


def test_too_few_steps_are_reported_with_the_residual():
    found = fixed_point.solve(
        stateless(lambda x: 0.999 * x + 1), jnp.array([0.0]), max_steps=3, memory=0
    )
    assert not bool(found.is_converged)
    assert int(found.num_steps) == 3
    expected = abs(0.999 * found.value[0] + 1 - found.value[0])
    assert float(found.residual) == pytest.approx(float(expected))


def test_no_step_at_all_still_measures_the_residual():
    found = fixed_point.solve(stateless(jnp.cos), jnp.array([1.0]), max_steps=0)
    assert float(found.residual) == pytest.approx(abs(np.cos(1.0) - 1.0))


def test_a_map_that_breaks_down_is_no_silent_nan():
    found = fixed_point.solve(stateless(jnp.log), jnp.array([0.5]))
    assert np.isfinite(found.value).all()
    assert not bool(found.is_converged)
    assert float(found.residual) == np.inf or float(found.residual) > 1e-3


def test_moves_are_bounded():
    found = fixed_point.solve(
        stateless(lambda x: x + 100.0), jnp.array([0.0]), max_steps=4, max_move=0.5
    )
    assert float(found.value[0]) <= 4 * 0.5 + 1e-12


def test_the_state_is_carried_from_call_to_call():
    def update(point, calls):
        return 0.5 * point + 1, calls + 1

    found = fixed_point.solve(update, jnp.array([0.0]), jnp.asarray(0))
    # One more evaluation than steps: the residual is measured at the end.
    assert int(found.state) == int(found.num_steps) + 1


def test_batches_under_vmap_equal_single_solves():
    shifts = jnp.linspace(0.1, 2.0, 7)

    def solve(shift):
        return fixed_point.solve(
            stateless(lambda x: jnp.sin(x) * 0.8 + shift), jnp.array([0.0])
        ).value[0]

    batch = jax.jit(jax.vmap(solve))(shifts)
    alone = jax.jit(solve)
    single = [float(alone(shift)) for shift in shifts]
    np.testing.assert_allclose(batch, single, rtol=0, atol=1e-8)


@functools.cache
def affine_solver(damping: float):
    def solve(rate, shift):
        update = stateless(lambda x: rate * x + shift)
        return fixed_point.solve(
            update, jnp.array([0.0]), damping=damping, tolerance=1e-9
        )

    return jax.jit(solve)


@settings(derandomize=True, deadline=None, max_examples=50)
@given(
    rate=st.floats(-0.95, 0.95),
    shift=st.floats(-10, 10),
    damping=st.sampled_from([0.0, 0.3, 0.9]),
)
def test_affine_contractions_are_solved_whatever_the_damping(rate, shift, damping):
    with jax.enable_x64(True):
        found = affine_solver(damping)(rate, shift)
        assert bool(found.is_converged)
        assert float(found.value[0]) == pytest.approx(shift / (1 - rate), abs=1e-6)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"tolerance": -1e-3}, "tolerance must be >= 0"),
        ({"tolerance": float("nan")}, "tolerance must be a number"),
        ({"max_steps": -1}, "max_steps must be >= 0; received -1"),
        ({"damping": 1.0}, "damping must be at least 0 and below 1; received 1.0"),
        ({"damping": -0.1}, "damping must be at least 0 and below 1"),
        ({"memory": -1}, "memory must be >= 0"),
        ({"plain_steps": -2}, "plain_steps must be >= 0"),
        ({"max_move": 0.0}, "max_move must be > 0"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_bad_settings_are_named(setting, message):
    with pytest.raises(ValueError, match=message):
        fixed_point.solve(stateless(jnp.cos), jnp.array([1.0]), **setting)
