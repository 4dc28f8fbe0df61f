"""Exercises of the chapter on sharp functions."""

from typing import Any

import numpy as np

from sharp_attention.exercises.registry import exercise
from sharp_attention.theory import sharpness

__all__ = ["hangs_on"]

_RNG = np.random.default_rng(5)
_ITEMS = _RNG.uniform(size=24)
_BITS = _RNG.integers(0, 2, size=24)


def _top_three(items: Any) -> Any:
    return np.sort(items)[-3:].sum()


def _upper_half(items: Any) -> Any:
    return np.sort(items)[len(items) // 2 :].mean()


def _parity(bits: Any) -> Any:
    return bits.sum() % 2


def _without_restoring(function: Any, items: Any, neighbours: Any) -> Any:
    changes, before, now = 0, function(items), np.array(items)
    for i in range(len(items)):
        now[i] = neighbours[i]
        changes += function(now) != before
    return changes


@exercise(
    "sharp-functions/hangs-on",
    cases={
        "the maximum": (np.max, _ITEMS, _ITEMS + 1e-9),
        "the sum of the three largest": (_top_three, _ITEMS, _ITEMS + 1e-9),
        "the mean of the upper half": (_upper_half, _ITEMS, _ITEMS + 1e-9),
        "the parity of bits": (_parity, _BITS, 1 - _BITS),
    },
    lookalikes={
        "All items are replaced at once: replace one and leave the others.": (
            lambda function, items, neighbours: float(
                function(items) != function(neighbours)
            )
        ),
        "An item that was replaced stays replaced: put it back first.": (
            _without_restoring
        ),
        "This counts the items that leave the value alone.": (
            lambda function, items, neighbours: (
                len(items) - sharpness.sensitive_items(function, items, neighbours)
            )
        ),
        "This is a share of the items, not their number: it is divided by n.": (
            lambda function, items, neighbours: (
                sharpness.sensitive_items(function, items, neighbours) / len(items)
            )
        ),
    },
)
def hangs_on(function: Any, items: Any, neighbours: Any) -> Any:
    """Return on how many of the `items` the value of `function` hangs.

    `neighbours` holds, for each item, what it is to be replaced by.
    """
    return sharpness.sensitive_items(function, items, neighbours)
