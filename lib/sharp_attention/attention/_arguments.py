"""Checks of arguments of attention beside those of ``_checks``: single, or a shape."""

from typing import Any

import numpy as np

from sharp_attention._checks import check_real, is_traced, require

__all__ = ["check_broadcasts", "known_number"]


def known_number(
    argument: str, value: Any, *, above: float, at_most: float | None = None
) -> float:
    """Return a single number, known when tracing and between the bounds.

    Raises
    ------
    TypeError
        If `value` is a tracer or not a real number.
    ValueError
        If it is an array with axes, not finite, or out of bounds.
    """
    if is_traced(value):
        message = f"{argument} must be a number known when tracing; received a tracer"
        raise TypeError(message)
    check_real(argument, value, above=above, at_most=at_most)
    require(np.ndim(value) == 0, argument, "a single number", value)
    return float(value)


def check_broadcasts(argument: str, value: Any, shape: tuple[int, ...]) -> None:
    """Check that an array broadcasts to a shape without enlarging it.

    Raises
    ------
    ValueError
        If it does not, with its shape; a tracer has one as well.
    """
    received = np.shape(value)
    trailing = shape[len(shape) - len(received) :]
    fits = len(received) <= len(shape) and all(
        size in (1, full) for size, full in zip(received, trailing, strict=True)
    )
    require(fits, argument, f"of a shape that broadcasts to {shape}", received)
