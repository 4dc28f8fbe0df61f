"""Means over few runs, with intervals that say how few they were."""

from scipy import stats

from sharp_attention._checks import require
from sharp_attention._typing import Float64

__all__ = ["mean_interval"]


def mean_interval(values: Float64) -> tuple[float, float]:
    """Give the mean and the half-width of Student's 95 % interval.

    Parameters
    ----------
    values : of independent runs, two at least

    Raises
    ------
    ValueError
        If there are fewer than two: one run has no spread.
    """
    require(len(values) >= 2, "values", "of two runs at least", len(values))
    quantile = float(stats.t.ppf(0.975, len(values) - 1))
    return float(values.mean()), quantile * float(stats.sem(values))
