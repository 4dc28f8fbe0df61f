"""How bounds read their arguments: checked, broadcast, integers of any size."""

import math
from typing import TypeAlias

import numpy as np

from sharp_attention._checks import check_integer, check_real, require
from sharp_attention._typing import ArrayLike, Float64

__all__ = ["Numbers", "broadcast_mask", "log_number", "plain", "scaled_spread"]

Numbers: TypeAlias = Float64 | np.float64
"""What NumPy makes of an array in double precision, or of one without axes."""


def scaled_spread(spread: ArrayLike, temperature: ArrayLike) -> Numbers:
    """Return x = spread / temperature, both checked.

    Raises
    ------
    TypeError, ValueError
        If `spread` is negative, `temperature` not positive, or their ratio infinite.
    """
    check_real("spread", spread, at_least=0)
    check_real("temperature", temperature, above=0)
    with np.errstate(over="ignore"):
        scaled = np.asarray(spread, np.float64) / np.asarray(temperature, np.float64)
    finite = bool(np.isfinite(scaled).all())
    require(finite, "spread / temperature", "finite", plain(scaled))
    return scaled


def log_number(
    number: ArrayLike, *, minus: int = 0, argument: str = "num_items"
) -> Float64:
    """Return log(number − minus) for integers ≥ 1 of any size; log 0 is −inf.

    Raises
    ------
    TypeError, ValueError
        If an entry is not an integer ≥ 1; the message names `argument`.
    """
    integers = np.asarray(number).astype(object)
    logarithms = np.empty(integers.shape)
    for index, integer in np.ndenumerate(integers):
        check_integer(argument, integer, at_least=1)
        rest = integer - minus
        logarithms[index] = math.log(rest) if rest else -math.inf
    return logarithms


def broadcast_mask(where: ArrayLike | None, shape: tuple[int, ...]) -> np.ndarray:
    """Return `where` at the full `shape`; all True for None.

    Raises
    ------
    TypeError
        If `where` is not boolean.
    ValueError
        If it does not broadcast to `shape`.
    """
    mask = np.asarray(True if where is None else where)
    if mask.dtype != np.bool_:
        raise TypeError(f"where must be boolean; received {mask.dtype}")
    try:
        return np.broadcast_to(mask, shape)
    except ValueError:
        message = f"where must broadcast to {shape}; received shape {mask.shape}"
        raise ValueError(message) from None


def plain(array: Numbers) -> float | Float64:
    """Return a Python float for one number, the array otherwise."""
    return float(array) if np.ndim(array) == 0 else np.asarray(array)
