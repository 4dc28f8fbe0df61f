"""The landscape of the empirical risk: where many descents end, and on what overlaps.

Three kinds of cells. `minima` explores one setting from random, informed and swapped
starts on the same texts, by L-BFGS. `dimension` trains from the teachers at several D
and keeps the overlaps. `paths` follows plain gradient descent through the overlaps,
with the exact population risk at each record.

Erf attention has an offset, which is fixed here at the best one of the population.
"""

import math
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from sharp_attention.algorithms import gradient_flow, landscape, starts
from sharp_attention.algorithms.instances import check_problem, draw_instance
from sharp_attention.experiments.files import Row, csv_bytes
from sharp_attention.experiments.records import (
    CellResult,
    Experiment,
    Outcome,
    Parameters,
    Scale,
)
from sharp_attention.experiments.workspace import Workspace
from sharp_attention.tasks.single_location import MaxSLR, Overlaps, SpikedSLR, Task
from sharp_attention.theory.single_location import population

__all__ = ["EXPERIMENT", "offset_of", "task_of"]

NOISE = math.sqrt(0.1)
"""Standard deviation of the label noise, as in all of our finite samples."""

STRONG = ("spiked", 10.0, 2, 4.0, 1.0)
WEAK = ("spiked", 10.0, 2, 4.0, 0.1)
"""Task, signal, length, sample ratio and ridge, where the bad basins are."""

FEW_TEXTS = (("spiked", 2.0, 3, 2.0, 1.0), ("spiked", 2.0, 3, 2.0, 0.1))
"""As many texts as there are parameters, at a strong and at a weak ridge."""

LARGEST = ("max", math.inf, 3, 2.0, 1.0)
"""The max task without doubt, with few texts and a strong ridge."""

EXPLORED = (
    *((WEAK, name, 200) for name in ("softmax", "softplus")),
    *((STRONG, name, 200) for name in ("softmax", "softplus", "erf", "linear")),
    *((setting, "softmax", 60) for setting in FEW_TEXTS),
    *((LARGEST, name, 60) for name in ("softmax", "linear")),
)
"""Settings with the activations that are explored there, and the number of starts."""

_PLAIN = ("spiked", 2.0, 3, 4.0, 1.0)
"""Where cross overlaps are measured: one minimum, and the equations are stable."""

DIMS = (50, 100, 200, 400)

_NAMES = ("task", "signal", "length", "sample_ratio", "ridge")
_OVERLAPS = ("m_k", "q_k", "m_v", "q_v", "m_kv", "m_vk", "q_kv")
_MEASURED = ("energy", "training_loss", "test_risk", "gradient", "curvature")

MAX_STEPS = 500
"""Of L-BFGS."""

TRAINING_STEPS = 300
"""Of plain gradient descent where cross overlaps are measured."""

PATH_STEPS, PATH_RECORDS = 4000, 80
"""Length of the paths, and how often the overlaps are measured."""


def grid(scale: Scale, seeds: Sequence[int]) -> list[Parameters]:
    """Return the cells of all three kinds."""
    is_quick = scale == "quick"
    small = [(STRONG, name, 20) for name in ("softmax", "linear")]
    explored = small if is_quick else EXPLORED
    followed = ("linear",) if is_quick else ("softmax", "erf", "linear")
    dims, dim = ((20, 40), 40) if is_quick else (DIMS, 200)
    cells: list[Parameters] = []
    for seed in seeds:
        cells += [
            _cell("minima", setting, name, seed, dim) | {"starts": number}
            for setting, name, number in explored
        ]
        cells += [_cell("paths", WEAK, name, seed, dim) for name in followed]
        cells += [
            _cell("dimension", _PLAIN, "softmax", seed, one) | {"instances": 32}
            for one in dims
        ]
    return cells


def compute(parameters: Parameters, workspace: Workspace) -> Outcome:
    """Compute a cell of any kind."""
    parts = {"minima": _minima, "dimension": _dimension, "paths": _paths}
    return Outcome(parts[parameters["part"]](parameters))


def task_of(parameters: Parameters) -> Task:
    """Return the task of a cell."""
    kind = SpikedSLR if parameters["task"] == "spiked" else MaxSLR
    return kind(parameters["signal"], parameters["length"], NOISE)


def offset_of(parameters: Parameters) -> float:
    """Return the offset of the activation, 0 where it has none."""
    if parameters["activation"] != "erf":
        return 0.0
    return population.minimise(task_of(parameters), "erf").parameters["offset"]


def collect(results: Sequence[CellResult]) -> dict[str, bytes]:
    """Put down one table for each kind of cell."""
    return {
        f"{part}.csv": csv_bytes(
            [row for cell in results if cell.parameters["part"] == part
             for row in cell.rows]
        )
        for part in ("minima", "dimension", "paths")
    }  # fmt: skip


def _minima(parameters: Parameters) -> list[Row]:
    """Return a row for each minimum, and one for the descents that did not arrive."""
    number = parameters["starts"]
    counts = {"random": number // 2, "informed": number // 4, "swapped": number // 4}
    found = landscape.explore(
        jax.random.key(parameters["seed"]),
        *_arguments(parameters),
        num_starts=counts,
        max_steps=MAX_STEPS,
        dtype="float64",
        tol=1e-4,
        offset=offset_of(parameters),
    )
    rows: list[Row] = [
        _place(parameters)
        | {"minimum": number, "family": one.family}
        | {kind: one.num_starts[kind] for kind in counts}
        | {name: _digits(getattr(one, name)) for name in _MEASURED}
        | _columns(one.overlaps)
        for number, one in enumerate(found.minima)
    ]
    lost = {
        kind: int(np.sum((found.kind == kind) & ~found.is_converged)) for kind in counts
    }
    if any(lost.values()):
        place = _place(parameters) | {"minimum": -1, "family": "not converged"}
        rows.append(place | lost | dict.fromkeys((*_MEASURED, *_OVERLAPS)))
    return rows


def _dimension(parameters: Parameters) -> list[Row]:
    """Return a row for each instance, trained from the teachers."""
    rows: list[Row] = []
    for index in range(parameters["instances"]):
        walked = gradient_flow.descend(
            jax.random.key(parameters["seed"]),
            *_arguments(parameters),
            instance=index,
            num_steps=TRAINING_STEPS,
            num_records=1,
            offset=offset_of(parameters),
            throw=True,
        )
        place = _place(parameters) | {"instance": index}
        rows.append(place | _columns(walked.fit.overlaps))
    return rows


def _paths(parameters: Parameters) -> list[Row]:
    """Return a row for each record of three descents of each kind."""
    task, activation, *_ = arguments = _arguments(parameters)
    offset, key = offset_of(parameters), jax.random.key(parameters["seed"])
    problem = check_problem(*arguments, offset, "float32")
    drawn = draw_instance(key, 0, problem, "informed")
    extra = {"offset": offset} if activation == "erf" else {}
    rows: list[Row] = []
    for number, kind in enumerate(starts.KINDS):
        heads = starts.draw_starts(jax.random.fold_in(key, number), drawn, kind, 3)
        for path, start in enumerate(zip(*heads, strict=True)):
            walked = gradient_flow.descend(
                key,
                *arguments,
                init=start,
                rate=0.01,
                num_steps=PATH_STEPS,
                num_records=PATH_RECORDS,
                offset=offset,
            )
            risks = np.asarray(
                population.risk(task, activation, walked.overlaps, **extra)
            )
            rows += [
                _place(parameters)
                | {"start": kind, "path": path, "step": int(step)}
                | {"risk": _digits(risks[index])}
                | _columns(walked.overlaps, index)
                for index, step in enumerate(walked.step)
            ]
    return rows


def _arguments(
    parameters: Parameters,
) -> tuple[Task, str, int, float, float, float]:
    ridge = parameters["ridge"]
    return (
        task_of(parameters),
        parameters["activation"],
        parameters["dim"],
        parameters["sample_ratio"],
        ridge,
        ridge,
    )


def _place(parameters: Parameters) -> dict[str, Any]:
    """Return what all rows of a cell share."""
    names = (*_NAMES, "activation", "offset", "dim", "seed")
    return {name: parameters[name] for name in names}


def _cell(
    part: str,
    setting: tuple[str, float, int, float, float],
    activation: str,
    seed: int,
    dim: int,
) -> dict[str, Any]:
    named = {"activation": activation, "offset": "best", "seed": seed, "dim": dim}
    return dict(zip(_NAMES, setting, strict=True)) | {"part": part} | named


def _columns(overlaps: Overlaps, index: int | None = None) -> dict[str, float]:
    """Return the overlaps of one head, or of head `index` of many, by name."""
    values = [np.asarray(value) for value in overlaps.values()]
    chosen = values if index is None else [value[index] for value in values]
    return {name: _digits(x) for name, x in zip(_OVERLAPS, chosen, strict=True)}


def _digits(value: Any) -> float:
    """Seven digits: the texts are in single precision."""
    return float(f"{float(value):.7g}")


EXPERIMENT = Experiment(
    name="landscape",
    description="Where descents on single-location regression end, from many starts.",
    version=1,
    num_seeds={"quick": 1, "full": 1},
    grid=grid,
    compute=compute,
    collect=collect,
)
