"""Figure 3: test risk against sample ratio, predicted and measured.

Three tasks (spiked with signal 1 and 2, max with infinite signal) with three tokens,
softmax and linear attention, at fixed ridges and at the pair of ridges that the theory
finds best. A cell solves the replica equations at one sample ratio ("theory"), trains
one head there at N D = size^2 ("simulation", about the same work at every ratio), or
sets gradient descent of softmax on the same texts beside the minimiser ("descent").
"""

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
from jaxtyping import Array

from sharp_attention.algorithms import erm, gradient_flow
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
from sharp_attention.theory.single_location import replica
from sharp_attention.theory.single_location.optimal_ridge import optimal_ridge

__all__ = ["ACTIVATIONS", "BEST", "EXPERIMENT", "LENGTH", "NOISE", "TASKS", "predict"]

LENGTH, NOISE = 3, math.sqrt(0.1)

TASKS: dict[str, Task] = {
    "spiked 1": SpikedSLR(1.0, LENGTH, NOISE),
    "spiked 2": SpikedSLR(2.0, LENGTH, NOISE),
    "max": MaxSLR(math.inf, LENGTH, NOISE),
}
"""The tasks of figure 3, by the names that the tables use."""

BEST = "best"
"""The ridges that the theory finds best; every other name of a ridge is its value."""

ACTIVATIONS = ("softmax", "linear")

PARTS = ("theory", "descent", "simulation")

# A gradient of 1e-3 on each coordinate leaves less than 1e-4 to gain in test risk, a
# tenth of what the draw of the texts changes at the largest size.
_TOL, _SAVE_STEPS = 1e-3, 10

_DESCENTS: dict[str, dict[str, Any]] = {
    "gradient descent": {"rate": 0.2, "num_steps": 2_000},
    "stochastic gradient descent": {
        "rate": 0.05,
        "num_steps": 20_000,
        "batch_size": 32,
    },
}


class Size(NamedTuple):
    """What a scale runs at one kind of ridge.

    Attributes
    ----------
    ridge : "best" or a number
    tasks : where it runs
    num_points : Sobol points of the theory
    curve : sample ratios of the theory
    dots : sample ratios that are simulated
    size : sqrt(N D) of a simulation
    num_instances : most instances of a dot; a run has one for each seed up to that
    starts : of the optimiser
    descents : sample ratios of gradient descent on softmax, at the same size
    """

    ridge: str
    tasks: tuple[str, ...]
    num_points: int
    curve: tuple[float, ...] = ()
    dots: tuple[float, ...] = ()
    size: int = 0
    num_instances: int = 0
    starts: tuple[str, ...] = ("informed",)
    descents: tuple[float, ...] = ()


_OVERLAPS = ("m_k", "q_k", "m_v", "q_v")

_LINE = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, *(float(n) for n in range(4, 21)))
_COARSE = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 11.0, 14.0, 17.0, 20.0)
_DOTS = (1.0, 2.0, 4.0, 8.0, 14.0, 20.0)
_LOW = (1.0, 2.0, 4.0, 8.0, 20.0)
_ALL, _BOTH = tuple(TASKS), ("informed", "random")

SIZES: dict[Scale, tuple[Size, ...]] = {
    "quick": (
        Size("1", _ALL[:1], 2**11, (1.0, 2.0, 4.0, 8.0, 20.0), (2.0, 8.0), 400, 2),
        Size("1", _ALL[:1], 2**11, descents=(2.0,), size=200, num_instances=1),
        Size(BEST, _ALL[:1], 2**11, (8.0,)),
    ),
    "full": (
        Size("1", _ALL, 2**14, _LINE, _DOTS, 10_000, 1),
        Size("1", _ALL, 2**14, descents=(2.0, 8.0), size=800, num_instances=2),
        Size("0.1", ("spiked 2",), 2**14, _COARSE, _LOW, 1_000, 1, _BOTH),
        Size(BEST, _ALL[:2], 2**13, _COARSE, _DOTS, 3_000, 4),
        # With a key this long the average over one sample needs more points.
        Size(BEST, _ALL[2:], 2**15, _COARSE, _DOTS, 3_000, 4),
    ),
}


def grid(scale: Scale, seeds: Sequence[int]) -> list[Parameters]:
    """Return the cells: the whole theory first, then the heads, small ones first."""
    cells: dict[str, list[Parameters]] = {part: [] for part in PARTS}
    for size in sorted(SIZES[scale], key=lambda size: size.size):
        for task in size.tasks:
            for activation in ACTIVATIONS:
                place = {"task": task, "activation": activation, "ridge": size.ridge}
                points = {"num_points": size.num_points}
                for part, more in _list_cells(size, activation, seeds):
                    cells[part].append({"part": part, **place, **points, **more})
    return [cell for part in PARTS for cell in cells[part]]


def _list_cells(
    size: Size, activation: str, seeds: Sequence[int]
) -> list[tuple[str, Parameters]]:
    """Parts and what their cells have beside a place."""
    cells: list[tuple[str, Parameters]] = []
    cells += [("theory", {"sample_ratio": ratio}) for ratio in size.curve]
    descents = size.descents if activation == "softmax" else ()
    for instance in seeds[: size.num_instances]:
        drawn = {"size": size.size, "instance": instance}
        cells += [("descent", {"sample_ratio": ratio, **drawn}) for ratio in descents]
        cells += [
            ("simulation", {"sample_ratio": ratio, **drawn, "start": start})
            for ratio in size.dots
            for start in size.starts
        ]
    return cells


def compute(parameters: Parameters, workspace: Workspace) -> Outcome:
    """Solve the replica equations, train a head, or descend, at one point."""
    names = ("task", "activation", "ridge", "sample_ratio", "num_points")
    predicted = predict(*(parameters[name] for name in names))
    if parameters["part"] == "theory":
        return Outcome([predicted])
    if parameters["part"] == "descent":
        return Outcome(_descend(parameters, predicted))
    return Outcome([_simulate(parameters, predicted, workspace)])


@functools.cache
def predict(
    task: str, activation: str, ridge: str, sample_ratio: float, num_points: int
) -> Row:
    """Solve the replica equations at the named ridge, which may be the best one.

    Parameters
    ----------
    task : a key of `TASKS`
    activation : "softmax" or "linear"
    ridge : "best", or the number of both ridges
    sample_ratio : alpha > 0
    num_points : Sobol points of the average over one sample
    """
    what = TASKS[task], activation, sample_ratio
    if ridge == BEST:
        best = optimal_ridge(*what, num_points=num_points)
        ridges, found = (best.ridge_k, best.ridge_v), best.solution
    else:
        ridges = (float(ridge), float(ridge))
        found = replica.solve(*what, *ridges, num_points=num_points)
    return {
        "task": task,
        "activation": activation,
        "ridge": ridge,
        "sample_ratio": sample_ratio,
        "ridge_k": ridges[0],
        "ridge_v": ridges[1],
        "test_risk": found.test_risk,
        "training_loss": found.training_loss,
        "energy": found.energy,
        **{name: getattr(found.overlaps, name) for name in _OVERLAPS},
        "variance_k": found.variance_k,
        "variance_v": found.variance_v,
        "replicon": found.replicon,
        "multistable_fraction": found.multistable_fraction,
        "residual": found.residual,
        "is_trusted": found.is_trusted,
        "status": found.status,
    }


def _setup(parameters: Parameters, predicted: Row) -> tuple[Any, ...]:
    """Arguments that all algorithms share."""
    ratio = parameters["sample_ratio"]
    dim = round(parameters["size"] / math.sqrt(ratio))
    place = TASKS[parameters["task"]], parameters["activation"], dim, ratio
    return _key(), *place, predicted["ridge_k"], predicted["ridge_v"]


def _key() -> Array:
    # The largest texts take 1.2 GB. Drawing them with threefry takes four times that,
    # with this generator only a half more.
    return jax.random.key(0, impl="rbg")


def _simulate(parameters: Parameters, predicted: Row, workspace: Workspace) -> Row:
    """Train one head, and set the prediction beside it."""
    setup = _setup(parameters, predicted)
    dim = setup[3]
    found = erm.fit(
        *setup,
        init=parameters["start"],
        first_instance=parameters["instance"],
        batch_size=1,
        tol=_TOL,
        progress=lambda now: workspace.save(now.state),
        progress_steps=_SAVE_STEPS,
        state=_saved(workspace, dim),
    )
    return {
        **_place(parameters, predicted, dim),
        "start": parameters["start"],
        **_measured(found),
        "predicted_test_risk": predicted["test_risk"],
        "predicted_training_loss": predicted["training_loss"],
        "is_trusted": predicted["is_trusted"],
    }


def _descend(parameters: Parameters, predicted: Row) -> list[Row]:
    """Minimise by three algorithms on the same texts."""
    setup, instance = _setup(parameters, predicted), parameters["instance"]
    found = {"quasi-Newton": erm.fit(*setup, first_instance=instance)}
    for name, settings in _DESCENTS.items():
        numbers = {"instance": instance, "num_records": 1, **settings}
        found[name] = gradient_flow.descend(*setup, **numbers).fit
    place = _place(parameters, predicted, setup[3])
    return [
        {**place, "algorithm": name, **_measured(fit)} for name, fit in found.items()
    ]


def _place(parameters: Parameters, predicted: Row, dim: int) -> Row:
    names = ("task", "activation", "ridge", "sample_ratio", "ridge_k", "ridge_v")
    place = {name: predicted[name] for name in names}
    return {**place, "dim": dim, "instance": parameters["instance"]}


def _measured(found: erm.ErmFit) -> Row:
    overlaps = (*_OVERLAPS, "m_kv", "m_vk", "q_kv")
    return {
        "test_risk": found.test_risk,
        "training_loss": found.training_loss,
        "energy": found.energy,
        **{name: getattr(found.overlaps, name) for name in overlaps},
        "gradient": found.gradient,
        "num_steps": found.num_steps,
        "is_converged": found.is_converged,
    }


def _saved(workspace: Workspace, dim: int) -> erm.Descent | None:
    with jax.enable_x64(True):
        return workspace.load(erm.blank_state(dim))


def collect(results: Sequence[CellResult]) -> dict[str, bytes]:
    """Put each part into its table."""
    return {
        f"{part}.csv": csv_bytes(
            [
                row
                for cell in results
                if cell.parameters["part"] == part
                for row in cell.rows
            ]
        )
        for part in PARTS
    }


EXPERIMENT = Experiment(
    name="finite-samples",
    description="Test risk against sample ratio: replica theory and trained heads.",
    version=1,
    num_seeds={"quick": 2, "full": 4},
    grid=grid,
    compute=compute,
    collect=collect,
)
