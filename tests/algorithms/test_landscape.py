"""Many descents on the same texts, against single ones and against known minima."""

import math

import jax
import numpy as np
import pytest

from sharp_attention.algorithms import curvature, erm, landscape
from sharp_attention.algorithms.instances import check_problem, draw_instance
from sharp_attention.algorithms.objective import Head, loss_and_gradient
from sharp_attention.tasks.single_location import SpikedSLR

TASK = SpikedSLR(10.0, 2, math.sqrt(0.1))
KEY = jax.random.key(0)
SETUP = (KEY, TASK, "linear", 30, 8.0, 1.0, 1.0)
STARTS = {"random": 4, "informed": 2, "swapped": 3}


@pytest.fixture(scope="module")
def found() -> landscape.Landscape:
    return landscape.explore(*SETUP, num_starts=STARTS, num_slots=4, dtype="float64")


@pytest.mark.medium
def test_every_start_is_somewhere_and_counted_once(found):
    assert found.kind.tolist() == ["random"] * 4 + ["informed"] * 2 + ["swapped"] * 3
    assert found.is_converged.all()
    assert found.status.startswith("converged: 9 of 9 descents")
    counted = [sum(one.num_starts.values()) for one in found.minima]
    assert counted == [int(np.sum(found.minimum == i)) for i in range(len(counted))]
    assert sum(counted) == 9
    energies = [one.energy for one in found.minima]
    assert energies == sorted(energies)
    np.testing.assert_allclose(found.energy, np.array(energies)[found.minimum])


@pytest.mark.medium
def test_linear_attention_has_a_swapped_minimum_above_the_matched_one(found):
    assert [one.family for one in found.minima[:1]] == ["matched"]
    swapped = [one for one in found.minima if one.family == "swapped"]
    assert swapped
    assert swapped[0].num_starts["swapped"] > 0
    assert swapped[0].energy > 1.2 * found.minima[0].energy


@pytest.mark.medium
def test_the_lowest_minimum_is_that_of_a_single_fit(found):
    right = erm.fit(*SETUP, dtype="float64")
    lowest = found.minima[0]
    assert lowest.energy == pytest.approx(right.energy, rel=1e-9)
    assert lowest.test_risk == pytest.approx(right.test_risk, rel=1e-5)
    np.testing.assert_allclose(lowest.key, np.ravel(right.key), atol=1e-4)


def test_minima_are_minima_and_the_curvature_is_that_of_differences(found):
    problem = check_problem(TASK, "linear", 30, 8.0, 1.0, 1.0, 0.0, "float64")
    drawn = draw_instance(KEY, 0, problem, "informed")
    assert all(one.curvature > 0 for one in found.minima)
    at = np.concatenate([found.minima[0].key, found.minima[0].value])

    @jax.jit
    def slopes(heads):
        def one(head):
            return loss_and_gradient(head, drawn.data, activation="linear", offset=0.0)

        return jax.vmap(one)(heads)[1]

    step = 1e-5
    points = at + step * np.concatenate([np.eye(60), -np.eye(60)])
    with jax.enable_x64(True):
        up, down = np.split(np.hstack(slopes(Head(*np.split(points, 2, axis=1)))), 2)
    rows = (up - down) / (2 * step)
    right = np.linalg.eigvalsh(rows + np.eye(60))[0]  # the ridge is 1
    assert found.minima[0].curvature == pytest.approx(right, abs=1e-5)


def test_at_the_origin_the_curvature_is_not_positive():
    """At k = v = 0 the gradient of linear attention along v is not zero, and k . v
    pairs have mixed derivatives alone: a saddle once the ridge is small.
    """
    problem = check_problem(TASK, "linear", 30, 8.0, 1e-3, 1e-3, 0.0, "float64")
    drawn = draw_instance(KEY, 0, problem, "informed")
    zero = Head(np.zeros(30), np.zeros(30))
    assert curvature.smallest_curvature(problem, drawn.data, zero) < 0


@pytest.mark.slow
def test_slots_change_nothing(found):
    other = landscape.explore(*SETUP, num_starts=STARTS, num_slots=9, dtype="float64")
    np.testing.assert_allclose(other.energy, found.energy, rtol=1e-9)


def test_plain_descent_first_leads_to_the_same_minimum(found):
    flown = landscape.explore(
        *SETUP,
        num_starts={"informed": 2},
        gradient_steps=200,
        rate=0.01,
        num_slots=4,
        dtype="float64",
    )
    assert flown.minima[0].energy == pytest.approx(found.minima[0].energy, rel=1e-6)
    # Most of the way has been gone already.
    assert flown.num_steps.max() < found.num_steps[4:6].max()


def test_too_few_steps_are_reported():
    short = {"num_starts": {"random": 3}, "max_steps": 2, "num_slots": 4}
    short["dtype"] = "float64"
    found = landscape.explore(*SETUP, **short)
    assert not found.is_converged.any()
    assert found.status.startswith("not converged: 0 of 3 descents, at 0 minima")
    assert found.minimum.tolist() == [-1, -1, -1]
    assert found.minima == ()
    with pytest.raises(RuntimeError, match="not converged"):
        landscape.explore(*SETUP, **short, throw=True)


def test_too_large_a_rate_is_an_error_that_says_so():
    with pytest.raises(RuntimeError, match="ran away; lower the rate"):
        landscape.explore(
            *SETUP, num_starts={"random": 2}, rate=500.0, gradient_steps=60
        )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"num_starts": {}}, "num_starts must be at least one start"),
        ({"num_starts": {"random": 0}}, "num_starts must be at least one start"),
        ({"num_starts": {"cold": 3}}, "kind must be one of"),
        ({"num_starts": {"random": -1}}, r"num_starts\['random'\] must be >= 0"),
        ({"spread": 0.0}, "spread must be > 0"),
        ({"gradient_steps": -1}, "gradient_steps must be >= 0"),
        ({"rate": 0.0}, "rate must be > 0"),
        ({"instance": -1}, "instance must be >= 0"),
        ({"num_slots": 0}, "num_slots must be >= 1"),
        ({"max_steps": 0}, "max_steps must be >= 1"),
        ({"tol": -1.0}, "tol must be >= 0"),
    ],
)
def test_bad_input_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        landscape.explore(*SETUP, **({"num_starts": {"random": 1}} | change))
