"""An experiment whose cells are instant and remember that they were computed."""

from collections.abc import Sequence

from sharp_attention.experiments.files import csv_bytes
from sharp_attention.experiments.records import (
    CellResult,
    Experiment,
    Outcome,
    Parameters,
    Plan,
    Scale,
)
from sharp_attention.experiments.workspace import Workspace

__all__ = ["COMPUTED", "EXPERIMENT", "experiment", "plan"]

COMPUTED: list[Parameters] = []
"""The cells that were computed in this process since the list was last cleared."""


def grid(scale: Scale, seeds: Sequence[int]) -> list[Parameters]:
    sizes = {"quick": (1, 2), "full": (1, 2, 3)}[scale]
    return [{"size": size, "seed": seed} for size in sizes for seed in seeds]


def compute(parameters: Parameters, workspace: Workspace) -> Outcome:
    COMPUTED.append(parameters)
    size, seed = parameters["size"], parameters["seed"]
    return Outcome(
        rows=[{"size": size, "seed": seed, "third": (size + seed) / 3}],
        files={"weights.bin": bytes([size, seed])},
    )


def collect(results: Sequence[CellResult]) -> dict[str, bytes]:
    weights = [result.files["weights.bin"].read_bytes() for result in results]
    return {
        "table.csv": csv_bytes([row for result in results for row in result.rows]),
        "weights/all.bin": b"".join(weights),
    }


def experiment(**changes: object) -> Experiment:
    """Return the toy experiment with some of its fields changed."""
    fields = {
        "name": "toy",
        "description": "Thirds.",
        "version": 1,
        "num_seeds": {"quick": 2, "full": 3},
        "grid": grid,
        "compute": compute,
        "collect": collect,
    }
    return Experiment(**(fields | changes))


EXPERIMENT = experiment()


def plan(output: object, **changes: object) -> Plan:
    """Return a quick plan for the toy experiment with some of its fields changed."""
    fields = {
        "experiment": EXPERIMENT,
        "scale": "quick",
        "num_seeds": None,
        "device": "cpu",
        "output": output,
    }
    return Plan(**(fields | changes))
