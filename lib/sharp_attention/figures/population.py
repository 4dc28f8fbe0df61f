"""Pictures of population risks: which activation loses how much, and how fast."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sharp_attention._typing import Float64
from sharp_attention.experiments import artefacts
from sharp_attention.figures import style
from sharp_attention.theory.single_location import asymptotics

__all__ = [
    "benchmark_table",
    "draw_length_curves",
    "draw_rates",
    "draw_risk_curves",
    "length_curves",
    "length_penalties",
    "risk_curves",
    "smallest_risks",
]

ACTIVATIONS = ("softmax", "softplus", "erf", "linear")
COLOURS = style.COLOURS | {"element-wise": style.COLOURS["sigmoid"]}

LOWEST = 1e-11
"""Lower end of the axis of the rates."""

RATES = {
    "linear": "linear, L/ν",
    "softplus": "softplus, 0.83 (L − 1)/ν",
    "element-wise": "best element-wise, exp(−ν/8)",
    "softmax": "softmax, exp(−ν/4)",
}
"""Activation and the label of its curve with its rate."""


def smallest_risks() -> pd.DataFrame:
    """Read the shipped artefact of the experiment smallest-risks.

    Returns
    -------
    table with columns task, signal, shortest, longest (uniform law of the length),
    activation and risk
    """
    return artefacts.read_table("smallest-risks", "risks.csv")


def risk_curves(
    risks: pd.DataFrame, laws: Mapping[str, tuple[int, int]]
) -> pd.DataFrame:
    """Select risks against the signal in the spiked task.

    Parameters
    ----------
    risks : of `smallest_risks`
    laws : name of the panel -> shortest and longest length

    Returns
    -------
    table with columns panel, signal, activation and risk
    """
    spiked = risks[risks["task"] == "spiked"]
    panels = []
    for panel, (shortest, longest) in laws.items():
        here = (spiked["shortest"] == shortest) & (spiked["longest"] == longest)
        rows = spiked.loc[here, ["signal", "activation", "risk"]]
        panels.append(rows.assign(panel=panel))
    return pd.concat(panels, ignore_index=True)


def length_curves(risks: pd.DataFrame, signal: float = np.inf) -> pd.DataFrame:
    """Select risks against a fixed length in the max task.

    Returns
    -------
    table with columns length, activation and risk
    """
    is_fixed = risks["shortest"] == risks["longest"]
    here = (risks["task"] == "max") & (risks["signal"] == signal) & is_fixed
    rows = risks.loc[here, ["longest", "activation", "risk"]]
    return rows.rename(columns={"longest": "length"}).reset_index(drop=True)


def length_penalties(risks: pd.DataFrame) -> pd.DataFrame:
    """Compare the risk at a random length, 1 to 3, with the mean over these lengths.

    A single token leaves nothing to find, so the risk of length 1 is 0.

    Parameters
    ----------
    risks : of `smallest_risks`

    Returns
    -------
    table with columns task, signal, activation, risk, mean_of_minima and penalty, for
    the tasks whose risks at lengths 2 and 3 are known
    """
    place = ["task", "signal", "activation"]
    together, two, three = (
        risks[(risks["shortest"] == shortest) & (risks["longest"] == longest)]
        .drop_duplicates(place)
        .set_index(place)["risk"]
        for shortest, longest in ((1, 3), (2, 2), (3, 3))
    )
    mean = ((two + three) / 3).rename("mean_of_minima")
    table = pd.concat([together, mean], axis=1, join="inner").dropna().reset_index()
    return table.assign(penalty=table["risk"] - table["mean_of_minima"])


def benchmark_table() -> pd.DataFrame:
    """Read what quadrature and Monte Carlo cost for an error of 1e-4.

    Returns
    -------
    table with columns task, signal, length, "quadrature, ms", "quadrature error"
    (measured), "Monte Carlo, s" (extrapolated) and ratio (of the second time to the
    first), rounded for reading
    """
    costs = artefacts.read_table("population-benchmark", "costs.csv")
    table = costs[["task", "signal", "length"]].copy()
    table["quadrature, ms"] = costs["quadrature_ms"].round(2)
    table["quadrature error"] = costs["quadrature_error"].map("{:.0e}".format)
    table["Monte Carlo, s"] = costs["monte_carlo_s"].map("{:,.0f}".format)
    table["ratio"] = costs["ratio"].map("{:,.0f}".format)
    return table


def draw_risk_curves(curves: pd.DataFrame) -> Figure:
    """Draw the table of `risk_curves`, one panel for each law of the length."""
    names = list(dict.fromkeys(curves["panel"]))
    with style.use_style():
        figure, panels = plt.subplots(
            1, len(names), sharey=True, figsize=(7.6, 4.0), layout="constrained"
        )
        for axes, name in zip(np.atleast_1d(panels), names, strict=True):
            rows = curves[curves["panel"] == name]
            last = name == names[-1]
            _draw_lines(axes, rows, "signal", dict.fromkeys(ACTIVATIONS, 0.0), last)
            bound = rows[rows["activation"] == "bayes"]
            colour = style.COLOURS["bayes"]
            axes.plot(bound["signal"], bound["risk"], "o", color=colour, markersize=3.5)
            axes.set_title(name, fontweight="normal", fontsize=11)
            axes.set(yscale="log", xlabel="signal ν")
        np.atleast_1d(panels)[0].set_ylabel("smallest risk (dots: Bayes)")
        figure.suptitle(
            "Only softmax reaches the Bayes risk, at every length",
            x=0.01,
            ha="left",
            fontweight="bold",
            fontsize=12,
        )
    return figure


def draw_rates(curves: pd.DataFrame, length: int) -> Figure:
    """Draw risks against the signal with their leading asymptotic forms.

    Parameters
    ----------
    curves : of `risk_curves`, one panel
    length : number of tokens L of the panel
    """
    signal = np.geomspace(8, curves["signal"].max(), 60)
    kappa = asymptotics.softplus_constant().value
    elementwise = [asymptotics.elementwise_tail(x, length) for x in signal]
    softmax = [asymptotics.softmax_tail(x, length, num_terms=1) for x in signal]
    forms: dict[str, Float64] = {
        "linear": length / signal,
        "softplus": kappa * (length - 1) / signal,
        "element-wise": np.array(elementwise),
        "softmax": np.array(softmax),
    }
    shifts = {"linear": 7.0, "softplus": -6.0, "element-wise": 0.0, "softmax": 0.0}
    with style.use_style():
        figure, axes = plt.subplots()
        _draw_lines(axes, curves, "signal", shifts, is_labelled=False)
        for name, label in RATES.items():
            axes.plot(signal, forms[name], ":", color=COLOURS[name], linewidth=1.2)
            rows = curves[(curves["activation"] == name) & (curves["risk"] > LOWEST)]
            x, y = rows.sort_values("signal")[["signal", "risk"]].iloc[-1]
            offset = (8.0, shifts[name])
            style.label_line(axes, x, y, label, COLOURS[name], offset=offset)
        axes.set(xscale="log", yscale="log", ylim=(LOWEST, 2))
        axes.set(xlabel="signal ν", ylabel="smallest risk")
        style.message(axes, "The exponential gives a rate, normalisation doubles it")
    return figure


def draw_length_curves(curves: pd.DataFrame) -> Figure:
    """Draw the table of `length_curves`."""
    with style.use_style():
        figure, axes = plt.subplots()
        # Linear and softplus end close to each other.
        shifts = dict.fromkeys(ACTIVATIONS, 0.0) | {"linear": 6.0, "softplus": -6.0}
        _draw_lines(axes, curves, "length", shifts)
        axes.set(xscale="log", ylim=(-0.03, 1.03))
        axes.set(xlabel="number of tokens L", ylabel="smallest risk")
        style.message(axes, "Without doubt, only softmax survives long texts")
    return figure


def _draw_lines(
    axes: Axes,
    rows: pd.DataFrame,
    along: str,
    shifts: Mapping[str, float],
    is_labelled: bool = True,
) -> None:
    """Draw a line for each activation in `shifts`, which move labels up, in points."""
    for name, shift in shifts.items():
        line = rows[rows["activation"] == name].sort_values(along)
        colour = COLOURS[name]
        axes.plot(line[along], line["risk"], "o-", color=colour, markersize=3)
        if is_labelled:
            x, y = float(line[along].iloc[-1]), float(line["risk"].iloc[-1])
            style.label_line(axes, x, y, name, colour, offset=(6.0, shift))
