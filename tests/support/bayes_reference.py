"""Right values for the Bayes-optimal reader at finite sample ratio."""

import functools
import json
import math
from pathlib import Path
from typing import Any

from sharp_attention.tasks.single_location import MaxSLR, SpikedSLR, Task

__all__ = ["bayes_id", "bayes_rows", "bayes_task"]

_FILE = Path(__file__).parents[1] / "reference" / "slr-bayes.json"


@functools.cache
def _tables() -> dict[str, list[dict[str, Any]]]:
    return json.loads(_FILE.read_text(encoding="utf-8"))


def bayes_rows(table: str) -> list[dict[str, Any]]:
    """Rows of "bayes", "hard_phase_scan" or "amp"."""
    return _tables()[table]


def bayes_task(row: dict[str, Any]) -> Task:
    """The task of a row; its noise_var is the variance of the label noise."""
    kind = SpikedSLR if row["kind"] == "spiked" else MaxSLR
    return kind(float(row["signal"]), row["length"], math.sqrt(row["noise_var"]))


def bayes_id(row: dict[str, Any]) -> str:
    """A readable name for a row."""
    parts = ("length", "kind", "signal", "noise_var", "sample_ratio")
    return "-".join(str(row[part]) for part in parts)
