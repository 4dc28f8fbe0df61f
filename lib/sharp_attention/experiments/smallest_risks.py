"""The smallest population risk of every activation, on every task of the book.

Each cell takes one task, minimises the exact risk of each activation, and adds the
least risk of any element-wise weights and the Bayes risk. There is nothing random;
seeds are ignored.
"""

import math
from collections.abc import Sequence

from sharp_attention.experiments.files import Row, csv_bytes
from sharp_attention.experiments.records import (
    CellResult,
    Experiment,
    Outcome,
    Parameters,
    Scale,
)
from sharp_attention.experiments.workspace import Workspace
from sharp_attention.tasks.single_location import MaxSLR, SpikedSLR, Task
from sharp_attention.theory.single_location import population

__all__ = ["EXPERIMENT", "task_of"]

ACTIVATIONS = ("softmax", "softplus", "erf", "linear")

SIGNALS = (0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 11.0, 15.0, 20.0)
"""Of the curves at two tokens and at one to three tokens, spiked."""

HIGH_SIGNALS = (2.0, 4.0, 8.0, 12.0, 20.0, 32.0, 50.0, 80.0, 120.0)
"""Of the curves at three tokens, spiked."""

LENGTHS = (2, 3, 5, 10, 20, 50, 100, 300, 1000)
"""Of the curves at infinite signal, max."""


def grid(scale: Scale, seeds: Sequence[int]) -> list[Parameters]:
    """Return the cells: tasks with a fixed length or a uniform law of the length."""
    if scale == "quick":
        return [_cell("spiked", signal, 2, 2) for signal in (1.0, 4.0)]
    spiked = [_cell("spiked", signal, 2, 2) for signal in SIGNALS]
    spiked += [_cell("spiked", signal, 1, 3) for signal in SIGNALS]
    spiked += [_cell("spiked", signal, 3, 3) for signal in HIGH_SIGNALS]
    largest = [_cell("max", math.inf, length, length) for length in LENGTHS]
    largest += [_cell("max", 2.0, length, length) for length in (2, 3)]
    largest += [_cell("max", signal, 1, 3) for signal in (2.0, math.inf)]
    return spiked + largest


def compute(parameters: Parameters, workspace: Workspace) -> Outcome:
    """Minimise the risk of each activation on one task."""
    task = task_of(parameters)
    risks = {name: population.minimise(task, name).risk for name in ACTIVATIONS}
    risks["element-wise"] = population.elementwise_bound(task)
    risks["bayes"] = population.bayes_risk(task)
    rows: list[Row] = [
        {**parameters, "activation": name, "risk": risk} for name, risk in risks.items()
    ]
    return Outcome(rows)


def task_of(parameters: Parameters) -> Task:
    """Return the task of a cell: lengths are uniform from shortest to longest."""
    lengths = range(parameters["shortest"], parameters["longest"] + 1)
    law = {length: 1 / len(lengths) for length in lengths}
    kind = SpikedSLR if parameters["task"] == "spiked" else MaxSLR
    return kind(parameters["signal"], law)


def collect(results: Sequence[CellResult]) -> dict[str, bytes]:
    """Put the rows of all cells into one table."""
    return {"risks.csv": csv_bytes([row for cell in results for row in cell.rows])}


def _cell(task: str, signal: float, shortest: int, longest: int) -> Parameters:
    place = {"shortest": shortest, "longest": longest}
    return {"task": task, "signal": signal, **place}


EXPERIMENT = Experiment(
    name="smallest-risks",
    description="Smallest population risk of each activation in both tasks.",
    version=1,
    num_seeds={"quick": 1, "full": 1},
    grid=grid,
    compute=compute,
    collect=collect,
)
