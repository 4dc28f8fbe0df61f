"""Pictures of the single-location task and of its order parameters."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sharp_attention._typing import Float64
from sharp_attention.figures import style
from sharp_attention.tasks.single_location import Samples, SpikedSLR
from sharp_attention.theory.single_location import bayes, readers

__all__ = [
    "calibration_table",
    "draw_calibration",
    "draw_needles",
    "draw_readers",
    "needle_table",
    "reader_curves",
    "risk_table",
]


def needle_table(samples: Mapping[str, Samples], num_texts: int = 4) -> pd.DataFrame:
    """Tabulate the scores of every token of the first few texts.

    Parameters
    ----------
    samples : name of the task -> samples of fixed length
    num_texts : texts of each task

    Returns
    -------
    table with columns task, text, token, score and is_needle
    """
    tables = []
    for name, draws in samples.items():
        tokens, key = np.asarray(draws.tokens[:num_texts]), np.asarray(draws.key)
        scores = tokens @ key / np.sqrt(len(key))
        text, token = np.indices(scores.shape)
        is_needle = token == np.asarray(draws.position)[:num_texts, None]
        columns = {"text": text, "token": token, "score": scores}
        table = pd.DataFrame({k: v.ravel() for k, v in columns.items()})
        tables.append(table.assign(task=name, is_needle=is_needle.ravel()))
    return pd.concat(tables, ignore_index=True)


def draw_needles(needles: pd.DataFrame) -> Figure:
    """Draw the scores of `needle_table`, one panel a task, one column a text."""
    names = list(dict.fromkeys(needles["task"]))
    with style.use_style():
        figure, panels = plt.subplots(1, len(names), sharey=True, layout="constrained")
        for axes, name in zip(np.atleast_1d(panels), names, strict=True):
            _draw_scores(axes, needles[needles["task"] == name], name == names[-1])
            axes.set_title(name, fontweight="normal", fontsize=11)
            axes.set(xlabel="text", xlim=(0.5, needles["text"].max() + 1.5))
            axes.set_xticks(range(1, needles["text"].max() + 2))
        np.atleast_1d(panels)[0].set_ylabel("score of the token, χ*")
        figure.suptitle(
            "A marked token is often, the largest always on top",
            x=0.01,
            ha="left",
            fontweight="bold",
            fontsize=12,
        )
    return figure


def _draw_scores(axes: Axes, rows: pd.DataFrame, label: bool) -> None:
    hay, needle = rows[~rows["is_needle"]], rows[rows["is_needle"]]
    axes.plot(
        hay["text"] + 1,
        hay["score"],
        "o",
        markerfacecolor="none",
        color=style.COLOURS["bayes"],
    )
    colour = style.COLOURS["adaptive"]
    axes.plot(needle["text"] + 1, needle["score"], "o", color=colour, markersize=8)
    if label:
        height = float(needle.iloc[0]["score"])
        style.label_line(axes, 1, height, "answer", colour, offset=(9, 0))


def calibration_table(
    posterior: Float64, position: np.ndarray, num_bins: int = 10
) -> pd.DataFrame:
    """How often tokens that were given probability p hold the answer.

    Parameters
    ----------
    posterior : (texts, tokens) probabilities
    position : (texts,) index of the token that holds the answer
    num_bins : equally wide bins of p; empty ones are left out

    Returns
    -------
    table with columns probability (mean in the bin), frequency, error (standard, if
    the probabilities are right) and count
    """
    token = np.arange(posterior.shape[1])
    is_needle = (token == np.asarray(position)[:, None]).ravel()
    p = np.asarray(posterior, dtype=np.float64).ravel()
    index = np.minimum((p * num_bins).astype(int), num_bins - 1)
    rows = []
    for bin_index in range(num_bins):
        inside = index == bin_index
        count = int(inside.sum())
        if count == 0:
            continue
        mean = float(p[inside].mean())
        error = float(np.sqrt(np.sum(p[inside] * (1 - p[inside]))) / count)
        rows.append((mean, float(is_needle[inside].mean()), error, count))
    return pd.DataFrame(rows, columns=["probability", "frequency", "error", "count"])


def draw_calibration(calibration: pd.DataFrame) -> Figure:
    """Draw the table of `calibration_table` against the diagonal."""
    with style.use_style():
        figure, axes = plt.subplots(figsize=(4.8, 4.2))
        axes.plot([0, 1], [0, 1], color=style.COLOURS["bayes"], linewidth=1.2)
        axes.errorbar(
            calibration["probability"],
            calibration["frequency"],
            2 * calibration["error"],
            fmt="o",
            color=style.COLOURS["softmax"],
        )
        axes.set(
            xlabel="probability given by the posterior",
            ylabel="fraction that hold the answer",
            aspect="equal",
        )
        style.message(axes, "The posterior means what it says")
    return figure


def risk_table(predictions: Mapping[str, np.ndarray], target: Float64) -> pd.DataFrame:
    """Measured risks of several readers on the same texts.

    Parameters
    ----------
    predictions : name of the reader -> (texts,) predictions
    target : (texts,) answers

    Returns
    -------
    table with columns reader, risk and error (standard)
    """
    rows = []
    for name, prediction in predictions.items():
        squared = (np.asarray(target) - np.asarray(prediction)) ** 2
        error = squared.std(ddof=1) / np.sqrt(len(squared))
        rows.append((name, float(squared.mean()), float(error)))
    return pd.DataFrame(rows, columns=["reader", "risk", "error"])


READERS = {
    "spreads evenly": "linear",
    "bets on the highest": "adaptive",
    "posterior mean": "softmax",
}
"""Name of each reader and the subject whose colour it takes."""


def reader_curves(length: int, signals: Sequence[float] | Float64) -> pd.DataFrame:
    """Exact risks of the three `READERS` in the spiked task against the signal.

    Parameters
    ----------
    length : number of tokens
    signals : values of ν

    Returns
    -------
    table with columns reader, signal and risk
    """
    rows = []
    for signal in map(float, signals):
        best = bayes.bayes_risk(SpikedSLR(signal, length))
        rows.append(("spreads evenly", signal, readers.even_risk(length)))
        rows.append(
            ("bets on the highest", signal, readers.betting_risk(signal, length))
        )
        rows.append(("posterior mean", signal, best))
    return pd.DataFrame(rows, columns=["reader", "signal", "risk"])


def draw_readers(curves: pd.DataFrame, measured: pd.DataFrame, signal: float) -> Figure:
    """Draw the table of `reader_curves` with measured risks at one signal."""
    places = {
        "spreads evenly": (12.0, (0.0, 9.0)),
        "bets on the highest": (0.7, (10.0, 2.0)),
        "posterior mean": (3.5, (-58.0, -34.0)),
    }
    with style.use_style():
        figure, axes = plt.subplots()
        for name, subject in READERS.items():
            rows = curves[curves["reader"] == name]
            colour = style.COLOURS[subject]
            axes.plot(rows["signal"], rows["risk"], color=colour)
            dots = measured[measured["reader"] == name]
            axes.errorbar(
                [signal] * len(dots), dots["risk"], 2 * dots["error"], fmt="o", c=colour
            )
            x, offset = places[name]
            y = float(np.interp(x, rows["signal"], rows["risk"]))
            style.label_line(axes, x, y, name, colour, offset=offset)
        axes.set(xlabel="signal ν", ylabel="risk", ylim=(0, None))
        style.message(axes, "Doubt must be weighed, not ignored or denied")
    return figure
