"""Names for the types that cross module borders."""

from collections.abc import Sequence
from typing import TypeAlias

import jax
import numpy as np

__all__ = ["ArrayLike", "Float64", "Scalar"]

Scalar: TypeAlias = float | int | np.floating | np.integer
"""A Python or NumPy number."""

Float64: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
"""A NumPy array in double precision: what theory and solvers return."""

ArrayLike: TypeAlias = (
    jax.Array
    | np.ndarray
    | float
    | int
    | bool
    | np.number
    | np.bool_
    | Sequence["ArrayLike"]
)
"""Anything that ``jax.numpy.asarray`` takes without surprise."""
