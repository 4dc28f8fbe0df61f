"""Table 1 of "Softmax is not Enough": retrieve the maximum of ever larger sets.

A model is trained on small sets and tested on sets of 16 to 16384 items, with plain
softmax and with adaptive temperature on the same weights and the same sets.
The main arm has ten seeds; the others vary what the sources leave open: the length of
training, sets of always 16 against sizes 5 to 16, ReLU against GELU.
"""

import io
from collections.abc import Callable, Sequence
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Shaped
from safetensors.numpy import save as safetensors_bytes

from sharp_attention._checks import require
from sharp_attention.attention import activations, entropy, temperature
from sharp_attention.experiments.files import Row, csv_bytes
from sharp_attention.experiments.records import (
    CellResult,
    Experiment,
    Outcome,
    Parameters,
    Scale,
)
from sharp_attention.experiments.training import STEPS_PER_LOSS, TrainingRecipe, train
from sharp_attention.experiments.workspace import Workspace
from sharp_attention.models import set_attention
from sharp_attention.tasks import max_retrieval

__all__ = ["EXPERIMENT", "RULES", "evaluate", "heat_map"]

RULES: dict[str, Callable[..., Array]] = {
    "softmax": activations.softmax,
    "adaptive": temperature.adaptive_softmax,
}
"""The maps from logits to weights that are put to the same weights and sets."""

NUM_ITEMS = {"quick": (16, 64, 256), "full": tuple(2**p for p in range(4, 15))}
MAIN = {"num_steps": 100_000, "smallest_size": 5, "activation": "gelu"}

_TEST_SEED = 2**20
"""Test sets are drawn from here on: no training run has this seed."""

_ITEMS_PER_BLOCK = 2**15


def grid(scale: Scale, seeds: Sequence[int]) -> list[Parameters]:
    """Return one cell for each training run."""
    if scale == "quick":
        recipes = [MAIN | {"num_steps": 1500}]
        return [{"scale": scale, **r, "seed": s} for r in recipes for s in seeds]
    lengths = [
        {"num_steps": steps, "smallest_size": smallest, "activation": "gelu"}
        for smallest in (5, 16)
        for steps in (5_000, 10_000, 20_000)
    ]
    rectified = [
        {"num_steps": 10_000, "smallest_size": smallest, "activation": "relu"}
        for smallest in (5, 16)
    ]
    side = [arm | {"seed": seed} for arm in lengths + rectified for seed in seeds[:3]]
    main = [MAIN | {"seed": seed} for seed in seeds]
    return [{"scale": scale, **cell} for cell in main + side]


def compute(parameters: Parameters, workspace: Workspace) -> Outcome:
    """Train one model and test it at every size."""
    arm = {name: parameters[name] for name in (*MAIN, "seed")}
    model, losses = train(TrainingRecipe(**arm), workspace=workspace)
    rows = [
        {**arm, **row}
        for num_items in NUM_ITEMS[parameters["scale"]]
        for row in evaluate(model, num_items, _num_sets(parameters, num_items))
    ]
    files = {}
    if parameters["num_steps"] == MAIN["num_steps"]:
        files["model.safetensors"] = weights_bytes(model)
        files["losses.csv"] = csv_bytes(_loss_rows(parameters["seed"], losses))
        if parameters["seed"] == 0:
            files["heat-map.npz"] = _heat_map_bytes(model)
    return Outcome(rows, files)


def evaluate(
    model: set_attention.SetAttention,
    num_items: int,
    num_sets: int,
    *,
    seed: int = _TEST_SEED,
) -> list[Row]:
    """Test a model on fresh sets of one size: one row for each rule.

    Parameters
    ----------
    model : trained
    num_items : size of the sets
    num_sets : how many; the sets depend on the size and the seed alone
    seed : of the sets

    Returns
    -------
    rows with the number of sets that are classified right, the number whose largest
    logit belongs to the true maximum, and means over the sets of entropy (nats) and
    top weight under the rule, of the weight of the true maximum, and of the spread
    """
    per_block = max(1, min(num_sets, _ITEMS_PER_BLOCK // num_items))
    whole = num_sets % per_block == 0
    require(whole, "num_sets", f"a multiple of {per_block}", num_sets)
    key = jax.random.fold_in(jax.random.key(seed), num_items)
    keys = jax.random.split(key, num_sets // per_block)
    table = jax.device_get(_measure(model, keys, per_block, num_items))
    return [
        {
            "num_items": num_items,
            "rule": rule,
            "num_sets": num_sets,
            "correct": int(np.sum(columns["correct"])),
            "top_is_maximum": int(np.sum(columns["top_is_maximum"])),
            **{
                name: float(np.mean(columns[name], dtype=np.float64))
                for name in ("top_weight", "maximum_weight", "entropy", "spread")
            },
        }
        for rule, columns in table.items()
    ]


@partial(jax.jit, static_argnames=("num_sets", "num_items"))
def _measure(
    model: set_attention.SetAttention, keys: Array, num_sets: int, num_items: int
) -> dict[str, dict[str, Shaped[Array, "blocks sets"]]]:
    def block(key: Array) -> dict[str, dict[str, Array]]:
        sets = max_retrieval.sample(key, num_sets, num_items)
        return {rule: _measure_sets(model, sets, rule) for rule in RULES}

    return jax.lax.map(block, keys)


def _measure_sets(
    model: set_attention.SetAttention, sets: max_retrieval.Sets, rule: str
) -> dict[str, Shaped[Array, " sets"]]:
    items = max_retrieval.item_features(sets)
    output = model(items, sets.query, weights=RULES[rule])
    logits, weights = output.attention_logits, output.weights
    winner = sets.winner[:, None]
    return {
        "correct": jnp.argmax(output.class_logits, axis=-1) == sets.target,
        "top_is_maximum": jnp.argmax(logits, axis=-1) == winner[:, 0],
        "top_weight": jnp.max(weights, axis=-1),
        "maximum_weight": jnp.take_along_axis(weights, winner, axis=-1)[:, 0],
        "entropy": entropy.entropy(jnp.log(weights)),
        "spread": jnp.max(logits, axis=-1) - jnp.min(logits, axis=-1),
    }


def heat_map(
    model: set_attention.SetAttention, num_items: int, rule: str, *, num_sets: int = 32
) -> np.ndarray:
    """Weights on the 16 items of largest priority, the maximum last.

    Parameters
    ----------
    model : trained
    num_items : size of the sets, at least 16
    rule : "softmax" or "adaptive"
    num_sets : how many sets

    Returns
    -------
    (num_sets, 16) weights: one panel of the paper's figure 2
    """
    key = jax.random.fold_in(jax.random.key(_TEST_SEED), num_items)
    sets = max_retrieval.sample(key, num_sets, num_items)
    items = max_retrieval.item_features(sets)
    weights = model(items, sets.query, weights=RULES[rule]).weights
    order = jnp.argsort(sets.priority, axis=-1)[:, -16:]
    return np.asarray(jnp.take_along_axis(weights, order, axis=-1))


def weights_bytes(model: set_attention.SetAttention) -> bytes:
    """Put the parameters of a model into the safetensors format."""
    return safetensors_bytes(model.to_arrays())


def collect(results: Sequence[CellResult]) -> dict[str, bytes]:
    """Put all runs into one table; the weights and losses of the main arm beside it."""
    files = {"accuracy.csv": csv_bytes([row for cell in results for row in cell.rows])}
    losses = [cell.files["losses.csv"] for cell in results if cell.files]
    if losses:
        header = losses[0].read_bytes().splitlines(keepends=True)[:1]
        lines = [line for f in losses for line in f.read_bytes().splitlines(True)[1:]]
        files["losses.csv"] = b"".join(header + lines)
    for cell in results:
        if "model.safetensors" in cell.files:
            name = f"weights/seed-{cell.parameters['seed']}.safetensors"
            files[name] = cell.files["model.safetensors"].read_bytes()
        if "heat-map.npz" in cell.files:
            files["heat-map.npz"] = cell.files["heat-map.npz"].read_bytes()
    return files


def _num_sets(parameters: Parameters, num_items: int) -> int:
    if parameters["scale"] == "quick":
        return 512
    return 2048 if num_items <= 1024 else 1024


def _loss_rows(seed: int, losses: np.ndarray) -> list[Row]:
    return [
        {"seed": seed, "step": (place + 1) * STEPS_PER_LOSS, "loss": float(loss)}
        for place, loss in enumerate(losses)
    ]


def _heat_map_bytes(model: set_attention.SetAttention) -> bytes:
    panels = {
        f"{rule}-{num_items}": heat_map(model, num_items, rule).astype(np.float16)
        for rule in RULES
        for num_items in NUM_ITEMS["full"][:8]
    }
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **panels)  # type: ignore[arg-type]
    return buffer.getvalue()


EXPERIMENT = Experiment(
    name="max-retrieval",
    description="Accuracy of max retrieval from 16 to 16384 items under two rules.",
    version=1,
    num_seeds={"quick": 1, "full": 10},
    grid=grid,
    compute=compute,
    collect=collect,
)
