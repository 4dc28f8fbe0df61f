"""Exercises of the chapter on finite samples."""

import math
from typing import Any

import numpy as np
from scipy import optimize

from sharp_attention.channels import proximal
from sharp_attention.exercises.registry import exercise

__all__ = ["error_after"]

_RNG = np.random.default_rng(24)
_FIELDS = _RNG.standard_normal((3, 2, 4))
_CASES = {
    "springs of equal softness": (*_FIELDS[0], 1.5, 0.5, 0.5),
    "a softer key": (*_FIELDS[1], -0.7, 0.8, 0.3),
    "a softer value": (*_FIELDS[2], 0.9, 0.2, 1.1),
}


def _root(
    a: Any,
    b: Any,
    y: float,
    V_k: float,
    V_v: float,
    *,
    shift: float = 1.0,
    order: int = 1,
    quarter: float = 0.25,
) -> tuple[float, float]:
    """Return the root u, and sqrt(tau); the keywords make it wrong."""
    root = math.sqrt(V_k * V_v)
    sides = [
        math.sqrt(V_v) * (shift + a) + sign * order * math.sqrt(V_k) * b
        for sign in (1, -1)
    ]
    plus, minus = (quarter * float(side @ side) / root for side in sides)

    def excess(u: float) -> float:
        return plus / (1 - u) ** 2 - minus / (1 + u) ** 2 + u / root - y

    return float(optimize.brentq(excess, -1 + 1e-12, 1 - 1e-12, xtol=1e-14)), root


def _error(*arguments: Any, **wrong: Any) -> float:
    u, root = _root(*arguments, **wrong)
    return u / root


@exercise(
    "finite-samples/error-after",
    cases=_CASES,
    lookalikes={
        "The constant in the weights 1 + chi is missing.": (
            lambda *a: _error(*a, shift=0.0)
        ),
        "This is the root u itself: one more step leads to the error.": (
            lambda *a: _root(*a)[0]
        ),
        "This is the error before the text pulls: the head has not moved at all.": (
            lambda a, b, y, V_k, V_v: y - (1 + a) @ b
        ),
        "The two squares c are exchanged: is a sign wrong?": (
            lambda *a: _error(*a, order=-1)
        ),
        "The two squares c are off by a factor: is the number in their "
        "denominator missing?": lambda *a: _error(*a, quarter=1.0),
        "The two squares c are off by a factor of two.": (
            lambda *a: _error(*a, quarter=0.5)
        ),
        "The springs of key and value are exchanged.": (
            lambda a, b, y, V_k, V_v: _error(a, b, y, V_v, V_k)
        ),
        "The label enters with the wrong sign.": (
            lambda a, b, y, V_k, V_v: _error(a, b, -y, V_k, V_v)
        ),
    },
)
def error_after(a: Any, b: Any, y: float, V_k: float, V_v: float) -> float:
    """Return the error e of a linear head on one text after it was trained on it.

    `a` and `b` are the cavity fields of score and value, each (tokens,), and `y` is
    the label; `V_k` and `V_v` are the softnesses of the springs.
    The error is y minus the output at the proximal point, where the weights are
    1 + chi.
    """
    return float(proximal.solve("linear", a, b, y, V_k, V_v).residual)
