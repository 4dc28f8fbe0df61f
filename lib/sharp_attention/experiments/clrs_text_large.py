"""The experiment `clrs_text` at the scale of a GPU: longer, wider, five seeds of all.

The same code with another grid, and a name of its own because ``full`` means the
artefact that the book ships: this one is not shipped and has not been run.
It needs nothing but the library and the generator::

    sharp-attention reproduce clrs-text-large --device gpu --resume
"""

import dataclasses
from collections.abc import Sequence

from sharp_attention.experiments import clrs_text
from sharp_attention.experiments.records import Experiment, Parameters, Scale

__all__ = ["EXPERIMENT"]

_MODEL = {"batch": 256, "dim": 256, "num_layers": 4, "num_heads": 8}
_SCHEDULE = {"num_steps": 30_000, "texts_per_size": 200_000, "learning_rate": 1e-3}


def grid(scale: Scale, seeds: Sequence[int]) -> Sequence[Parameters]:
    """Return one cell for each task and seed; ``quick`` is that of `clrs_text`."""
    if scale == "quick":
        return clrs_text.EXPERIMENT.grid(scale, seeds)
    return [
        {"scale": scale, "algorithm": task, "seed": seed, **_MODEL, **_SCHEDULE}
        for task in clrs_text.TASKS
        for seed in seeds
    ]


EXPERIMENT: Experiment = dataclasses.replace(
    clrs_text.EXPERIMENT,
    name="clrs-text-large",
    description="CLRS-Text from 4 to 32 items, three arms, at the scale of a GPU.",
    grid=grid,
)
