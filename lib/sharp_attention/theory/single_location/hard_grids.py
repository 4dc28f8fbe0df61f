"""Grids of the integrals of `hard_limit`: ranges, numbers of nodes, and their cost."""

import math
from typing import NamedTuple

from sharp_attention.theory.single_location import rows, windows
from sharp_attention.theory.single_location.crowd import LOG_HUGE, Crowd

__all__ = [
    "LOWEST",
    "Row",
    "Sizes",
    "max_cost",
    "prepare",
    "spiked_cost",
    "step_of",
]

# Weights below e^-42 of one that is typical, and levels as low, do not count.
LOWEST = -42.0
STEP = 0.2
# Terms that take about ten seconds, of one matrix, of exponentials and of products.
LARGEST_MATRIX, DEAREST, MOST_PRODUCTS = 2**24, 2**28, 2**34


class Row(NamedTuple):
    """What one integral needs; numbers, or arrays with a leading axis."""

    signal: float
    crowd: Crowd
    highest_score: float
    high_level: float
    signal_levels: windows.Levels


class Sizes(NamedTuple):
    """Numbers of nodes; `signal_levels` is 0 at infinite signal."""

    levels: int
    scores: int
    all_scores: int
    signal_levels: int
    is_huge: bool


def step_of(crowd: Crowd) -> float:
    """Step that resolves the largest score of a crowd."""
    return 0.2 / max(1.0, math.sqrt(2 * max(crowd.log_count, 0.0)))


def prepare(signal: float, crowd: Crowd, is_max: bool) -> tuple[Row, Sizes]:
    """Choose ranges and numbers of nodes; in the spiked task `signal` is the shift."""
    log_count = max(crowd.log_count, 0.0)
    highest = math.sqrt(windows.REACH**2 + 2 * log_count)
    steepest = 1 / step_of(crowd)
    signal_levels, num_signal_levels = windows.Levels(0.0, 0.0, 1.0), 0.0
    if is_max and math.isfinite(signal):
        steepest = max(steepest, signal / STEP)
        # The cut at x = 0 is sharp: no average over scores widens the Gumbel factor.
        signal_levels, num_signal_levels = windows.level_window(
            "softmax", signal, 0.0, crowd, STEP
        )
    elif not is_max:
        highest = max(highest, signal + windows.REACH)
    high_level = max(log_count, math.log(highest)) + 42.0
    row = Row(signal, crowd, highest, high_level, signal_levels)
    sizes = Sizes(
        levels=rows.rung((high_level - LOWEST) / STEP),
        scores=rows.rung(-LOWEST / STEP + highest * steepest),
        all_scores=rows.rung((highest + windows.REACH) * steepest),
        signal_levels=rows.rung(num_signal_levels) if num_signal_levels else 0,
        is_huge=crowd.log_count > LOG_HUGE,
    )
    return row, sizes


def spiked_cost(signal: float, crowd: Crowd) -> float:
    """Cost of ReLU weights over what is affordable."""
    _, sizes = prepare(math.sqrt(signal), crowd, is_max=False)
    return sizes.levels * sizes.scores / LARGEST_MATRIX


def max_cost(activation: str, signal: float, crowd: Crowd) -> float:
    """Cost over what is affordable."""
    _, sizes = prepare(signal, crowd, is_max=True)
    if activation == "softmax":
        return sizes.signal_levels * sizes.all_scores / DEAREST
    matrix = sizes.levels * sizes.scores
    return max(
        sizes.signal_levels * sizes.all_scores / DEAREST,
        matrix / LARGEST_MATRIX,
        matrix * sizes.signal_levels / MOST_PRODUCTS,
    )
