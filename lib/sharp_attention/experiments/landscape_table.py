"""The shipped table of minima, and what follows from it."""

import numpy as np
import pandas as pd

from sharp_attention.experiments import artefacts

__all__ = ["CROSS", "SETTING", "cross_overlaps", "exponent", "paths", "read", "summary"]

SETTING = ["task", "signal", "length", "sample_ratio", "ridge", "activation", "offset"]
"""Columns that name a setting and a head."""

CROSS = ["m_kv", "m_vk", "q_kv"]
"""The three overlaps that vanish on the manifold."""

_KINDS = ["random", "informed", "swapped"]


def read() -> pd.DataFrame:
    """Return the minima of all settings; number -1 gathers descents without an end."""
    return artefacts.read_table("landscape", "minima.csv")


def summary(minima: pd.DataFrame) -> pd.DataFrame:
    """Sum up each setting.

    Parameters
    ----------
    minima : table of `read`

    Returns
    -------
    table with the columns of `SETTING`, minima (how many were met), lowest (family of
    the lowest), cross (largest cross overlap of the lowest), and for each kind of
    start: random, informed, swapped (how many there were), and with the endings _best
    (share at the lowest minimum), _matched (share at any matched minimum) and _swapped
    (share at any swapped one)
    """
    rows = []
    for names, group in minima.groupby(SETTING, sort=False):
        counts = group[_KINDS]
        row = dict(zip(SETTING, names, strict=True))
        is_end = group["minimum"] >= 0
        lowest = group[group["minimum"] == 0].iloc[0]
        row |= {"minima": int(is_end.sum()), "lowest": lowest["family"]}
        row["cross"] = float(lowest[CROSS].astype(float).abs().max())
        totals = counts.sum()
        for ending, chosen in (
            ("best", group["minimum"] == 0),
            ("matched", group["family"] == "matched"),
            ("swapped", group["family"] == "swapped"),
        ):
            for kind, share in (counts[chosen].sum() / totals).items():
                row[f"{kind}_{ending}"] = float(share)
        rows.append(row | totals.to_dict())
    return pd.DataFrame(rows)


def cross_overlaps(dimension: pd.DataFrame | None = None) -> pd.DataFrame:
    """Root mean square of the cross overlaps of trained heads at each dimension.

    Parameters
    ----------
    dimension : a row for each instance; by default the shipped table

    Returns
    -------
    table with columns activation, dim, size (over instances and the three overlaps)
    and error (standard error, from the scatter of the instances)
    """
    if dimension is None:
        dimension = artefacts.read_table("landscape", "dimension.csv")
    squares = (dimension[CROSS] ** 2).mean(axis=1).rename("square")
    groups = squares.groupby([dimension["activation"], dimension["dim"]], sort=False)
    size = np.sqrt(groups.mean())
    table = pd.DataFrame({"size": size, "error": groups.sem() / (2 * size)})
    return table.reset_index()


def exponent(table: pd.DataFrame) -> tuple[float, float]:
    """Fit size = c dim^e to rows of `cross_overlaps`; return e and its standard error.

    Logarithms are weighted by their errors.
    """
    x, y = np.log(table["dim"]), np.log(table["size"])
    weights = (table["size"] / table["error"]) ** 2
    centred = x - np.average(x, weights=weights)
    spread = float(np.sum(weights * centred**2))
    return float(np.sum(weights * centred * y) / spread), spread**-0.5


def paths() -> pd.DataFrame:
    """Return the overlaps and the exact population risk along plain descents."""
    return artefacts.read_table("landscape", "paths.csv")
