"""Right values for single-location regression at finite sample ratio."""

import functools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from sharp_attention.tasks.single_location import MaxSLR, SpikedSLR, Task
from sharp_attention.theory.single_location.replica import ReplicaSolution

__all__ = [
    "case_id",
    "distance",
    "observed",
    "reference",
    "rows",
    "task_of",
    "worst_distance",
]

_FILE = Path(__file__).parents[1] / "reference" / "slr-finite-samples.json"


@functools.cache
def reference() -> dict[str, Any]:
    """The whole file."""
    return json.loads(_FILE.read_text(encoding="utf-8"))


def rows(table: str, **wanted: Any) -> list[dict[str, Any]]:
    """Rows of a table whose entries equal those that are wanted."""
    return [
        row
        for row in reference()[table]
        if all(row[name] == value for name, value in wanted.items())
    ]


def task_of(row: dict[str, Any]) -> Task:
    """The task of a row; its noise_var is the variance of the label noise."""
    signal, noise = float(row["signal"]), math.sqrt(row["noise_var"])
    kind = SpikedSLR if row["kind"] == "spiked" else MaxSLR
    return kind(signal, row["length"], noise)


def case_id(row: dict[str, Any]) -> str:
    """A readable name for a row."""
    parts = ("activation", "length", "kind", "signal", "ridge_k", "sample_ratio")
    return "-".join(str(row[part]) for part in parts if part in row)


def distance(value: float, target: list[float | None], floor: float) -> float:
    """Deviation in units of max(5 standard errors, floor)."""
    right, error = target
    return float(np.abs(value - right) / max(5 * (error or 0.0), floor))


def observed(solution: ReplicaSolution) -> dict[str, float]:
    """What the file has values for, under its names."""
    overlaps = solution.overlaps
    return {
        "test_mse": solution.test_risk,
        "train_mse": solution.training_loss,
        "m_k": overlaps.m_k,
        "q_k": overlaps.q_k,
        "m_v": overlaps.m_v,
        "q_v": overlaps.q_v,
    }


def worst_distance(row: dict[str, Any], solution: ReplicaSolution) -> float:
    """Largest deviation from a row, in units of what is allowed."""
    floors = {"test_mse": 2e-3, "train_mse": 2e-3}
    return max(
        distance(value, row[name], floors.get(name, 5e-3))
        for name, value in observed(solution).items()
    )
