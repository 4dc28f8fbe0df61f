"""Table 1 from the runs of `max_retrieval`: means, intervals and paired tests.

A seed is one trained model; both rules are put to the same weights and the same sets,
so that their difference is known much better than either accuracy.
Intervals are Student's, 95 %, over the seeds.
"""

from collections.abc import Hashable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from sharp_attention._checks import require
from sharp_attention._typing import Float64
from sharp_attention.experiments import max_retrieval
from sharp_attention.experiments.retrieval_runs import read_runs
from sharp_attention.numerics.statistics import mean_interval
from sharp_attention.theory import class_vote

__all__ = [
    "ARM",
    "QUOTED",
    "QUOTED_FURTHER",
    "by_arm",
    "by_size",
    "diagnosis",
    "main_arm",
    "read",
]

ARM = ["num_steps", "smallest_size", "activation"]
"""The columns that tell the arms of the experiment apart."""

QUOTED = pd.DataFrame(
    [
        (16, 98.6, 98.6, 0.4),
        (64, 94.3, 94.5, 2e-3),
        (256, 81.3, 82.1, 2e-4),
        (1024, 53.8, 57.7, 1e-4),
        (4096, 22.6, 24.9, 0.02),
        (16384, 12.4, 14.0, 4e-3),
    ],
    columns=["num_items", "softmax", "adaptive", "p_value"],
).set_index("num_items")
"""The paper's Table 1 at the six sizes that we have from secondary sources (%)."""

QUOTED_FURTHER = pd.DataFrame(
    [
        (32, 97.1, 97.1, "C"),
        (128, 89.7, 89.9, "B"),
        (512, 70.1, 72.5, "A"),
        (2048, 35.7, 39.4, "A"),
        (8192, 15.7, 17.5, "C"),
    ],
    columns=["num_items", "softmax", "adaptive", "confidence"],
).set_index("num_items")
"""Its other sizes, without p values: how well each row is known differs."""


def read(folder: Path | None = None) -> pd.DataFrame:
    """Read all runs: a row for each arm, seed, size and rule.

    The argument, the columns and the errors are those of `read_runs`.
    """
    return read_runs("max-retrieval", folder)


def main_arm(table: pd.DataFrame) -> pd.DataFrame:
    """Keep the arm of the paper's recipe: the longest training, sizes 5 to 16, GELU."""
    is_main = pd.Series(True, index=table.index)
    for name, value in max_retrieval.MAIN.items():
        is_main &= table[name] == value
    return table[is_main]


def by_size(table: pd.DataFrame) -> pd.DataFrame:
    """Sum up one arm in the form of Table 1.

    Parameters
    ----------
    table : of `read`, one arm, two seeds at least

    Returns
    -------
    indexed by num_items; for each of softmax, adaptive and difference the mean over
    seeds (per cent) and, in NAME_error, the half-width of its interval; p_value is
    that of the paired two-sided t-test over seeds

    Raises
    ------
    ValueError
        If there are fewer than two seeds or seeds are missing at a size.
    """
    seeds = table["seed"].nunique()
    require(seeds >= 2, "table", "of two seeds at least", seeds)
    wide = table.pivot_table("accuracy", ["num_items", "seed"], "rule")
    complete = (
        bool(wide.notna().all(axis=None))
        and (wide.groupby("num_items").size() == seeds).all()
    )
    require(bool(complete), "table", "complete", f"{len(wide)} pairs")
    return pd.DataFrame(
        [
            {"num_items": num_items, **_compare(rows["softmax"], rows["adaptive"])}
            for num_items, rows in wide.groupby("num_items")
        ]
    ).set_index("num_items")


def diagnosis(table: pd.DataFrame) -> pd.DataFrame:
    """Tell ranking errors from dispersion, size by size.

    Parameters
    ----------
    table : of `read`, one arm

    Returns
    -------
    indexed by num_items: means over seeds of the accuracies (per cent), the share
    `ranked` of sets in which the maximum is in front (per cent), the softmax
    `top_weight` and `entropy` (nats), the `slope` a at which `theory.class_vote` has
    that top weight, `toy`, the accuracy (per cent) of a head of that slope which
    ranks without error, and `both`, the product of the shares `ranked` and `toy`
    """
    columns = ["accuracy", "ranked", "top_weight", "entropy"]
    is_plain = table["rule"] == "softmax"
    plain, adaptive = (
        table[chosen].groupby("num_items")[columns].mean()
        for chosen in (is_plain, ~is_plain)
    )
    sizes = [int(n) for n in plain.index]
    slopes = [class_vote.implied_slope(n, float(plain["top_weight"][n])) for n in sizes]
    toy = [
        100 * class_vote.vote_accuracy(n, slope)
        for n, slope in zip(sizes, slopes, strict=True)
    ]
    return pd.DataFrame(
        {
            "softmax": plain["accuracy"],
            "adaptive": adaptive["accuracy"],
            "ranked": plain["ranked"],
            "top_weight": plain["top_weight"],
            "entropy": plain["entropy"],
            "slope": slopes,
            "toy": toy,
        }
    ).assign(both=lambda table: table["ranked"] * table["toy"] / 100)


def by_arm(table: pd.DataFrame) -> pd.DataFrame:
    """Sum up every arm that was run: means over its seeds, per cent.

    Returns
    -------
    columns of `ARM`, num_items, seeds, softmax, adaptive and difference
    """
    keys = [*ARM, "num_items"]
    wide = table.pivot_table("accuracy", [*keys, "seed"], "rule").reset_index("seed")
    groups = wide.groupby(level=keys)
    means = groups[["softmax", "adaptive"]].mean()
    means.insert(0, "seeds", groups["seed"].nunique())
    means["difference"] = means["adaptive"] - means["softmax"]
    return means.reset_index()


def _compare(softmax: pd.Series, adaptive: pd.Series) -> dict[Hashable, float]:
    columns = {
        "softmax": softmax.to_numpy(),
        "adaptive": adaptive.to_numpy(),
        "difference": (adaptive - softmax).to_numpy(),
    }
    row: dict[Hashable, float] = {}
    for name, values in columns.items():
        row[name], row[f"{name}_error"] = mean_interval(values)
    row["p_value"] = _paired_p_value(columns["adaptive"], columns["softmax"])
    return row


def _paired_p_value(one: Float64, other: Float64) -> float:
    """P value of the paired t-test; equal differences leave it nothing to divide by."""
    if np.ptp(one - other) == 0:
        return float(one[0] == other[0])
    return float(stats.ttest_rel(one, other).pvalue)
