"""Figure 3: test risk against sample ratio, predicted and measured.

Three tasks (spiked with signal 1 and 2, max with infinite signal) with three tokens,
softmax and linear attention, at a fixed ridge and at the pair of ridges that the theory
finds best. A theory cell solves the replica equations at one sample ratio; a simulation
cell trains one head there, at N D = size^2, so that every one costs about the same.
"""

import functools
import math
from collections.abc import Sequence
from typing import NamedTuple

import jax

from sharp_attention.algorithms import erm
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

__all__ = ["BEST", "EXPERIMENT", "TASKS"]

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
_SAVE_STEPS = 10


class Size(NamedTuple):
    """What a scale runs at one kind of ridge.

    Attributes
    ----------
    ridge : "best" or a number
    curve : sample ratios of the theory
    dots : sample ratios that are simulated
    size : sqrt(N D) of a simulation
    num_instances : most instances of a dot; a run has one for each seed up to that
    """

    ridge: str
    curve: tuple[float, ...]
    dots: tuple[float, ...] = ()
    size: int = 0
    num_instances: int = 0


_DOTS = (1.0, 2.0, 4.0, 8.0, 14.0, 20.0)
_LINE = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, *(float(n) for n in range(4, 21)))
_COARSE = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 11.0, 14.0, 17.0, 20.0)

SIZES: dict[Scale, tuple[Size, ...]] = {
    "quick": (
        Size("1", (1.0, 2.0, 4.0, 8.0, 20.0), (2.0, 8.0), 400, 2),
        Size(BEST, (8.0,)),
    ),
    "full": (
        Size("1", _LINE, _DOTS, 10_000, 1),
        Size("0.1", _LINE),
        Size(BEST, _COARSE, _DOTS, 3_000, 1_000),
    ),
}
POINTS: dict[Scale, int] = {"quick": 2**11, "full": 2**14}
NAMES: dict[Scale, tuple[str, ...]] = {"quick": ("spiked 1",), "full": tuple(TASKS)}


def grid(scale: Scale, seeds: Sequence[int]) -> list[Parameters]:
    """Return the cells: the whole theory first, then the simulations."""
    theory, simulations = [], []
    for task in NAMES[scale]:
        for activation in ACTIVATIONS:
            for size in SIZES[scale]:
                place = {"task": task, "activation": activation, "ridge": size.ridge}
                for ratio in size.curve:
                    theory.append(_cell("theory", place, ratio, scale))
                for ratio in size.dots:
                    cell = _cell("simulation", place, ratio, scale)
                    for seed in seeds[: size.num_instances]:
                        number = {"size": size.size, "instance": seed}
                        simulations.append({**cell, **number})
    return theory + simulations


def _cell(
    part: str, place: dict[str, str], sample_ratio: float, scale: Scale
) -> dict[str, str | float]:
    return {
        "part": part,
        **place,
        "sample_ratio": sample_ratio,
        "num_points": POINTS[scale],
    }


def compute(parameters: Parameters, workspace: Workspace) -> Outcome:
    """Solve the replica equations, or train a head, at one point."""
    place = [parameters[name] for name in ("task", "activation", "ridge")]
    numbers = parameters["sample_ratio"], parameters["num_points"]
    predicted = predict(*place, *numbers)
    if parameters["part"] == "theory":
        return Outcome([predicted])
    return Outcome([_simulate(parameters, predicted, workspace)])


@functools.lru_cache(maxsize=8)
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
        "m_k": found.overlaps.m_k,
        "q_k": found.overlaps.q_k,
        "m_v": found.overlaps.m_v,
        "q_v": found.overlaps.q_v,
        "variance_k": found.variance_k,
        "variance_v": found.variance_v,
        "replicon": found.replicon,
        "multistable_fraction": found.multistable_fraction,
        "residual": found.residual,
        "is_trusted": found.is_trusted,
        "status": found.status,
    }


def _simulate(parameters: Parameters, predicted: Row, workspace: Workspace) -> Row:
    """Train one head from the informed start, and set the prediction beside it."""
    ratio, size = parameters["sample_ratio"], parameters["size"]
    dim = round(size / math.sqrt(ratio))
    found = erm.fit(
        jax.random.key(0),
        TASKS[parameters["task"]],
        parameters["activation"],
        dim,
        ratio,
        predicted["ridge_k"],
        predicted["ridge_v"],
        first_instance=parameters["instance"],
        batch_size=1,
        progress=lambda now: workspace.save(now.state),
        progress_steps=_SAVE_STEPS,
        state=_saved(workspace, dim),
    )
    place = ("task", "activation", "ridge", "sample_ratio", "ridge_k", "ridge_v")
    overlaps = ("m_k", "q_k", "m_v", "q_v", "m_kv", "m_vk", "q_kv")
    return {
        **{name: predicted[name] for name in place},
        "dim": dim,
        "instance": parameters["instance"],
        "test_risk": found.test_risk,
        "training_loss": found.training_loss,
        "energy": found.energy,
        **{name: getattr(found.overlaps, name) for name in overlaps},
        "gradient": found.gradient,
        "num_steps": found.num_steps,
        "is_converged": found.is_converged,
        "predicted_test_risk": predicted["test_risk"],
        "predicted_training_loss": predicted["training_loss"],
        "is_trusted": predicted["is_trusted"],
    }


def _saved(workspace: Workspace, dim: int) -> erm.Descent | None:
    with jax.enable_x64(True):
        return workspace.load(erm.blank_state(dim))


def collect(results: Sequence[CellResult]) -> dict[str, bytes]:
    """Put the theory into one table and the simulations into another."""
    return {
        f"{part}.csv": csv_bytes(
            [
                row
                for cell in results
                if cell.parameters["part"] == part
                for row in cell.rows
            ]
        )
        for part in ("theory", "simulation")
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
