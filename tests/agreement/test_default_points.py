"""The default number of points meets the right values where fewer do not."""

import math

import pytest

from finite_samples import case_id, rows, task_of, worst_distance
from sharp_attention.tasks.single_location import MaxSLR
from sharp_attention.theory.single_location import replica, state_evolution


def is_coarse(row: dict) -> bool:
    """Rows that 2^13 points miss: many samples, linear or softmax at small ridge."""
    is_many = (row["kind"], row["length"], row["sample_ratio"]) == ("spiked", 3, 16.0)
    is_stiff = float(row["signal"]) == 2.0 and row["ridge_k"] == 0.1
    return is_many and (row["activation"] == "linear" or is_stiff)


COARSE = [row for row in rows("erm", trust="high") if is_coarse(row)]


def solved(row: dict, **settings: int) -> replica.ReplicaSolution:
    numbers = row["sample_ratio"], row["ridge_k"], row["ridge_v"]
    return replica.solve(task_of(row), row["activation"], *numbers, **settings)


def dear_for_softmax(row: dict):
    marks = [pytest.mark.medium] if row["activation"] == "softmax" else []
    return pytest.param(row, id=case_id(row), marks=marks)


@pytest.mark.parametrize("row", [dear_for_softmax(row) for row in COARSE])
def test_right_values_at_default(row):
    found = solved(row)
    assert found.is_converged
    assert worst_distance(row, found) < 1


def test_negative_control_fewer_points_are_too_few():
    row = next(row for row in COARSE if row["activation"] == "linear")
    draws = [solved(row, num_points=2**13, seed=seed) for seed in range(8)]
    assert max(worst_distance(row, found) for found in draws) > 1


@pytest.mark.parametrize(
    ("sample_ratio", "right"),
    [pytest.param(16.0, 0.1700, marks=pytest.mark.medium), (20.0, 0.1560)],
)
def test_many_samples_of_the_max_task(sample_ratio, right):
    """State evolution; right: means over six seeds of 2^16 points, +- 1e-4."""
    task = MaxSLR(math.inf, 3, math.sqrt(0.1))
    found = state_evolution.solve(task, sample_ratio, init="uninformed")
    assert found.test_risk == pytest.approx(right, abs=6e-4)
