"""The tables of the experiment `finite_samples`, summed up for figures and claims.

A *place* is a task, an activation, a kind of ridge and a sample ratio: the columns of
`PLACE`.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from sharp_attention._checks import check_choice
from sharp_attention.experiments import artefacts
from sharp_attention.experiments.finite_samples import BEST, PARTS

__all__ = ["PLACE", "compare", "descents", "dots", "gaps", "read"]

PLACE = ["task", "activation", "ridge", "sample_ratio"]


def read(part: str, folder: Path | None = None) -> pd.DataFrame:
    """Read one table of the artefact; ridges are words ("1", "0.1", "best").

    Parameters
    ----------
    part : "theory", "simulation" or "descent"
    folder : of the artefact; by default where ``reproduce`` writes it

    Raises
    ------
    FileNotFoundError
        With the command that makes it.
    """
    check_choice("part", part, PARTS)
    table = artefacts.read_table("finite-samples", f"{part}.csv", folder)
    # Without a word among them they were read as numbers.
    words = [x if x == BEST else f"{float(x):g}" for x in table["ridge"]]
    return table.assign(ridge=words)


def dots(simulation: pd.DataFrame) -> pd.DataFrame:
    """Average the instances of each place and start.

    Parameters
    ----------
    simulation : the table of that name

    Returns
    -------
    table with the columns of `PLACE`, start, dim, count, test_risk, training_loss,
    error (standard, of the mean test risk; NaN for a single instance),
    predicted_test_risk, predicted_training_loss and is_trusted
    """
    groups = simulation.groupby([*PLACE, "start", "dim"], sort=False)
    means = groups[
        [
            "test_risk",
            "training_loss",
            "predicted_test_risk",
            "predicted_training_loss",
        ]
    ].mean()
    spread, count = groups["test_risk"].std(ddof=1), groups.size()
    means["count"] = count
    means["error"] = spread / np.sqrt(count.to_numpy())
    means["is_trusted"] = groups["is_trusted"].all()
    return means.reset_index()


def compare(dots: pd.DataFrame) -> pd.DataFrame:
    """Set the means beside the theory, where the theory is trusted.

    Parameters
    ----------
    dots : of the function of that name

    Returns
    -------
    the trusted rows, informed starts only, with `deviation` = test_risk over
    predicted_test_risk - 1
    """
    chosen = dots[dots["is_trusted"] & (dots["start"] == "informed")]
    deviation = chosen["test_risk"] / chosen["predicted_test_risk"] - 1
    return chosen.assign(deviation=deviation).reset_index(drop=True)


def gaps(theory: pd.DataFrame, column: str, high: str, low: str) -> pd.DataFrame:
    """Subtract the test risks of two values of a column, all else equal.

    Parameters
    ----------
    theory : the table of that name
    column : "activation" or "ridge"
    high, low : its values, as in test_risk(high) - test_risk(low)

    Returns
    -------
    table with the other columns of `PLACE` and gap; only places that have both
    """
    check_choice("column", column, ("activation", "ridge"))
    others = [name for name in PLACE if name != column]
    wide = theory.pivot(index=others, columns=column, values="test_risk")
    return (wide[high] - wide[low]).dropna().rename("gap").reset_index()


def descents(table: pd.DataFrame) -> pd.DataFrame:
    """Set each descent beside the minimiser on the same texts.

    Parameters
    ----------
    table : the table "descent"

    Returns
    -------
    table with task, sample_ratio, instance, algorithm and difference, of the test risk
    from that of the quasi-Newton method
    """
    place = ["task", "sample_ratio", "instance"]
    wide = table.pivot(index=place, columns="algorithm", values="test_risk")
    exact = wide.pop("quasi-Newton")
    difference = wide.sub(exact, axis=0).melt(
        ignore_index=False, value_name="difference"
    )
    return difference.reset_index()
