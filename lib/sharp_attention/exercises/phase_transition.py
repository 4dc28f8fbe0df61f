"""Exercises of the chapter on the phase transition."""

import math
from typing import Any

import numpy as np

from sharp_attention.exercises.registry import exercise

__all__ = ["lead"]

_GRID = np.linspace(0.0, 6.0, 60_001)
_EDGE = math.sqrt(2)


def _crowd(
    sharpness: float, *, edge: float = _EDGE, count: float = 1.0, boost: float = 1.0
) -> float:
    x = _GRID[edge >= _GRID]
    return float(np.max(count * (1 - x**2 / 2) + boost * sharpness * x))


@exercise(
    "phase-transition/lead",
    cases={
        "a soft head and a weak signal": (0.8, 1.0),
        "a soft head and a strong signal": (1.2, 5.0),
        "a sharp head and a weak signal": (2.5, 1.0),
        "a sharp head and a strong signal": (2.0, 3.0),
    },
    lookalikes={
        "The crowd uses scores that no token has: how high does the hay stand?": (
            lambda b, c: b * math.sqrt(c) - _crowd(b, edge=6.0)
        ),
        "This compares the needle with the top of the hay alone, one token "
        "at each height: how many are there?": (
            lambda b, c: b * math.sqrt(c) - _crowd(b, count=0.0)
        ),
        "This is the number of tokens with a typical score, "
        "whatever they contribute: is the sharpness missing in the crowd?": (
            lambda b, c: b * math.sqrt(c) - _crowd(b, boost=0.0)
        ),
        "The needle's score is a root of its signal.": lambda b, c: b * c - _crowd(b),
        "The needle's exponent lacks the sharpness.": (
            lambda b, c: math.sqrt(c) - _crowd(b)
        ),
        "This is the lead of the crowd: is the sign wrong?": (
            lambda b, c: _crowd(b) - b * math.sqrt(c)
        ),
    },
    tolerance=1e-3,
)
def lead(b: float, c: float) -> Any:
    """Return the needle's exponent minus the crowd's, in powers of L.

    The sharpness is b sqrt(log L) and the signal c log L.
    The crowd's exponent is the largest over the heights x at which there are tokens;
    a maximum over a grid of heights will do.
    """
    crowd = 1 + b**2 / 2 if b < _EDGE else _EDGE * b
    return b * math.sqrt(c) - crowd
