"""Implicit gradients against differences, and optimal ridges against right values."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from finite_samples import case_id, rows, task_of
from sharp_attention.tasks.single_location import MaxSLR, SpikedSLR
from sharp_attention.theory.single_location import replica, replica_setup
from sharp_attention.theory.single_location.optimal_ridge import (
    optimal_ridge,
    sensitivity,
)
from sharp_attention.theory.single_location.replica_solver import iterate

NOISE = math.sqrt(0.1)
TASKS = {"spiked": SpikedSLR(1.0, 2, NOISE), "max": MaxSLR(math.inf, 2, NOISE)}


def gradient(task, activation, sample_ratio, ridge_k, ridge_v):
    channels, groups = replica_setup.prepare(task, activation)
    with jax.enable_x64(True):
        problem = replica_setup.as_problem(task, sample_ratio, ridge_k, ridge_v)
        start = replica_setup.named_start("informed", problem)
        limits = replica_setup.as_limits(300, 1e-11)
        solved = iterate(problem, groups, start, *limits, channels=channels)
        ends = solved.coordinates, solved.position
        return sensitivity(problem, groups, *ends, channels=channels)[1]


@pytest.mark.parametrize(
    ("kind", "activation"),
    [("spiked", "softmax"), ("max", "softmax"), ("spiked", "linear")],
)
def test_gradient_equals_differences(kind, activation):
    task, step = TASKS[kind], 1e-4
    found = gradient(task, activation, 4.0, 0.8, 0.6)
    for side in (0, 1):
        shift = np.eye(2)[side] * step
        high, low = (
            replica.solve(
                task, activation, 4.0, *(np.array([0.8, 0.6]) * np.exp(d)), tol=1e-11
            ).test_risk
            for d in (shift, -shift)
        )
        assert float(found[side]) == pytest.approx((high - low) / (2 * step), abs=1e-6)


def test_the_optimum_is_one():
    best = optimal_ridge(TASKS["spiked"], "softmax", 8.0)
    assert np.abs(best.gradient).max() < 1e-3
    assert not best.is_at_bound
    for factors in ((1.3, 1.0), (0.7, 1.0), (1.0, 1.3), (1.0, 0.7)):
        ridges = best.ridge_k * factors[0], best.ridge_v * factors[1]
        other = replica.solve(TASKS["spiked"], "softmax", 8.0, *ridges)
        assert other.test_risk > best.solution.test_risk


def test_separate_ridges_are_never_worse_than_a_tied_one():
    tied = optimal_ridge(TASKS["spiked"], "softmax", 8.0, is_tied=True)
    free = optimal_ridge(TASKS["spiked"], "softmax", 8.0)
    assert tied.ridge_k == pytest.approx(tied.ridge_v)
    assert free.solution.test_risk <= tied.solution.test_risk + 1e-9


def test_a_bound_is_reported():
    best = optimal_ridge(TASKS["spiked"], "softmax", 8.0, bounds=(1.0, 2.0))
    assert best.is_at_bound
    assert "end of the search" in best.status


# The right values come from one seed (+-1e-3; +-3e-3 for max at tiny ridges).
@pytest.mark.slow
@pytest.mark.parametrize("row", rows("optimal"), ids=case_id)
def test_right_values(row):
    task, activation = task_of(row), row["activation"]
    margin = 5e-3 if row["kind"] == "max" else 2e-3
    best = optimal_ridge(task, activation, row["sample_ratio"])
    assert best.solution.test_risk == pytest.approx(row["test"], abs=margin)
    tied = optimal_ridge(task, activation, row["sample_ratio"], is_tied=True)
    assert tied.solution.test_risk == pytest.approx(row["tied_test"], abs=margin)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bounds": (0.0, 1.0)}, "bounds must be > 0"),
        ({"bounds": (2.0, 1.0)}, "bounds must be > 2"),
        ({"start": (1e-9, 1.0)}, "start must be >="),
        ({"num_points": 0}, "num_points must be >= 1"),
    ],
)
def test_bad_input_is_named(settings, message):
    with pytest.raises(ValueError, match=message):
        optimal_ridge(TASKS["spiked"], "softmax", 8.0, **settings)


def test_double_precision_does_not_leak():
    assert jnp.asarray(1.0).dtype == jnp.float32
