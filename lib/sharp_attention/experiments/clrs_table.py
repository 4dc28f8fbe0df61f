"""What the runs of `clrs_text` say, and when they say nothing.

The criterion, fixed before any result was read.  A task allows *no conclusion* about
an arm against softmax

1. with fewer than five seeds;
2. if either arm has not learned the task: at the sizes of training its mean accuracy
   is below one half;
3. if at every size beyond training all arms are near chance: the lower end of the
   Wilson interval of the mean accuracy, taken as if there had been one seed's texts
   (seeds share them), is at or below the share of the most frequent answer;
4. if the 95 % interval of the paired difference over seeds (Student's; mean over the
   sizes that pass 3) contains 0 and reaches further than 5 points.

Otherwise the arm is *better* or *worse* where that interval excludes 0, and there is
*no difference beyond 5 points* where it doesn't.
All tasks and both arms are judged by the same rule, and nothing is corrected for their
number: each verdict stands for one comparison.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from sharp_attention._checks import check_choice, check_integer, require
from sharp_attention.experiments import artefacts
from sharp_attention.experiments.clrs_training import TRAINING_SIZES
from sharp_attention.numerics.statistics import mean_interval

__all__ = [
    "ENOUGH_SEEDS",
    "LEARNED",
    "SMALL_DIFFERENCE",
    "Comparison",
    "by_size",
    "compare",
    "heads_by_size",
    "in_range",
    "read",
    "verdicts",
    "wilson",
]

ENOUGH_SEEDS = 5
LEARNED = 0.5
SMALL_DIFFERENCE = 0.05
_ARMS = ("softmax", "adaptive-test", "adaptive")


@dataclass(frozen=True)
class Comparison:
    """One arm against softmax on one task.

    Attributes
    ----------
    algorithm, arm : what is compared
    sizes : those beyond training at which some arm is above chance
    difference : mean paired difference of accuracy over them, in shares; NaN without
        such sizes or with fewer than two seeds
    error : half-width of its 95 % interval
    verdict : "better", "worse", "no difference beyond 5 points" or
        "no conclusion possible"
    reason : for the verdict, a sentence
    """

    algorithm: str
    arm: str
    sizes: tuple[int, ...]
    difference: float
    error: float
    verdict: str
    reason: str


def read(folder: Path | None = None) -> pd.DataFrame:
    """Read all runs: a row for each task, seed, arm and size, with shares.

    Parameters
    ----------
    folder : of the artefact; by default where ``reproduce`` writes it

    Raises
    ------
    FileNotFoundError
        With the command that makes it.
    """
    table = artefacts.read_table("clrs-text", "accuracy.csv", folder)
    table["accuracy"] = table["correct"] / table["num_texts"]
    table["chance"] = table["majority"] / table["num_texts"]
    table["reachable"] = table["answer_known"] / table["num_texts"]
    return table


def wilson(share: float, num_texts: int) -> tuple[float, float]:
    """Give the 95 % Wilson interval of a share of `num_texts` texts.

    Parameters
    ----------
    share : between 0 and 1; a mean over seeds need not be a whole number of texts
    num_texts : >= 1
    """
    check_integer("num_texts", num_texts, at_least=1)
    require(0 <= share <= 1, "share", "between 0 and 1", share)
    z2 = float(stats.norm.ppf(0.975)) ** 2
    middle = (share + z2 / (2 * num_texts)) / (1 + z2 / num_texts)
    variance = share * (1 - share) / num_texts + z2 / (4 * num_texts**2)
    error = float(np.sqrt(z2 * variance)) / (1 + z2 / num_texts)
    return max(0.0, middle - error), min(1.0, middle + error)


def by_size(table: pd.DataFrame) -> pd.DataFrame:
    """Average over seeds.

    Parameters
    ----------
    table : of `read`

    Returns
    -------
    a row for each task, arm and size: the number of seeds, the mean accuracy with its
    Wilson interval `low`, `high` (as if there had been one seed's texts), the lowest
    and the highest seed, `chance` and `reachable` (the share of texts whose answer
    training has shown at all)
    """
    groups = table.groupby(["algorithm", "arm", "size"], sort=False)
    means = groups.agg(
        seeds=("seed", "nunique"),
        num_texts=("num_texts", "first"),
        accuracy=("accuracy", "mean"),
        lowest=("accuracy", "min"),
        highest=("accuracy", "max"),
        chance=("chance", "first"),
        reachable=("reachable", "first"),
    ).reset_index()
    ends = [
        wilson(min(1.0, share), int(texts))
        for share, texts in zip(means["accuracy"], means["num_texts"], strict=True)
    ]
    means[["low", "high"]] = ends
    return means


def compare(table: pd.DataFrame, algorithm: str, arm: str) -> Comparison:
    """Judge one arm against softmax on one task by the criterion of this module.

    Parameters
    ----------
    table : of `read`
    algorithm : a task of the table
    arm : "adaptive-test" or "adaptive"

    Raises
    ------
    ValueError
        If the task or the arm is unknown.
    """
    check_choice("algorithm", algorithm, list(table["algorithm"].unique()))
    check_choice("arm", arm, _ARMS[1:])
    rows = table[table["algorithm"] == algorithm]
    sizes = _sizes_above_chance(rows)
    difference, error = _paired_difference(rows[rows["size"].isin(sizes)], arm)
    verdict, reason = _judge(rows, arm, sizes, difference, error)
    return Comparison(algorithm, arm, sizes, difference, error, verdict, reason)


def verdicts(table: pd.DataFrame) -> pd.DataFrame:
    """Judge both adaptive arms on every task: a row for each `Comparison`."""
    return pd.DataFrame(
        [
            vars(compare(table, algorithm, arm))
            for algorithm in table["algorithm"].unique()
            for arm in _ARMS[1:]
        ]
    )


def in_range(table: pd.DataFrame, algorithm: str, arm: str) -> tuple[float, float]:
    """Compare one arm with softmax at the sizes of training.

    No criterion was set for this beforehand: it is an observation.

    Parameters
    ----------
    table : of `read`
    algorithm, arm : as for `compare`

    Returns
    -------
    mean paired difference of accuracy over seeds, in shares, and the half-width of its
    95 % interval (Student's); both NaN with fewer than two seeds
    """
    check_choice("algorithm", algorithm, list(table["algorithm"].unique()))
    check_choice("arm", arm, _ARMS[1:])
    chosen = (table["algorithm"] == algorithm) & table["size"].isin(TRAINING_SIZES)
    return _paired_difference(table[chosen], arm)


def heads_by_size(folder: Path | None = None) -> pd.DataFrame:
    """Average what the heads do over seeds and heads, layer by layer.

    Returns
    -------
    a row for each task, arm, size and layer: entropy (nats), spread and top weight at
    the place that writes the first character of the answer, and `highest_weight`, the
    mean over seeds of the top weight of the sharpest head
    """
    table = artefacts.read_table("clrs-text", "heads.csv", folder)
    keys = ["algorithm", "arm", "size", "layer"]
    columns = ["entropy", "spread", "top_weight"]
    means = table.groupby(keys, sort=False)[columns].mean()
    sharpest = table.groupby([*keys, "seed"], sort=False)["top_weight"].max()
    means["highest_weight"] = sharpest.groupby(level=keys).mean()
    return means.reset_index()


def _sizes_above_chance(rows: pd.DataFrame) -> tuple[int, ...]:
    means = by_size(rows)
    beyond = means["size"] > max(TRAINING_SIZES)
    above = means[beyond & (means["low"] > means["chance"])]
    return tuple(int(size) for size in sorted(above["size"].unique()))


def _paired_difference(rows: pd.DataFrame, arm: str) -> tuple[float, float]:
    wide = rows.pivot_table("accuracy", "seed", "arm")
    if len(wide) < 2:
        return float("nan"), float("nan")
    return mean_interval((wide[arm] - wide["softmax"]).to_numpy())


def _judge(
    rows: pd.DataFrame,
    arm: str,
    sizes: tuple[int, ...],
    difference: float,
    error: float,
) -> tuple[str, str]:
    nothing = "no conclusion possible"
    seeds = rows["seed"].nunique()
    if seeds < ENOUGH_SEEDS:
        return nothing, f"{seeds} seeds are fewer than {ENOUGH_SEEDS}"
    in_range = rows[rows["size"].isin(TRAINING_SIZES)]
    learned = in_range.groupby("arm")["accuracy"].mean()[["softmax", arm]].min()
    if learned < LEARNED:
        share = f"{learned:.2f} at the sizes of training"
        return nothing, f"an arm has not learned the task: accuracy {share}"
    if not sizes:
        return nothing, "every arm is near chance at all sizes beyond training"
    if abs(difference) > error:
        return "better" if difference > 0 else "worse", "the interval excludes 0"
    if abs(difference) + error > SMALL_DIFFERENCE:
        return nothing, "the interval contains 0 and reaches beyond 5 points"
    return "no difference beyond 5 points", "the interval contains 0 and is narrow"
