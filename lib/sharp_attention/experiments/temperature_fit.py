"""Fit the adaptive rule to our own trained models, and judge it on others.

The paper's polynomial was fitted to a trained max-retrieval model, on inputs where
the true maximum does not get the largest weight; sizes, number of inputs and data
are not known.
Here the same is done with the shipped weights of `max_retrieval`: the polynomial is
fitted on the first half of the seeds and judged on the second, beside the printed
one and plain softmax, on the same weights and the same sets.
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float
from safetensors.numpy import load as load_safetensors

from sharp_attention._checks import require
from sharp_attention._typing import Float64
from sharp_attention.attention import activations, temperature
from sharp_attention.attention.entropy import entropy as row_entropy
from sharp_attention.experiments import places
from sharp_attention.experiments.files import Row, csv_bytes
from sharp_attention.experiments.records import (
    CellResult,
    Experiment,
    Outcome,
    Parameters,
    Scale,
)
from sharp_attention.experiments.workspace import Workspace
from sharp_attention.models.set_attention import SetAttention
from sharp_attention.tasks import max_retrieval

__all__ = ["EXPERIMENT", "RULES", "collect_pairs", "judge", "load_model"]

RULES = ("softmax", "published", "fitted")
"""What is judged: no adaptation, the paper's polynomial, ours."""

NUM_ITEMS = {"quick": (64, 1024), "full": (16, 64, 256, 1024, 4096, 16384)}

PAIRS_PER_SIZE = 64
"""So many of a model's misranked sets of one size enter the fit, the first ones."""

_PAIR_SEED, _JUDGE_SEED = 2**21, 2**22
"""Sets are drawn from here on: neither training nor the main experiment uses them."""

_ITEMS_PER_BLOCK = 2**15


def grid(scale: Scale, seeds: Sequence[int]) -> list[Parameters]:
    """Return one cell: the fit needs all of its models before any can be judged."""
    found = [_weights_file(seed) for seed in seeds]
    digest = hashlib.sha256(b"".join(f.read_bytes() for f in found if f.is_file()))
    weights = digest.hexdigest()[:16]
    return [{"scale": scale, "num_seeds": len(seeds), "weights": weights}]


def compute(parameters: Parameters, workspace: Workspace) -> Outcome:
    """Collect pairs, fit on the first half of the seeds, judge on the second."""
    num_seeds, sizes = parameters["num_seeds"], NUM_ITEMS[parameters["scale"]]
    require(num_seeds >= 2, "seeds", "two at least, to fit and to judge", num_seeds)
    models = [load_model(seed) for seed in range(num_seeds)]
    half = num_seeds // 2
    pairs = [
        {"seed": seed, "num_items": num_items, "entropy": entropy, "best": best}
        for seed in range(half)
        for num_items in sizes
        for entropy, best in collect_pairs(models[seed], num_items)
    ]
    fitted = fit([row["entropy"] for row in pairs], [row["best"] for row in pairs])
    rows = [
        {"seed": seed, **row}
        for seed in range(half, num_seeds)
        for num_items in sizes
        for row in judge(models[seed], num_items, tuple(fitted.tolist()))
    ]
    files = {"pairs.csv": csv_bytes(pairs), "fit.csv": csv_bytes(_fit_rows(fitted))}
    return Outcome(rows, files)


def load_model(seed: int) -> SetAttention:
    """Read the shipped weights of one seed of `max_retrieval`.

    Raises
    ------
    FileNotFoundError
        With the command that makes them.
    """
    path = _weights_file(seed)
    if not path.is_file():
        command = "sharp-attention reproduce max-retrieval"
        raise FileNotFoundError(f"{path} is missing; it is made by: {command}")
    return SetAttention.from_arrays(load_safetensors(path.read_bytes()))


def collect_pairs(model: SetAttention, num_items: int) -> list[tuple[float, float]]:
    """Find sets whose maximum is not in front, and the best temperature of each.

    Parameters
    ----------
    model : trained
    num_items : size of the sets; 2**19 / num_items of them, at least 64, are drawn

    Returns
    -------
    at most 64 pairs of entropy (nats, at temperature 1) and best inverse temperature
    """
    num_sets = max(64, 2**19 // num_items)
    keys = _keys(_PAIR_SEED, num_items, num_sets)
    logits, winner, misranked = jax.device_get(
        _logits(model, keys, num_sets // len(keys), num_items)
    )
    chosen = np.flatnonzero(misranked.ravel())[:PAIRS_PER_SIZE]
    if not chosen.size:
        return []
    logits = logits.reshape(-1, num_items)[chosen].astype(np.float64)
    target = winner.ravel()[chosen]
    best = np.asarray(temperature.optimal_inverse_temperature(logits, target))
    with jax.enable_x64(True):
        entropies = np.asarray(row_entropy(logits))
    # Six digits: the rest is noise of float32 logits.
    return [
        (round(float(h), 6), float(f"{beta:.6g}"))
        for h, beta in zip(entropies, best, strict=True)
    ]


def fit(entropies: Sequence[float], best: Sequence[float]) -> Float64:
    """Fit the polynomial of degree four to pairs whose best value is finite and >= 0.

    Below the plain mean of the logits the best inverse temperature is negative: such
    a row asks for the order to be turned round, and no temperature does that.
    """
    x, y = (np.asarray(column, dtype=np.float64) for column in (entropies, best))
    is_kept = np.isfinite(y) & (y >= 0)
    return temperature.fit_polynomial(x[is_kept], y[is_kept])


def judge(
    model: SetAttention, num_items: int, polynomial: tuple[float, ...]
) -> list[Row]:
    """Test a model under each rule on the same fresh sets of one size.

    Parameters
    ----------
    model : trained, best on other data than the polynomial was fitted on
    num_items : size of the sets
    polynomial : coefficients of the fitted rule, highest power first

    Returns
    -------
    a row for each rule: how many of how many sets are classified right, the mean
    weight of the true maximum
    """
    num_sets = int(np.clip(2**20 // num_items, 256, 2048))
    keys = _keys(_JUDGE_SEED, num_items, num_sets)
    table = jax.device_get(
        _judge(model, keys, num_sets // len(keys), num_items, polynomial)
    )
    return [
        {
            "num_items": num_items,
            "rule": rule,
            "num_sets": num_sets,
            "correct": int(table[rule]["correct"].sum()),
            "maximum_weight": float(table[rule]["weight"].mean(dtype=np.float64)),
        }
        for rule in RULES
    ]


def collect(results: Sequence[CellResult]) -> dict[str, bytes]:
    """Put down the pairs, the coefficients and the verdicts as three tables."""
    (cell,) = results
    files = {name: cell.files[name].read_bytes() for name in ("pairs.csv", "fit.csv")}
    return {"judged.csv": csv_bytes(cell.rows), **files}


def _weights_file(seed: int) -> Path:
    folder = places.shipped_folder("max-retrieval")
    return folder / "weights" / f"seed-{seed}.safetensors"


def _keys(seed: int, num_items: int, num_sets: int) -> Array:
    """Return a random key for each block of sets."""
    per_block = max(1, min(num_sets, _ITEMS_PER_BLOCK // num_items))
    key = jax.random.fold_in(jax.random.key(seed), num_items)
    return jax.random.split(key, num_sets // per_block)


@partial(jax.jit, static_argnames=("num_sets", "num_items"))
def _logits(
    model: SetAttention, keys: Array, num_sets: int, num_items: int
) -> tuple[Float[Array, "blocks sets items"], Array, Bool[Array, "blocks sets"]]:
    def block(key: Array) -> tuple[Array, Array, Array]:
        sets = max_retrieval.sample(key, num_sets, num_items)
        logits = model.attention_logits(max_retrieval.item_features(sets), sets.query)
        return logits, sets.winner, jnp.argmax(logits, axis=-1) != sets.winner

    return jax.lax.map(block, keys)


@partial(jax.jit, static_argnames=("num_sets", "num_items", "polynomial"))
def _judge(
    model: SetAttention,
    keys: Array,
    num_sets: int,
    num_items: int,
    polynomial: tuple[float, ...],
) -> dict[str, dict[str, Array]]:
    maps: dict[str, Callable[..., Array]] = {
        "softmax": activations.softmax,
        "published": temperature.adaptive_softmax,
        "fitted": partial(temperature.adaptive_softmax, polynomial=polynomial),
    }

    def block(key: Array) -> dict[str, dict[str, Array]]:
        sets = max_retrieval.sample(key, num_sets, num_items)
        items, winner = max_retrieval.item_features(sets), sets.winner[:, None]
        table = {}
        for rule, weights in maps.items():
            output = model(items, sets.query, weights=weights)
            of_winner = jnp.take_along_axis(output.weights, winner, axis=-1)
            answer = jnp.argmax(output.class_logits, axis=-1)
            table[rule] = {"correct": answer == sets.target, "weight": of_winner[:, 0]}
        return table

    return jax.lax.map(block, keys)


def _fit_rows(fitted: Float64) -> list[Row]:
    return [
        {"power": 4 - place, "published": published, "fitted": float(ours)}
        for place, (published, ours) in enumerate(
            zip(temperature.POLYNOMIAL, fitted, strict=True)
        )
    ]


EXPERIMENT = Experiment(
    name="temperature-fit",
    description="The polynomial of adaptive temperature, fitted to our own models.",
    version=1,
    num_seeds={"quick": 2, "full": 10},
    grid=grid,
    compute=compute,
    collect=collect,
)
