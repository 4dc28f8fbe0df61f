"""Checks of arguments: the error names the argument, the rule and the value received.

Values can be inspected only outside ``jax.jit``.
Under a trace every check of a value is skipped and NaN propagates; checks of shapes
and types work everywhere.
"""

import math
from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

import jax
import numpy as np

__all__ = [
    "check_choice",
    "check_finite",
    "check_integer",
    "check_no_nan",
    "check_real",
    "is_traced",
    "require",
]


def is_traced(*values: Any) -> bool:
    """Whether any of `values` is a tracer, whose numbers can't be looked at."""
    return any(isinstance(value, jax.core.Tracer) for value in values)


def require(
    condition: bool | np.bool_, argument: str, rule: str, received: object
) -> None:
    """Raise ``ValueError`` naming `argument`, `rule` and what was `received`."""
    if not condition:
        raise ValueError(f"{argument} must be {rule}; received {received!r}")


def check_real(
    argument: str,
    value: Any,
    *,
    above: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
    allow_infinite: bool = False,
) -> None:
    """Check one real number, or every entry of an array, against its range.

    Parameters
    ----------
    argument : name used in the message
    value : a number or an array of numbers; a tracer passes unseen
    above, at_least, at_most : strict lower, lower and upper bound
    allow_infinite : whether infinity is a legal value (NaN never is)

    Raises
    ------
    TypeError
        If `value` is not a real number or an array of real numbers.
    ValueError
        If it is NaN, infinite where that is not allowed, or outside the range.
    """
    if is_traced(value):
        return
    array = _as_real_array(argument, value)
    require(not np.isnan(array).any(), argument, "a number, not NaN", value)
    if not allow_infinite:
        require(bool(np.isfinite(array).all()), argument, "finite", value)
    if above is not None:
        require(bool((array > above).all()), argument, f"> {above:g}", value)
    if at_least is not None:
        require(bool((array >= at_least).all()), argument, f">= {at_least:g}", value)
    if at_most is not None:
        require(bool((array <= at_most).all()), argument, f"<= {at_most:g}", value)


def check_integer(argument: str, value: Any, *, at_least: int | None = None) -> None:
    """Check a Python or NumPy integer (of any size) against its lower bound.

    Raises
    ------
    TypeError
        If `value` is not an integer (a bool is not one).
    ValueError
        If it is below `at_least`.
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{argument} must be an integer; received {value!r}")
    if at_least is not None:
        require(int(value) >= at_least, argument, f">= {at_least}", value)


def check_choice(argument: str, value: object, choices: Collection[str]) -> None:
    """Check that `value` is one of the named `choices`.

    Raises
    ------
    ValueError
        With the list of the legal names.
    """
    if not isinstance(value, str) or value not in choices:
        names = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{argument} must be one of {names}; received {value!r}")


def check_no_nan(argument: str, value: Any) -> None:
    """Check that an array holds no NaN and no +infinity (−infinity masks an item).

    Raises
    ------
    ValueError
        If it does; a tracer passes unseen.
    """
    if is_traced(value):
        return
    array = np.asarray(value, dtype=np.float64)
    bad = np.isnan(array) | np.isposinf(array)
    rule = "free of NaN and +inf (-inf masks an item)"
    require(not bad.any(), argument, rule, _first(array, bad))


def check_finite(argument: str, value: Any) -> None:
    """Check that every entry of an array is finite.

    Raises
    ------
    ValueError
        If one is not; a tracer passes unseen.
    """
    if is_traced(value):
        return
    array = np.asarray(value, dtype=np.float64)
    bad = ~np.isfinite(array)
    require(not bad.any(), argument, "finite everywhere", _first(array, bad))


def _as_real_array(argument: str, value: Any) -> np.ndarray:
    if isinstance(value, Integral) and not isinstance(value, bool):
        # Python integers of any size are legal; float() overflows beyond 1e308.
        try:
            return np.asarray(float(value))
        except OverflowError:
            return np.asarray(math.copysign(np.finfo(float).max, int(value)))
    if isinstance(value, bool | str) or not (
        isinstance(value, Real | np.ndarray | jax.Array | list | tuple)
    ):
        raise TypeError(f"{argument} must be a real number; received {value!r}")
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        message = f"{argument} must hold real numbers; received {value!r}"
        raise TypeError(message) from None


def _first(array: np.ndarray, bad: np.ndarray | np.bool_) -> float | None:
    return float(array[bad].flat[0]) if bad.any() else None
