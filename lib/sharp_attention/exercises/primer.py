"""Exercises of the primer."""

from typing import Any

import numpy as np

from sharp_attention.exercises.registry import exercise

__all__ = ["prox_log_cosh"]

_POINTS = np.array([-4.0, -0.3, 0.0, 0.7, 2.0])


def _newton(w: Any, softness: Any, num_steps: int = 60, pull: float = 1.0) -> Any:
    """Return the zero of pull·tanh x + (x − w)/V; from 0 no step is too long."""
    x = 0.0 * w
    for _ in range(num_steps):
        slope = pull * (1 - np.tanh(x) ** 2) + 1 / softness
        x = x - (pull * np.tanh(x) + (x - w) / softness) / slope
    return x


@exercise(
    "primer/prox-log-cosh",
    cases={
        "one point": (2.0, 1.0),
        "a soft spring": (2.0, 3.0),
        "five points": (_POINTS, 1.5),
    },
    lookalikes={
        "This is one step down the slope from w, not the minimum: iterate.": (
            lambda w, softness: w - softness * np.tanh(w)
        ),
        "One step of Newton's method is not enough.": lambda w, softness: _newton(
            w, softness, num_steps=1
        ),
        "The spring's constant is missing: V acts as if it were 1.": (
            lambda w, softness: _newton(w, 1.0)
        ),
        "V is on the wrong side: a soft spring should let go, not hold.": (
            lambda w, softness: _newton(w, 1 / softness)
        ),
        "This is the soft threshold, the proximal map of the absolute value.": (
            lambda w, softness: np.sign(w) * np.maximum(np.abs(w) - softness, 0)
        ),
        "The factor of the spring is off by two: its energy is (x − w)²/(2V).": (
            lambda w, softness: _newton(w, softness / 2)
        ),
    },
)
def prox_log_cosh(w: Any, softness: Any) -> Any:
    """Return the proximal point of log cosh from each `w`; V is the `softness`."""
    return _newton(w, softness)
