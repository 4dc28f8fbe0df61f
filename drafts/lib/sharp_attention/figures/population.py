"""Pictures of population risks: which activation loses how much, and how fast."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sharp_attention._typing import Float64
from sharp_attention.figures import style
from sharp_attention.tasks.single_location import MaxSLR, SpikedSLR, Task
from sharp_attention.theory.single_location import population

__all__ = [
    "draw_length_curves",
    "draw_rates",
    "draw_risk_curves",
    "length_curves",
    "length_penalties",
    "risk_curves",
    "smallest_risks",
]

Lengths = int | Mapping[int, float]
ACTIVATIONS = ("softmax", "softplus", "erf", "linear")
COLOURS = style.COLOURS | {"element-wise": style.COLOURS["sigmoid"]}


def smallest_risks(task: Task) -> dict[str, float]:
    """Smallest risk of each activation, of any element-wise one, and the Bayes risk.

    Returns
    -------
    {"softmax", "softplus", "erf", "linear", "element-wise", "bayes": risk}
    """
    found = {name: population.minimise(task, name).risk for name in ACTIVATIONS}
    found["element-wise"] = population.elementwise_bound(task)
    found["bayes"] = population.bayes_risk(task)
    return found


def _table(tasks: Mapping[tuple[str, float], Task], columns: list[str]) -> pd.DataFrame:
    rows = [
        (*place, name, risk)
        for place, task in tasks.items()
        for name, risk in smallest_risks(task).items()
    ]
    return pd.DataFrame(rows, columns=[*columns, "activation", "risk"])


def risk_curves(
    signals: Sequence[float] | Float64, lengths: Mapping[str, Lengths]
) -> pd.DataFrame:
    """Smallest risks against the signal in the spiked task.

    Parameters
    ----------
    signals : values of ν
    lengths : name of the panel -> length or law of the length

    Returns
    -------
    table with columns panel, signal, activation and risk
    """
    tasks: dict[tuple[str, float], Task] = {
        (panel, float(signal)): SpikedSLR(float(signal), length)
        for panel, length in lengths.items()
        for signal in signals
    }
    return _table(tasks, ["panel", "signal"])


def length_curves(lengths: Sequence[int], signal: float = np.inf) -> pd.DataFrame:
    """Smallest risks against the length in the max task.

    Returns
    -------
    table with columns panel, length, activation and risk
    """
    tasks: dict[tuple[str, float], Task] = {
        ("max", length): MaxSLR(signal, length) for length in lengths
    }
    return _table(tasks, ["panel", "length"])


def length_penalties(tasks: Mapping[str, Task]) -> pd.DataFrame:
    """Compare the cost of a random length with the mean cost of each length.

    Parameters
    ----------
    tasks : name -> task with a random length

    Returns
    -------
    table with columns task, activation, risk, mean_of_minima and penalty
    """
    rows = []
    for name, task in tasks.items():
        together = smallest_risks(task)
        alone = dict.fromkeys(together, 0.0)
        for length, probability in task.length_probabilities.items():
            one = type(task)(task.signal, length, task.noise)
            for activation, risk in smallest_risks(one).items():
                alone[activation] += probability * risk
        rows += [(name, key, together[key], alone[key]) for key in together]
    columns = ["task", "activation", "risk", "mean_of_minima"]
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(penalty=table["risk"] - table["mean_of_minima"])


def draw_risk_curves(curves: pd.DataFrame) -> Figure:
    """Draw the table of `risk_curves`, one panel for each law of the length."""
    names = list(dict.fromkeys(curves["panel"]))
    with style.use_style():
        figure, panels = plt.subplots(
            1, len(names), sharey=True, figsize=(7.6, 4.0), layout="constrained"
        )
        for axes, name in zip(np.atleast_1d(panels), names, strict=True):
            rows = curves[curves["panel"] == name]
            _draw_lines(axes, rows, "signal", labels=name == names[-1])
            bound = rows[rows["activation"] == "bayes"]
            colour = style.COLOURS["bayes"]
            axes.plot(bound["signal"], bound["risk"], "o", color=colour, markersize=3.5)
            axes.set_title(name, fontweight="normal", fontsize=11)
            axes.set(yscale="log", xlabel="signal ν")
        np.atleast_1d(panels)[0].set_ylabel("smallest risk (dots: Bayes)")
        _say(figure, "Only softmax reaches the Bayes risk, at every length")
    return figure


def draw_rates(curves: pd.DataFrame, length: int, softplus_constant: float) -> Figure:
    """Draw risks against the signal with their asymptotic forms.

    Parameters
    ----------
    curves : of `risk_curves`, one panel
    length : number of tokens L of the panel
    softplus_constant : κ in κ (L - 1) / ν
    """
    signal = np.geomspace(8, curves["signal"].max())
    forms = {
        "linear": length / signal,
        "softplus": softplus_constant * (length - 1) / signal,
        "element-wise": np.sqrt(np.pi * (length - 1) / (2 * signal))
        * np.exp(-signal / 8),
        "softmax": (length - 1) * np.sqrt(np.pi / signal) / 2 * np.exp(-signal / 4),
    }
    with style.use_style():
        figure, axes = plt.subplots()
        _draw_lines(axes, curves, "signal", labels=False, names=tuple(forms))
        for name, form in forms.items():
            axes.plot(signal, form, ":", color=COLOURS[name], linewidth=1.2)
        ends = {"linear": 60.0, "softplus": 60.0, "element-wise": 60.0, "softmax": 35.0}
        notes = {
            "linear": "linear, L/ν",
            "softplus": "softplus, 0.83 (L − 1)/ν",
            "element-wise": "best element-wise, exp(−ν/8)",
            "softmax": "softmax, exp(−ν/4)",
        }
        for name, x in ends.items():
            rows = curves[curves["activation"] == name]
            y = float(np.exp(np.interp(x, rows["signal"], np.log(rows["risk"]))))
            below = name != "linear"
            style.label_line(
                axes,
                x,
                y,
                notes[name],
                COLOURS[name],
                offset=(-6, -10 if below else 10),
                align="right" if below else "left",
            )
        axes.set(
            xscale="log",
            yscale="log",
            ylim=(1e-12, 2),
            xlabel="signal ν",
            ylabel="smallest risk",
        )
        style.message(axes, "The exponential gives a rate, normalisation doubles it")
    return figure


def draw_length_curves(curves: pd.DataFrame) -> Figure:
    """Draw the table of `length_curves`."""
    with style.use_style():
        figure, axes = plt.subplots()
        _draw_lines(axes, curves, "length", labels=True)
        axes.set(xscale="log", ylim=(-0.03, 1), xlabel="tokens L")
        axes.set_ylabel("smallest risk")
        style.message(axes, "Without doubt, only softmax survives long texts")
    return figure


def _draw_lines(
    axes: Axes,
    rows: pd.DataFrame,
    along: str,
    *,
    labels: bool,
    names: Sequence[str] = ACTIVATIONS,
) -> None:
    for name in names:
        line = rows[rows["activation"] == name]
        axes.plot(line[along], line["risk"], color=COLOURS[name])
        if labels:
            x, y = float(line[along].iloc[-1]), float(line["risk"].iloc[-1])
            style.label_line(axes, x, y, name, COLOURS[name])


def _say(figure: Figure, text: str) -> None:
    figure.suptitle(text, x=0.01, ha="left", fontweight="bold", fontsize=12)
