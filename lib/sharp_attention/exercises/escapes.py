"""Exercises of the chapter on the ways out of dispersion."""

from typing import Any

import numpy as np
from scipy import special

from sharp_attention.exercises.registry import exercise
from sharp_attention.exercises.symptoms import rows_of_weights

__all__ = ["top_k_weights"]

_RNG = np.random.default_rng(41)
_LOGITS = 2.0 * _RNG.standard_normal((3, 8))
_FAR = _LOGITS + np.array([[0.0], [300.0], [-900.0]])


def _kept(logits: Any, num_kept: int, *, sign: float = -1.0, axis: int = -1) -> Any:
    order = np.argsort(np.argsort(sign * np.asarray(logits), axis=axis), axis=axis)
    return order < num_kept


def _masked(logits: Any, kept: Any, *, axis: int = -1) -> Any:
    return special.softmax(np.where(kept, logits, -np.inf), axis=axis)


def _not_normalised(logits: Any, num_kept: int) -> Any:
    return _kept(logits, num_kept) * special.softmax(logits, axis=-1)


def _zero_logits(logits: Any, num_kept: int) -> Any:
    return special.softmax(np.where(_kept(logits, num_kept), logits, 0.0), axis=-1)


def _unshifted(logits: Any, num_kept: int) -> Any:
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        powers = np.where(_kept(logits, num_kept), np.exp(logits), 0.0)
        return powers / powers.sum(axis=-1, keepdims=True)


@exercise(
    "escapes/top-k-weights",
    cases={
        "two keys of eight": (_LOGITS, 2),
        "five keys of eight": (_LOGITS, 5),
        "all keys": (_LOGITS, 8),
        "rows of large logits": (_FAR, 3),
    },
    lookalikes={
        "The smallest logits are kept, not the largest.": lambda logits, num_kept: (
            _masked(logits, _kept(logits, num_kept, sign=1.0))
        ),
        "The weights were cut after the softmax and not normalised again.": (
            _not_normalised
        ),
        "Keys that are cut still get weight: a logit of 0 is not no logit.": (
            _zero_logits
        ),
        "One key too many is kept.": lambda logits, num_kept: _masked(
            logits, _kept(logits, num_kept + 1)
        ),
        "The exponential of a large logit overflows; shift the row first.": _unshifted,
        "The largest are sought among the rows, not among the keys.": (
            lambda logits, num_kept: _masked(
                logits, _kept(logits, min(num_kept, len(logits)), axis=0), axis=0
            )
        ),
    },
    properties=(rows_of_weights,),
)
def top_k_weights(logits: Any, num_kept: int) -> Any:
    """Return the softmax over the `num_kept` largest logits of each row.

    `logits` has the shape (rows, keys) and no equal entries in a row; all other keys
    get the weight 0.
    """
    found = np.zeros(np.shape(logits))
    for row, values in enumerate(np.asarray(logits)):
        kept = np.argsort(values)[-num_kept:]
        found[row, kept] = special.softmax(values[kept])
    return found
