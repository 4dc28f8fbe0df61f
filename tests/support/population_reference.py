"""Right values of population risks, computed by other code than the library's.

`CELLS` are tasks with the best head of each activation, `HEADS` heads off the manifold.
Risks are without label noise.
"""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sharp_attention.tasks.single_location import MaxSLR, Overlaps, SpikedSLR, Task

VALUES = json.loads(
    (Path(__file__).parents[1] / "reference" / "slr-population.json").read_text()
)
ACTIVATIONS = ("softmax", "linear", "erf", "softplus")
RELATIVE = 1e-8
"""What a risk may differ by, above 1e-12 (`is_right`)."""

UNIFORM = {1: 1 / 3, 2: 1 / 3, 3: 1 / 3}


@dataclass(frozen=True)
class Cell:
    """One task with its right values."""

    task: Task
    values: dict[str, Any]

    def __str__(self) -> str:
        length = self.values["L"]
        return f"{type(self.task).__name__}-{self.values['nu']}-{length}"

    def head(self, activation: str) -> tuple[Overlaps, dict[str, float], float]:
        """Overlaps, parameters and risk of the best head."""
        best = self.values[activation]
        names = ("m_kk", "q_kk", "m_vv", "q_vv")
        overlaps = Overlaps(*(float(best[name]) for name in names))
        return overlaps, {"offset": best["c"]} if "c" in best else {}, best["risk"]

    def is_attained(self, activation: str) -> bool:
        """Whether a head of finite length attains the smallest risk."""
        best = self.values[activation]
        not_attained = best.get("infimum_not_attained", best["m_kk"] == "inf")
        return not not_attained


@dataclass(frozen=True)
class OffManifold:
    """One head, on one task, with its risk for each activation."""

    task: Task
    overlaps: Overlaps
    offset: float
    values: dict[str, Any]

    def __str__(self) -> str:
        return f"{type(self.task).__name__}-{self.task.signal}-{self.task.lengths}"

    def risk(self, activation: str) -> float:
        return self.values[activation]["risk"]

    def parameters(self, activation: str) -> dict[str, float]:
        return {"offset": self.offset} if activation == "erf" else {}


def is_right(found: float, right: float, relative: float = RELATIVE) -> bool:
    """Whether two risks agree, relative to the larger of `right` and 1e-12."""
    return abs(found - right) <= relative * max(abs(right), 1e-12)


def _task(kind: str, signal: float | str, length: int | str) -> Task:
    lengths = UNIFORM if isinstance(length, str) else length
    return (SpikedSLR if "spiked" in kind else MaxSLR)(float(signal), lengths)


def _off_manifold(row: dict[str, Any]) -> OffManifold:
    names = ("m_kk", "q_kk", "m_vv", "q_vv", "m_kv", "m_vk", "q_vk")
    task = _task(row["task"], row["nu"], row["L"])
    overlaps = Overlaps(*(row[name] for name in names))
    return OffManifold(task, overlaps, row["erf_offset_c"], row)


CELLS = [
    Cell(_task(section, row["nu"], row["L"]), row)
    for section in ("spiked", "max", "variable_spiked", "variable_max")
    for row in VALUES[section]
]
HEADS = [_off_manifold(row) for row in VALUES["off_manifold"]]
INFINITE_SIGNAL = [cell for cell in CELLS if math.isinf(cell.task.signal)]
