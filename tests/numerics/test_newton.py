"""Batched Newton on functions with known minima, and the bracketed root finder."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sharp_attention.numerics import newton

SETTINGS = {"floor": 1e-6, "max_steps": 60, "tolerance": 1e-12}


@pytest.fixture(autouse=True)
def _double_precision():
    with jax.enable_x64(True):
        yield


def rosenbrock(rows):
    x, y = rows
    return (1 - x) ** 2 + 100 * (y - x**2) ** 2


def start_points(size: int, points: int = 40) -> tuple:
    rng = np.random.default_rng(3)
    return tuple(jnp.asarray(rng.normal(size=points)) for _ in range(size))


def test_derivatives_equal_those_by_hand():
    x, y = start_points(2)
    gradient, hessian = newton.derivatives(rosenbrock, (x, y))
    np.testing.assert_allclose(gradient[0], -2 * (1 - x) - 400 * x * (y - x**2))
    np.testing.assert_allclose(gradient[1], 200 * (y - x**2))
    np.testing.assert_allclose(hessian[0][0], 2 - 400 * (y - 3 * x**2))
    np.testing.assert_allclose(hessian[1][0], -400 * x)
    np.testing.assert_allclose(hessian[1][1], 200 + 0 * x)


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_a_quadratic_takes_one_step(size):
    centre = start_points(size)

    def bowl(rows):
        pairs = zip(rows, centre, strict=True)
        return sum((i + 1) * (a - b) ** 2 for i, (a, b) in enumerate(pairs))

    found = newton.minimise(bowl, tuple(0 * c for c in centre), **SETTINGS)
    assert int(found.num_steps) <= 2  # the second one finds nothing left to do
    np.testing.assert_allclose(np.stack(found.position), np.stack(centre), atol=1e-14)


def test_a_curved_valley_is_followed_to_its_end():
    found = newton.minimise(rosenbrock, start_points(2), **SETTINGS)
    assert bool(jnp.all(found.is_converged))
    np.testing.assert_allclose(np.stack(found.position), 1.0, atol=1e-9)
    np.testing.assert_allclose(found.value, 0.0, atol=1e-18)


def test_each_point_falls_into_its_own_well():
    start = jnp.array([-3.0, -0.5, 0.4, 2.0])
    found = newton.minimise(lambda rows: (rows[0] ** 2 - 1) ** 2, (start,), **SETTINGS)
    np.testing.assert_allclose(found.position[0], [-1, -1, 1, 1], atol=1e-12)


def test_negative_control_the_bare_step_climbs_to_the_maximum():
    start = jnp.array([0.3])
    position = start
    for _ in range(20):
        slope, curvature = (
            4 * position * (position**2 - 1),
            12 * position**2 - 4,
        )
        position = position - slope / curvature
    assert float(position[0]) == pytest.approx(0.0, abs=1e-9)
    found = newton.minimise(lambda rows: (rows[0] ** 2 - 1) ** 2, (start,), **SETTINGS)
    assert float(found.position[0][0]) == pytest.approx(1.0)


def test_values_never_rise():
    start = start_points(2)
    for max_steps in (1, 3, 6):
        found = newton.minimise(
            rosenbrock, start, floor=1e-6, max_steps=max_steps, tolerance=0.0
        )
        assert bool(jnp.all(found.value <= rosenbrock(start) + 1e-12))


def test_too_few_steps_are_reported_point_by_point():
    start = (jnp.array([1.0, -1.5]), jnp.array([1.0, 2.0]))
    found = newton.minimise(rosenbrock, start, floor=1e-6, max_steps=1, tolerance=1e-9)
    assert found.is_converged.tolist() == [True, False]


def test_minimise_works_under_vmap():
    wells = jnp.array([1.0, 4.0])

    def solve(well):
        return newton.minimise(
            lambda rows: (rows[0] ** 2 - well) ** 2,
            (jnp.array([0.3, -5.0]),),
            **SETTINGS,
        ).position[0]

    np.testing.assert_allclose(jax.vmap(solve)(wells), [[1, -1], [2, -2]], atol=1e-10)


ROOTS = [
    ("cubic", lambda x: x**3 - 0.5, -2.0, 2.0, 0.5 ** (1 / 3)),
    ("steep", lambda x: jnp.expm1(50 * x) - 3, -1.0, 1.0, np.log(4) / 50),
    ("poles", lambda x: 1e-9 / (1 - x) ** 2 - 1 / (1 + x) ** 2 + x, -1.0, 1.0, None),
    ("arctangent", lambda x: jnp.arctan(100 * (x - 0.9)), -5.0, 5.0, 0.9),
]


@pytest.mark.parametrize(
    ("function", "low", "high", "answer"),
    [case[1:] for case in ROOTS],
    ids=[case[0] for case in ROOTS],
)
def test_roots_are_found_inside_the_bracket(function, low, high, answer):
    ends = jnp.array([low]), jnp.array([high])
    found = newton.monotone_root(function, *ends, max_steps=80, tolerance=1e-15)
    position = float(found.position[0])
    assert low < position < high
    assert int(found.num_steps) < 60
    if answer is not None:
        assert position == pytest.approx(answer, abs=1e-13)
    step = 1e-9
    assert float(function(found.position - step)[0]) < 0
    assert float(function(found.position + step)[0]) > 0


def test_a_root_in_the_middle_is_recognised():
    ends = jnp.array([-1.0]), jnp.array([1.0])
    found = newton.monotone_root(lambda x: x, *ends, max_steps=50, tolerance=1e-15)
    assert float(found.position[0]) == 0.0
    assert int(found.num_steps) == 1
