"""Runs of max retrieval as an experiment wrote them, counts turned into rates."""

from pathlib import Path

import pandas as pd

from sharp_attention.experiments import artefacts

__all__ = ["read_runs"]


def read_runs(name: str, folder: Path | None = None) -> pd.DataFrame:
    """Read the accuracies of all runs.

    Parameters
    ----------
    name : of the experiment
    folder : of the artefact; by default where ``reproduce`` writes it

    Returns
    -------
    table as the experiment writes it, with `accuracy` and `ranked` (sets whose largest
    logit is the true maximum's) in per cent beside the counts

    Raises
    ------
    FileNotFoundError
        With the command that makes it.
    """
    table = artefacts.read_table(name, "accuracy.csv", folder)
    table["accuracy"] = 100 * table["correct"] / table["num_sets"]
    table["ranked"] = 100 * table["top_is_maximum"] / table["num_sets"]
    return table
