"""Grids of the integrals of `elementwise`: ranges, numbers of nodes, their cost."""

import math
from typing import NamedTuple

from sharp_attention.theory.single_location import windows
from sharp_attention.theory.single_location.heads import Head

__all__ = ["FieldRange", "field_range", "max_cost", "spiked_cost"]

# Largest numbers of nodes: of a vector, of scores beside the levels of `selection`, and
# of a matrix; each takes some hundred megabytes.
LONGEST_VECTOR, MOST_SCORES, LARGEST_MATRIX = 2**22, 2**15, 2**23

# A head whose scores vary less than this has weights that are constant.
FLAT = 1e-150


class FieldRange(NamedTuple):
    """Trapezoid rule for g on [lower, upper]."""

    lower: float
    upper: float


def spiked_cost(activation: str, offset: float, head: Head) -> float:
    """Cost over what is affordable."""
    size = field_range(activation, head.slope, head.drift, offset)[1]
    return size / LONGEST_VECTOR


def max_cost(activation: str, offset: float, head: Head) -> float:
    """Cost over what is affordable."""
    size = field_range(activation, head.slope, 0.0, offset)[1]
    highest = math.sqrt(windows.REACH**2 + 2 * math.log(head.length))
    reach = windows.REACH + highest
    num_scores = reach * max(abs(head.m_k), 1.0) / windows.GUMBEL_STEP
    stray = windows.field_window(head.stray, -windows.REACH, windows.REACH).num_nodes
    return max(
        size / LONGEST_VECTOR,
        num_scores / MOST_SCORES,
        num_scores * stray / LARGEST_MATRIX,
    )


def field_range(
    activation: str, slope: float, drift: float, offset: float
) -> tuple[FieldRange, float]:
    """Range of g that holds the averages of s and s^2, and its number of nodes.

    Where all weights are tiny the largest scores dominate: s^2 phi peaks at a tilted
    field, before s saturates.
    """
    tilt = 0.0
    if offset < 0 and slope > FLAT:
        steep = 2 * slope
        if activation == "erf":
            steep = -4 * offset * slope / (1 + 4 * slope**2)
        tilt = min(steep, -offset / slope)
    lower, upper = min(0.0, drift) - windows.REACH, max(0.0, drift, tilt)
    window = windows.field_window(slope, lower, upper + windows.REACH)
    return FieldRange(window.lower, window.upper), window.num_nodes
