"""What the run of `logit_spread` says: statistics over heads, slopes, needles."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from sharp_attention._checks import check_choice
from sharp_attention.experiments import artefacts, logit_spread, spread_texts

__all__ = [
    "QUOTED",
    "aggregations",
    "answers",
    "averaged",
    "heads",
    "lookups",
    "needles",
    "over_heads",
    "perplexity",
    "slopes",
]

QUOTED = pd.DataFrame(
    [("Gemma 2B", 2.28, 5.69, 2.05, 14.78), ("Gemma 7B", 0.09, 5.82, 2.61, 32.74)],
    columns=["model", "min", "mean", "std", "max"],
).set_index("model")
"""Spread over all heads on a source file of about 4,000 tokens, as quoted from the
paper's section 3; how rows were put together is not known to us."""

_HEAD = ["layer", "head"]


def heads(folder: Path | None = None) -> pd.DataFrame:
    """Read the table of all heads; columns model, text and those of `measure`.

    Raises
    ------
    FileNotFoundError
        With the command that makes it.
    """
    return artefacts.read_table("logit-spread", "heads.csv", folder)


def needles(folder: Path | None = None) -> pd.DataFrame:
    """Read the table of the needle design, see `needles.measure`."""
    return artefacts.read_table("logit-spread", "needles.csv", folder)


def answers(folder: Path | None = None) -> pd.DataFrame:
    """Read the probability of the right digit by distractors, length and needle."""
    return artefacts.read_table("logit-spread", "answers.csv", folder)


def perplexity(folder: Path | None = None) -> pd.DataFrame:
    """Read the perplexities: a row for each text, a column for each rule."""
    table = artefacts.read_table("logit-spread", "perplexity.csv", folder)
    return table.pivot_table("perplexity", "text", "rule", sort=False)[
        ["softmax", "adaptive"]
    ]


def averaged(table: pd.DataFrame, model: str) -> pd.DataFrame:
    """Average each head of a model over the four texts.

    Parameters
    ----------
    table : of `heads`
    model : "smollm2" or "minilm"

    Raises
    ------
    ValueError
        If the model is not in the table.
    """
    check_choice("model", model, sorted(set(table["model"])))
    chosen = (table["model"] == model) & table["text"].isin(spread_texts.FOUR)
    groups = table[chosen].groupby(["length", *_HEAD])
    return groups.mean(numeric_only=True).reset_index()


def over_heads(table: pd.DataFrame, column: str = "spread") -> pd.DataFrame:
    """Statistics over the heads of one model at each length.

    Parameters
    ----------
    table : a row for each length and head, of `logit_spread.measure` or `averaged`
    column : the spread that is summed up, one of `logit_spread.SPREADS`

    Returns
    -------
    indexed by length; heads, min, mean, std, median and max of the spread, the means
    of max_weight, entropy (nats), first_weight, spread_rest, max_weight_rest and
    entropy_rest, and below_log, the share of heads whose spread is below log(length):
    only there the lemma's bound exp(spread) / n on a weight is below 1
    """
    groups = table.groupby("length")
    spread = groups[column]
    below = table[column] < np.log(table["length"])
    result = pd.DataFrame(
        {
            "heads": spread.size(),
            "min": spread.min(),
            "mean": spread.mean(),
            "std": spread.std(ddof=0),
            "median": spread.median(),
            "max": spread.max(),
            "below_log": below.groupby(table["length"]).mean(),
        }
    )
    means = [
        "max_weight",
        "entropy",
        "first_weight",
        "spread_rest",
        "max_weight_rest",
        "entropy_rest",
    ]
    return result.join(groups[means].mean())


def aggregations(table: pd.DataFrame, model: str, length: int) -> pd.DataFrame:
    """Compare the ways to make one number of a head's rows, on the file of code.

    Returns
    -------
    indexed by the names of `logit_spread.SPREADS`; min, mean, std and max over heads
    """
    chosen = (table["model"] == model) & (table["text"] == "code")
    rows = table[chosen & (table["length"] == length)]
    parts = [
        over_heads(rows, column)[["min", "mean", "std", "max"]].iloc[0].rename(column)
        for column in logit_spread.SPREADS
    ]
    return pd.DataFrame(parts)


def slopes(table: pd.DataFrame, shortest: int = 32) -> pd.DataFrame:
    """Fit how statistics grow with length, for each model and text.

    Parameters
    ----------
    table : of `heads`
    shortest : lengths below are left out

    Returns
    -------
    indexed by model and text; per e-fold of the length the change of the spread, of
    the entropy (1 if the weights stay in proportion) and of the logarithm of the mean
    largest weight (−1 if all weights fall like 1/n), and the same without the first
    token
    """
    long = table[(table["length"] >= shortest) & (table["text"] != "code")]
    means = long.groupby(["model", "text", "length"], sort=False).mean(
        numeric_only=True
    )
    for name in ("max_weight", "max_weight_rest"):
        means[name] = np.log(means[name])
    names = ["spread", "entropy", "max_weight"]
    columns = [*names, *(f"{name}_rest" for name in names)]
    groups = means.reset_index().groupby(["model", "text"], sort=False)
    rows = {
        keys: np.polyfit(np.log(rows["length"]), rows[columns], 1)[0]
        for keys, rows in groups
    }
    index = pd.MultiIndex.from_tuples(rows, names=["model", "text"])
    return pd.DataFrame(list(rows.values()), index=index, columns=columns)


def lookups(
    table: pd.DataFrame, num_heads: int = 5, columns: Sequence[str] = ()
) -> pd.DataFrame:
    """Follow the heads that look the answer up, among ever more distractors.

    They are the heads with the largest weight on the answer at the shortest length,
    chosen on other needles than those that are reported, separately for each kind of
    distractors.

    Parameters
    ----------
    table : of `needles`
    num_heads : how many
    columns : further columns to average

    Returns
    -------
    columns distractors, length and the means over the chosen heads of target_weight,
    target_gap (logit of the answer minus the largest), spread, entropy and max_weight
    """
    names = ["target_weight", "target_gap", "spread", "entropy", "max_weight", *columns]
    parts = []
    for kind, rows in table.groupby("distractors", sort=False):
        shortest = rows[rows["length"] == rows["length"].min()]
        best = shortest.nlargest(num_heads, "chosen_by")[_HEAD]
        means = rows.merge(best, on=_HEAD).groupby("length")[names].mean()
        parts.append(means.reset_index().assign(distractors=kind))
    return pd.concat(parts, ignore_index=True)[["distractors", "length", *names]]
