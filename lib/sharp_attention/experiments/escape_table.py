"""The runs of `escapes` summed up: means over seeds, intervals, paired differences.

A seed is one start and one order of the data, the same for every map, so that two maps
are compared seed by seed.
Intervals are Student's, 95 %, over the seeds.  With three of them the quantile is 4.3
standard errors: a difference that such an interval excludes from zero is safe to call,
one that it does not may still be there, and no statement about rare failures of
training follows from three runs.
"""

from pathlib import Path

import pandas as pd

from sharp_attention._checks import require
from sharp_attention.experiments.retrieval_runs import read_runs
from sharp_attention.numerics.statistics import mean_interval

__all__ = ["read", "retrained", "swapped"]


def read(folder: Path | None = None) -> pd.DataFrame:
    """Read all runs: a row for each trained map, seed, size and tested map.

    The argument, the columns and the errors are those of `read_runs`.
    """
    return read_runs("escapes", folder)


def retrained(table: pd.DataFrame) -> pd.DataFrame:
    """Compare each map, used in training and test, with softmax.

    Parameters
    ----------
    table : of `read`, two seeds at least

    Returns
    -------
    a row for each name and num_items: seeds; mean accuracy and its half-width `error`
    (per cent); mean `gain` over softmax and its `gain_error` (points, paired);
    `ranked`, `maximum_weight` and `maximum_share`, means over the seeds

    Raises
    ------
    ValueError
        If there are fewer than two seeds or some are missing.
    """
    own = table[table["trained"] == table["tested"]]
    return _summary(own.rename(columns={"trained": "name"}))


def swapped(table: pd.DataFrame) -> pd.DataFrame:
    """Compare maps that take the place of softmax at test time only, on its weights.

    Arguments, columns and errors are those of `retrained`.
    """
    own = table[table["trained"] == "softmax"]
    return _summary(own.rename(columns={"tested": "name"}))


def _summary(table: pd.DataFrame) -> pd.DataFrame:
    wide = table.pivot_table("accuracy", ["num_items", "seed"], "name", sort=False)
    seeds = table["seed"].nunique()
    require(seeds >= 2, "table", "of two seeds at least", seeds)
    complete = bool(wide.notna().all(axis=None)) and len(wide) == seeds * len(
        wide.index.unique("num_items")
    )
    require(complete, "table", "complete", f"{len(wide)} pairs of size and seed")
    means = table.groupby(["name", "num_items"])[
        ["ranked", "maximum_weight", "maximum_share"]
    ].mean()
    rows = []
    for name in wide.columns:
        for num_items, group in wide.groupby("num_items"):
            accuracy, error = mean_interval(group[name].to_numpy(float))
            gains = (group[name] - group["softmax"]).to_numpy(float)
            gain, gain_error = mean_interval(gains)
            rows.append(
                {
                    "name": name,
                    "num_items": num_items,
                    "seeds": seeds,
                    "accuracy": accuracy,
                    "error": error,
                    "gain": gain,
                    "gain_error": gain_error,
                }
            )
    return pd.DataFrame(rows).merge(means.reset_index(), on=["name", "num_items"])
