"""The maps of the library on the two-level row that `theory.escapes` treats.

One leader ahead of n − 1 keys at logit 0, put to the very maps that models use;
what comes out is measured, not predicted.
"""

from collections.abc import Callable, Sequence
from functools import partial

import jax
import numpy as np
import pandas as pd

from sharp_attention._checks import check_choice, check_integer, check_real
from sharp_attention._typing import Float64
from sharp_attention.attention import activations, escapes, temperature
from sharp_attention.theory import escapes as theory

__all__ = ["leader", "table", "weights"]

_COLUMNS = 256
"""Columns of votes that are held at once: a whole matrix of 16384² would be 2 GB."""

_LARGEST = {"selective": 2048}
"""Votes are a square: minutes at 16384 keys, so that `table` ends earlier there."""

Row = Float64


def _differential(row: Row) -> jax.Array:
    """Subtract a head that sees nothing: a uniform row."""
    return escapes.differential(row, np.zeros_like(row), mix=theory.MIX)


def _windowed(row: Row) -> jax.Array:
    """Take the last row of a causal window, the only one that sees the whole text."""
    last = row.size - 1
    return escapes.windowed(row[None], width=theory.WIDTH, first_query=last)[0]


def _selective(row: Row) -> jax.Array:
    """Take the last row of selective attention, the votes counted in blocks of keys."""
    length = row.size
    against = np.where(np.arange(length) == np.argmax(row), 0.0, 1.0)
    starts = range(0, length, _COLUMNS)
    blocks = [against[start : start + _COLUMNS] for start in starts]
    counts = [
        escapes.votes(np.broadcast_to(block, (length, block.size)), first_key=start)[-1]
        for start, block in zip(starts, blocks, strict=True)
    ]
    return activations.softmax(row - np.concatenate(counts))


_MAPS: dict[str, tuple[Callable[[Row], jax.Array], str]] = {
    "softmax": (activations.softmax, "first"),
    "adaptive": (temperature.adaptive_softmax, "first"),
    "differential": (_differential, "first"),
    "sigmoid-log-n": (
        lambda row: activations.sigmoid(row, bias=-np.log(row.size)),
        "first",
    ),
    "log-n": (partial(activations.scalable_softmax, scale=theory.SCALE), "first"),
    "entmax-1.5": (activations.entmax, "first"),
    "sparsemax": (activations.sparsemax, "first"),
    "top-4": (partial(escapes.top_k, num_kept=theory.NUM_KEPT), "first"),
    "hard": (escapes.hard, "first"),
    "selective": (_selective, "first"),
    "window, leader inside": (_windowed, "last"),
    "window, leader outside": (_windowed, "first"),
    "sigmoid": (activations.sigmoid, "first"),
    "linear": (activations.linear, "first"),
    "stick-breaking, leader last": (activations.stick_breaking, "last"),
    "stick-breaking, leader first": (activations.stick_breaking, "first"),
}


def weights(name: str, num_keys: int, gap: float) -> tuple[Float64, int]:
    """Put the two-level row to a map, in double precision.

    Parameters
    ----------
    name : in `theory.escapes.DROPPED`
    num_keys : n ≥ 2
    gap : > 0 (nats)

    Returns
    -------
    weights of shape (num_keys,), and the place of the leader

    Raises
    ------
    TypeError, ValueError
        If the name is unknown or a number is not in its range.
    """
    check_choice("name", name, _MAPS)
    check_integer("num_keys", num_keys, at_least=2)
    check_real("gap", gap, above=0)
    apply, stands = _MAPS[name]
    place = 0 if stands == "first" else num_keys - 1
    row = np.zeros(num_keys)
    row[place] = gap
    with jax.enable_x64(True):
        found = np.asarray(apply(row), np.float64)
    return found, place


def leader(name: str, num_keys: int, gap: float) -> theory.Leader:
    """Measure the leader's three numbers; arguments and errors of `weights`."""
    found, place = weights(name, num_keys, gap)
    hay = np.delete(found, place)
    return theory.measured(
        float(found[place]), float(np.abs(hay).sum()), float(np.square(hay).sum())
    )


def table(
    gap: float, num_keys: Sequence[int], names: Sequence[str] = tuple(theory.DROPPED)
) -> pd.DataFrame:
    """Hold every map against its closed form.

    Parameters
    ----------
    gap : > 0 (nats)
    num_keys : numbers of keys, each ≥ 2; selective attention stops at 2048
    names : which maps

    Returns
    -------
    a row for each map and number of keys; columns name, drops, num_keys, gap, then
    weight, share, signal_to_noise as measured and, with `_theory`, as predicted
    """
    return pd.DataFrame(
        [
            {
                "name": name,
                "drops": theory.DROPPED[name],
                "num_keys": count,
                "gap": gap,
                **leader(name, count, gap)._asdict(),
                **{
                    f"{field}_theory": value
                    for field, value in theory.leader(name, count, gap)
                    ._asdict()
                    .items()
                },
            }
            for name in names
            for count in num_keys
            if count <= _LARGEST.get(name, count)
        ]
    )
