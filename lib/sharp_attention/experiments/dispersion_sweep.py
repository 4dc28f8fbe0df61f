"""How the largest weight and the entropy move with the number of items.

Each cell draws one row of logits, uniform on [0, 5], and holds what is measured
against what is proved: Lemma 2.1 in its first and in its attained form, and the
floor of the entropy. Two rules meet on the same row: plain softmax, and adaptive
temperature, which sharpens the row before the same bounds apply to it.
Everything is computed in float64.
"""

import itertools
from collections.abc import Sequence

import jax
import numpy as np

from sharp_attention._typing import Float64
from sharp_attention.attention import activations, entropy, temperature
from sharp_attention.experiments.files import Row, csv_bytes
from sharp_attention.experiments.records import (
    CellResult,
    Experiment,
    Outcome,
    Parameters,
    Scale,
)
from sharp_attention.experiments.workspace import Workspace
from sharp_attention.theory import dispersion

__all__ = ["EXPERIMENT"]

SPREAD = 5.0
"""Width of the interval of the logits: near the mean of what Gemma 2B shows (5.7)."""

NUM_ITEMS = tuple(2**power for power in range(4, 15))
"""16 to 16384, as in the paper's tables."""

TEMPERATURES = {"quick": (0.5, 1.0), "full": (0.25, 0.5, 1.0, 2.0)}


def grid(scale: Scale, seeds: Sequence[int]) -> list[Parameters]:
    """Return the cells: every size at every temperature for every seed."""
    cells = itertools.product(NUM_ITEMS, TEMPERATURES[scale], seeds)
    return [
        {"num_items": num_items, "temperature": theta, "seed": seed}
        for num_items, theta, seed in cells
    ]


def compute(parameters: Parameters, workspace: Workspace) -> Outcome:
    """Measure one row of logits under both rules, and bound what was measured."""
    theta = parameters["temperature"]
    with jax.enable_x64(True):
        logits = draw_logits(parameters["num_items"], parameters["seed"])
        plain_entropy = entropy.entropy(logits / theta)
        sharpening = float(temperature.inverse_temperature(plain_entropy))
        rows = [
            {"rule": rule, **parameters, **measure(logits, theta / factor)}
            for rule, factor in (("softmax", 1.0), ("adaptive", sharpening))
        ]
    return Outcome(rows)


def draw_logits(num_items: int, seed: int) -> Float64:
    """Draw `num_items` logits, uniform on [0, SPREAD]; the same at any temperature.

    The row is filled up with −inf, which masks a key, to the largest size: JAX then
    compiles once instead of once for each size.
    """
    generator = np.random.default_rng([seed, num_items])
    logits = np.full(NUM_ITEMS[-1], -np.inf)
    logits[:num_items] = generator.uniform(0.0, SPREAD, num_items)
    return logits


def measure(logits: Float64, effective_temperature: float) -> Row:
    """Return what softmax does at `effective_temperature`, and what it may do."""
    is_item = np.isfinite(logits)
    weights = np.asarray(activations.softmax(logits, temperature=effective_temperature))
    width, num_items = float(dispersion.spread(logits)), int(is_item.sum())
    limits = (width, num_items, effective_temperature)
    lower, upper = dispersion.weight_bounds(*limits)
    sharp_lower, sharp_upper = dispersion.sharp_weight_bounds(*limits)
    measured = {
        "inverse_temperature": 1.0 / effective_temperature,
        "spread": width,
        "top_weight": float(weights.max()),
        "lowest_weight": float(weights[is_item].min()),
        "entropy": float(entropy.entropy(logits / effective_temperature)),
    }
    proved = {
        "lower_bound": lower,
        "upper_bound": upper,
        "sharp_lower_bound": sharp_lower,
        "sharp_upper_bound": sharp_upper,
        "entropy_floor": dispersion.entropy_floor(*limits),
    }
    return measured | {name: float(bound) for name, bound in proved.items()}


def collect(results: Sequence[CellResult]) -> dict[str, bytes]:
    """Put the rows of all cells into one table."""
    return {"dispersion.csv": csv_bytes([row for cell in results for row in cell.rows])}


EXPERIMENT = Experiment(
    name="dispersion-sweep",
    description="Top weight and entropy against the number of items, with bounds.",
    version=1,
    num_seeds={"quick": 2, "full": 5},
    grid=grid,
    compute=compute,
    collect=collect,
)
