"""Max retrieval, trained again with each way out of the dispersion theorem.

The model, the data and the recipe are those of `max_retrieval`, in its short form:
5000 steps on sets of 5 to 16 items.  Runs of one seed start from the same weights and
see the same sets in the same order, whatever map turns logits into weights.
Each is tested at 16 to 16384 items; the model trained with softmax also with other
maps put in its place at test time only, to tell what retraining adds.

Of the maps in `attention`, three are not here: `windowed` sees a fixed number of places
and is right by chance on all others; `selective` needs what tokens say of each other,
where a set has one query; `discontinuous_feed_forward` is no map to weights.
Stick-breaking is here although a set has no order: it shows what order costs.
"""

import math
from collections.abc import Sequence
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Shaped

from sharp_attention.attention import activations, escapes, temperature
from sharp_attention.experiments.files import Row, csv_bytes
from sharp_attention.experiments.max_retrieval import weights_bytes
from sharp_attention.experiments.records import (
    CellResult,
    Experiment,
    Outcome,
    Parameters,
    Scale,
)
from sharp_attention.experiments.training import STEPS_PER_LOSS, TrainingRecipe, train
from sharp_attention.experiments.workspace import Workspace
from sharp_attention.models.set_attention import SetAttention, Weights
from sharp_attention.tasks import max_retrieval

__all__ = ["EXPERIMENT", "LARGEST_TRAINED", "MAPS", "SWAPPED", "evaluate"]

LARGEST_TRAINED = 16
"""Largest number of items in training; maps that know n are softmax or usual there."""


MAPS: dict[str, Weights] = {
    "softmax": activations.softmax,
    "adaptive": temperature.adaptive_softmax,
    "log-n": partial(
        activations.scalable_softmax, scale=1.0 / math.log(LARGEST_TRAINED)
    ),
    "entmax-1.5": activations.entmax,
    "sparsemax": activations.sparsemax,
    "top-4": partial(escapes.top_k, num_kept=4),
    "hard": escapes.hard,
    "sigmoid": partial(activations.sigmoid, bias=-math.log(LARGEST_TRAINED)),
    "linear": activations.linear,
    "stick-breaking": activations.stick_breaking,
}
"""The maps that are trained, each an arm of the experiment."""

SWAPPED = ("adaptive", "log-n", "entmax-1.5", "sparsemax", "top-4", "hard")
"""Maps put in the place of softmax at test time only."""

NUM_ITEMS = {"quick": (16, 64, 256), "full": (16, 64, 256, 1024, 4096, 16384)}
NUM_STEPS = {"quick": 300, "full": 5_000}
SHIPPED_WEIGHTS = ("log-n", "entmax-1.5")

_TEST_SEED = 2**20
_ITEMS_PER_BLOCK = 2**15


def grid(scale: Scale, seeds: Sequence[int]) -> list[Parameters]:
    """Return one cell for each training run."""
    maps = ("softmax", "entmax-1.5", "sigmoid") if scale == "quick" else tuple(MAPS)
    return [
        {"scale": scale, "trained": name, "seed": seed}
        for seed in seeds
        for name in maps
    ]


def compute(parameters: Parameters, workspace: Workspace) -> Outcome:
    """Train one model with one map and test it at every size."""
    scale, name, seed = (parameters[key] for key in ("scale", "trained", "seed"))
    recipe = TrainingRecipe(seed, num_steps=NUM_STEPS[scale])
    model, losses = train(recipe, weights=MAPS[name], workspace=workspace)
    arm = {"trained": name, "seed": seed, "num_steps": recipe.num_steps}
    tested = (name, *SWAPPED) if name == "softmax" else (name,)
    rows = [
        {**arm, **row}
        for num_items in NUM_ITEMS[scale]
        for row in evaluate(model, tested, num_items, _num_sets(scale, num_items), seed)
    ]
    files = {"losses.csv": csv_bytes(_loss_rows(name, seed, losses))}
    if seed == 0 and name in SHIPPED_WEIGHTS:
        files["model.safetensors"] = weights_bytes(model)
    return Outcome(rows, files)


def evaluate(
    model: SetAttention,
    tested: Sequence[str],
    num_items: int,
    num_sets: int,
    seed: int,
) -> list[Row]:
    """Test a model on fresh sets of one size: one row for each map of `MAPS`.

    Parameters
    ----------
    model : trained
    tested : names in `MAPS`, all put to the same sets
    num_items : size of the sets
    num_sets : how many
    seed : of the training; each seed has test sets of its own, so that intervals over
        seeds know of both, and no training has met them

    Returns
    -------
    rows with the number of sets that are classified right, the number whose largest
    logit belongs to the true maximum, and means over the sets of the weight of the
    true maximum and of its share in the sum of all absolute weights
    """
    per_block = max(1, min(num_sets, _ITEMS_PER_BLOCK // num_items))
    key = jax.random.fold_in(jax.random.key(_TEST_SEED + seed), num_items)
    keys = jax.random.split(key, -(-num_sets // per_block))
    table = jax.device_get(_measure(model, keys, tuple(tested), per_block, num_items))
    count = len(keys) * per_block
    return [
        {
            "tested": name,
            "num_items": num_items,
            "num_sets": count,
            "correct": int(np.sum(columns["correct"])),
            "top_is_maximum": int(np.sum(columns["top_is_maximum"])),
            "maximum_weight": float(np.mean(columns["weight"], dtype=np.float64)),
            "maximum_share": float(np.mean(columns["share"], dtype=np.float64)),
        }
        for name, columns in table.items()
    ]


@partial(jax.jit, static_argnames=("tested", "num_sets", "num_items"))
def _measure(
    model: SetAttention,
    keys: Array,
    tested: tuple[str, ...],
    num_sets: int,
    num_items: int,
) -> dict[str, dict[str, Shaped[Array, "blocks sets"]]]:
    def block(key: Array) -> dict[str, dict[str, Array]]:
        sets = max_retrieval.sample(key, num_sets, num_items)
        return {name: _measure_sets(model, sets, MAPS[name]) for name in tested}

    return jax.lax.map(block, keys)


def _measure_sets(
    model: SetAttention, sets: max_retrieval.Sets, weights: Weights
) -> dict[str, Shaped[Array, " sets"]]:
    items = max_retrieval.item_features(sets)
    output = model(items, sets.query, weights=weights)
    size = jnp.abs(output.weights)
    of_maximum = jnp.take_along_axis(size, sets.winner[:, None], axis=-1)[:, 0]
    total = jnp.sum(size, axis=-1)
    return {
        "correct": jnp.argmax(output.class_logits, axis=-1) == sets.target,
        "top_is_maximum": jnp.argmax(output.attention_logits, axis=-1) == sets.winner,
        "weight": of_maximum,
        "share": of_maximum / jnp.where(total == 0, 1.0, total),
    }


def collect(results: Sequence[CellResult]) -> dict[str, bytes]:
    """Put all runs into one table, their losses into another; two models beside it."""
    rows = [row for cell in results for row in cell.rows]
    tables = [cell.files["losses.csv"].read_bytes() for cell in results]
    header = tables[0].splitlines(keepends=True)[:1]
    lines = [line for table in tables for line in table.splitlines(keepends=True)[1:]]
    files = {
        "accuracy.csv": csv_bytes(rows),
        "losses.csv": b"".join(header + lines),
    }
    for cell in results:
        if "model.safetensors" in cell.files:
            path = f"weights/{cell.parameters['trained']}.safetensors"
            files[path] = cell.files["model.safetensors"].read_bytes()
    return files


def _num_sets(scale: str, num_items: int) -> int:
    if scale == "quick":
        return 256
    return 2048 if num_items <= 1024 else 512


def _loss_rows(name: str, seed: int, losses: np.ndarray) -> list[Row]:
    return [
        {
            "trained": name,
            "seed": seed,
            "step": (place + 1) * STEPS_PER_LOSS,
            "loss": float(loss),
        }
        for place, loss in enumerate(losses)
    ]


EXPERIMENT = Experiment(
    name="escapes",
    description="Max retrieval trained with each way out of the dispersion theorem.",
    version=1,
    num_seeds={"quick": 1, "full": 3},
    grid=grid,
    compute=compute,
    collect=collect,
)
