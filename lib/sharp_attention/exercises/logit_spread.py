"""Exercises of the chapter on the spread of logits."""

from collections.abc import Callable
from typing import Any

import numpy as np

from sharp_attention.exercises.registry import exercise

__all__ = ["informative_rows"]

_LOGITS = 4 + 0.85 * np.random.default_rng(3).normal(size=(92, 96))
_EVERYTHING = np.ones((92, 96), dtype=bool)
_CAUSAL = np.tri(92, 96, 4, dtype=bool)  # the first query sees five keys


def _below(limit: Callable[[Any], Any], *, axis: int = -1, mask: str = "both") -> Any:
    """Return a function that asks whether the spread is below `limit(n)`."""

    def rows(logits: Any, where: Any) -> Any:
        seen = where if mask != "none" else np.ones_like(where)
        counted = where if mask == "both" else np.ones_like(where)
        highest = np.where(seen, logits, -np.inf).max(axis=axis)
        lowest = np.where(seen, logits, np.inf).min(axis=axis)
        return highest - lowest < limit(counted.sum(axis=axis))

    return rows


@exercise(
    "logit-spread/informative-rows",
    cases={
        "an encoder's rows": (_LOGITS, _EVERYTHING),
        "a decoder's rows": (_LOGITS, _CAUSAL),
    },
    lookalikes={
        "Keys that a row can't see are counted in its spread: is the mask missing?": (
            _below(np.log, mask="none")
        ),
        "The spread is that of the visible keys, but n counts the hidden ones too: "
        "is the mask missing there?": _below(np.log, mask="spread"),
        "Extremes run over the wrong axis: each query has a row, keys are columns.": (
            _below(np.log, axis=0)
        ),
        "The inequality has the wrong sign: these rows are the silent ones.": (
            lambda logits, where: ~_below(np.log)(logits, where)
        ),
        "The logarithm has another base than e.": _below(np.log2),
    },
)
def informative_rows(logits: Any, where: Any) -> Any:
    """Return for each row whether the bound of Lemma 2.1 is below 1.

    Both arguments have the shape (queries, keys).
    `where` is True for the keys that a query sees: the row's spread and its n are
    those of the visible keys.
    """
    return _below(np.log)(logits, where)
