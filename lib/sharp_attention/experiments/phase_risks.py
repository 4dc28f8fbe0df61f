"""Exact risks over the phase diagram of softmax attention, at finite lengths.

Each cell takes one length and one signal nu = c log L of the spiked task, and lets
the sharpness b = beta / sqrt(log L) of a head k = beta k* run. The interactive phase
diagram interpolates between the nodes of this grid; the midpoints between them, where
an interpolation is worst, are there to measure its error. The steps are equal in b and
in the root of c, in which the risk is smooth. There is nothing random; seeds are
ignored.
"""

import math
from collections.abc import Sequence

import numpy as np

from sharp_attention.experiments.files import Row, csv_bytes
from sharp_attention.experiments.records import (
    CellResult,
    Experiment,
    Outcome,
    Parameters,
    Scale,
)
from sharp_attention.experiments.workspace import Workspace
from sharp_attention.tasks.single_location import SpikedSLR
from sharp_attention.theory.single_location import population

__all__ = ["EXPERIMENT", "ROOTS", "SHARPNESSES", "STEP", "measure"]

STEP = 0.05
"""Between two nodes, in b and in the root of c."""

EXPONENTS = {"quick": (3,), "full": (3, 6, 16)}
"""Lengths are these powers of ten."""

ROOTS = tuple(round(STEP * step, 2) for step in range(46))
"""Values of sqrt(c) at the nodes."""

SHARPNESSES = tuple(round(STEP * step, 2) for step in range(61))
"""Values of b at the nodes."""


def grid(scale: Scale, seeds: Sequence[int]) -> list[Parameters]:
    """Return the cells: every length with every signal, at a node or half way."""
    roots = ROOTS[::15] if scale == "quick" else (*ROOTS, *_halfway(ROOTS))
    return [
        {"exponent": exponent, "root_signal": root}
        for exponent in EXPONENTS[scale]
        for root in roots
    ]


def compute(parameters: Parameters, workspace: Workspace) -> Outcome:
    """Measure heads of every sharpness at one length and signal."""
    exponent, root = parameters["exponent"], parameters["root_signal"]
    is_node = root in ROOTS
    sharpnesses = SHARPNESSES if is_node else _halfway(SHARPNESSES)
    found = measure(exponent, root**2, sharpnesses)
    rows: list[Row] = [
        {**parameters, "sharpness": b, "risk": risk, "best_risk": best}
        for b, (risk, best) in zip(sharpnesses, found, strict=True)
    ]
    return Outcome(rows)


def measure(
    exponent: int, signal: float, sharpnesses: Sequence[float]
) -> list[tuple[float, float]]:
    """Risk of heads k = b sqrt(log L) k* at v = v*, and at the best multiple of v*.

    Parameters
    ----------
    exponent : n of the length L = 10^n, n >= 1
    signal : c = nu / log L >= 0
    sharpnesses : values of b >= 0
    """
    log_length = exponent * math.log(10)
    task = SpikedSLR(signal * log_length, 10**exponent)
    slopes = np.asarray(sharpnesses, dtype=np.float64) * math.sqrt(log_length)
    squares, kept = population.weight_moments(task, "softmax", slopes)
    fixed, best = 1 - 2 * kept + squares, 1 - kept**2 / squares
    return list(zip(fixed.tolist(), best.tolist(), strict=True))


def collect(results: Sequence[CellResult]) -> dict[str, bytes]:
    """Put the nodes into one table and the midpoints into another."""
    rows = [row for cell in results for row in cell.rows]
    nodes = [row for row in rows if row["root_signal"] in ROOTS]
    midpoints = [row for row in rows if row["root_signal"] not in ROOTS]
    tables = {"risks.csv": csv_bytes(nodes)}
    return tables | ({"midpoints.csv": csv_bytes(midpoints)} if midpoints else {})


def _halfway(values: Sequence[float]) -> tuple[float, ...]:
    return tuple(round(value + STEP / 2, 3) for value in values[:-1])


EXPERIMENT = Experiment(
    name="phase-risks",
    description="Exact risks over the phase diagram of softmax, at three lengths.",
    version=1,
    num_seeds={"quick": 1, "full": 1},
    grid=grid,
    compute=compute,
    collect=collect,
)
