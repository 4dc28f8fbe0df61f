"""Grids of the integrals of `maximum`: ranges, numbers of nodes, and what they cost."""

import math
from typing import NamedTuple

from sharp_attention.theory.single_location import rows, selectors, windows
from sharp_attention.theory.single_location.crowd import Crowd
from sharp_attention.theory.single_location.heads import Head, ReadOut

__all__ = ["LONGEST", "Row", "Sizes", "cost", "num_terms", "prepare"]

# The sums of `selectors` would overflow for a crowd of more tokens.
LONGEST = 10**100

# The two levels share the score of the teacher, so a wide Gaussian does not smooth the
# direction in which both move by the same score. Two Gumbel factors are left, and steps
# of 0.3 in units of the smaller slope leave exp(-pi^2 / 0.3) = 5e-15.
LEVEL_STEP = 0.3

# From this multiple of the inverse panel width on, the sharp selector is exact (1e-11).
SHARP = 32.0

# Terms that take about ten seconds, and entries of the largest of several matrices.
DEAREST, LARGEST_MATRIX = 2.0**35, 2**24

# As many products take as long as an exponential.
EXPONENTIAL = 64


class Row(NamedTuple):
    """What one integral needs; numbers, or arrays with a leading axis."""

    signal: float
    m_k: float
    slope: float
    stray: float
    h: float
    w: float
    lean: float
    along: float
    crowd: Crowd
    levels: windows.Levels
    signal_levels: windows.Levels
    highest_field: float


class Sizes(NamedTuple):
    """Numbers of nodes; `signal_levels` is 0 where the selector is `Sharp`."""

    levels: int
    marginal_fields: int
    fields: int
    stray_fields: int
    signal_levels: int


def prepare(activation: str, head: Head, refinement: float = 1.0) -> tuple[Row, Sizes]:
    """Choose ranges, and numbers of nodes times `refinement`."""
    crowd = Crowd.of(head.length)
    read_out = ReadOut.in_max(head)
    highest = math.sqrt(windows.REACH**2 + 2 * crowd.log_count)
    steepness = abs(head.m_k) / head.signal if head.signal > 0 else math.inf
    levels, num_levels = windows.level_window(
        activation, head.slope, 0.0, crowd, LEVEL_STEP * max(1.0, steepness)
    )
    signal_levels, num_signal_levels = windows.Levels(0.0, 0.0, 1.0), 0.0
    # Widths of a panel that resolve the head's Gumbel factor and the largest score.
    panels_per_unit = max(1.0, abs(head.m_k) / 2, math.sqrt(2 * crowd.log_count) / 3)
    if head.signal < SHARP * panels_per_unit:
        step = LEVEL_STEP * max(1.0, 1 / steepness) if steepness > 0 else math.inf
        signal_levels, num_signal_levels = windows.level_window(
            "softmax", head.signal, 0.0, crowd, step
        )
        steepest = max(head.signal, abs(head.m_k))
        fields = windows.field_window(steepest, -windows.REACH, highest)
        num_fields = fields.num_nodes
    else:
        num_fields = selectors.ORDER * (highest + windows.REACH) * panels_per_unit
    stray = windows.field_window(head.stray, -windows.REACH, highest)
    marginal = windows.field_window(head.slope, -windows.REACH, highest)
    row = Row(
        *(head.signal, head.m_k, head.slope, head.stray),
        *(read_out.target_slope, read_out.value_slope, read_out.lean),
        head.q_kv / head.slope if head.slope > 0 else 0.0,
        crowd,
        *(levels, signal_levels, highest),
    )
    sizes = Sizes(
        levels=rows.rung(refinement * num_levels),
        marginal_fields=rows.rung(refinement * marginal.num_nodes),
        fields=rows.rung(refinement * num_fields),
        stray_fields=rows.rung(stray.num_nodes) if head.stray > 0 else 0,
        signal_levels=rows.rung(refinement * num_signal_levels)
        if num_signal_levels
        else 0,
    )
    return row, sizes


def cost(sizes: Sizes) -> float:
    """Cost over what is affordable, in time or in memory."""
    table = sizes.fields * max(sizes.signal_levels, sizes.stray_fields)
    return max(num_terms(sizes) / DEAREST, table / LARGEST_MATRIX)


def num_terms(sizes: Sizes) -> float:
    """Return how many products take as long."""
    per_field = max(sizes.signal_levels, EXPONENTIAL * max(sizes.stray_fields, 1))
    marginal = EXPONENTIAL * sizes.marginal_fields
    return float(sizes.levels) * (sizes.fields * per_field + marginal)
