"""Pictures of finite samples: trained heads on the curves of the replica equations."""

from collections.abc import Mapping, Sequence

import jax
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sharp_attention.algorithms import erm
from sharp_attention.figures import style
from sharp_attention.tasks.single_location import Task
from sharp_attention.theory.single_location import replica

__all__ = [
    "draw_failure",
    "draw_live",
    "draw_risks",
    "live_table",
]

ACTIVATIONS = ("softmax", "linear")
TITLES = {
    "spiked 1": "spiked, signal 1",
    "spiked 2": "spiked, signal 2",
    "max": "max, infinite signal",
}
GREY = style.COLOURS["bayes"]


def live_table(
    rng_key: jax.Array,
    task: Task,
    curve: Sequence[float],
    dots: Sequence[float],
    *,
    dim: int,
    num_instances: int,
    ridge: float = 1.0,
    num_points: int = 2**11,
) -> pd.DataFrame:
    """Predict, and train heads of both activations, at a few sample ratios.

    Parameters
    ----------
    rng_key : JAX random key
    task : of a fixed length
    curve : sample ratios alpha > 0 of the theory
    dots : those at which heads are trained, a part of `curve`
    dim : of the trained heads
    num_instances : heads at each of them, >= 2
    ridge : of key and value
    num_points : Sobol points of the theory

    Returns
    -------
    table with columns activation, sample_ratio, predicted, test_risk (mean over the
    instances) and error (its standard error), NaN where nothing was trained
    """
    rows = []
    for activation in ACTIVATIONS:
        found = replica.curve(
            task, activation, curve, ridge, ridge, num_points=num_points
        )
        for ratio, solution in zip(curve, found, strict=True):
            risks = np.full(num_instances, np.nan)
            if ratio in dots:
                place = task, activation, dim, ratio, ridge, ridge
                fitted = erm.fit(rng_key, *place, num_instances=num_instances)
                risks = np.asarray(fitted.test_risk)
            error = np.std(risks, ddof=1) / np.sqrt(num_instances)
            numbers = solution.test_risk, float(np.mean(risks)), float(error)
            rows.append((activation, ratio, *numbers))
    columns = ["activation", "sample_ratio", "predicted", "test_risk", "error"]
    return pd.DataFrame(rows, columns=columns)


def draw_live(live: pd.DataFrame) -> Figure:
    """Draw the table of `live_table`: lines of the theory, dots of trained heads."""
    with style.use_style():
        figure, axes = plt.subplots()
        for name in ACTIVATIONS:
            rows, colour = live[live["activation"] == name], style.COLOURS[name]
            x, y = rows["sample_ratio"], rows["predicted"]
            axes.plot(x, y, color=colour)
            bars = 2 * rows["error"]
            axes.errorbar(x, rows["test_risk"], bars, fmt="o", color=colour)
            style.label_line(axes, x.iloc[-1], y.iloc[-1], name, colour)
        axes.set(xlabel="samples per dimension, α = N/D", ylabel="test risk")
        style.message(axes, "A few equations predict what training will give")
    return figure


def draw_risks(
    theory: pd.DataFrame, dots: pd.DataFrame, floors: Mapping[str, float]
) -> Figure:
    """Draw figure 3: a panel for each task, lines of theory, dots of trained heads.

    Parameters
    ----------
    theory : of the experiment; ridges "1" (dashed) and "best" (solid) are drawn
    dots : of `finite_sample_tables.dots`
    floors : risk that no reader goes below, by task
    """
    with style.use_style():
        figure, panels = plt.subplots(
            1, len(floors), sharey=True, figsize=(8.4, 4.2), layout="constrained"
        )
        for axes, (task, floor) in zip(
            np.atleast_1d(panels), floors.items(), strict=True
        ):
            axes.axhline(floor, color=GREY, linewidth=1, linestyle=":")
            for name in ACTIVATIONS:
                for ridge, look in (("1", "--"), ("best", "-")):
                    here = {"task": task, "activation": name, "ridge": ridge}
                    _draw_curve(axes, _select(theory, here), look)
                    _draw_dots(axes, _select(dots, here), filled=ridge == "best")
            axes.set_title(TITLES[task], fontweight="normal", fontsize=11)
            axes.set(xlabel="sample ratio α", xlim=(0, 20.6), ylim=(0, 1.35))
        _label_risks(np.atleast_1d(panels)[-1], theory, list(floors)[-1], floor)
        np.atleast_1d(panels)[0].set_ylabel("test risk")
        _headline(figure, "Softmax gets more out of the same texts")
    return figure


def draw_failure(theory: pd.DataFrame, dots: pd.DataFrame) -> Figure:
    """Draw training losses and replicon at a low ridge, one panel above the other.

    Parameters
    ----------
    theory : rows of one task and one ridge
    dots : of `finite_sample_tables.dots`, of the same task and ridge, both starts
    """
    with style.use_style():
        figure, (axes, lower) = plt.subplots(
            2, sharex=True, figsize=(6.4, 5.6), layout="constrained"
        )
        for name in ACTIVATIONS:
            rows, colour = _select(theory, {"activation": name}), style.COLOURS[name]
            x = rows["sample_ratio"]
            _draw_curve(axes, rows, "-", column="training_loss")
            lower.plot(x, rows["replicon"], "o-", color=colour, markersize=3)
            for start, filled in (("informed", True), ("random", False)):
                here = _select(dots, {"activation": name, "start": start})
                _draw_dots(axes, here, filled=filled, column="training_loss")
            last = x.iloc[-1], rows["training_loss"].iloc[-1]
            offset = (8.0, -6.0 if name == "softmax" else 6.0)
            style.label_line(axes, *last, name, colour, offset=offset)
        lower.axhline(1.0, color=GREY, linewidth=1)
        style.label_line(
            lower, 20, 1.0, "unstable above", GREY, offset=(0, 8), align="right"
        )
        axes.set(yscale="log", ylabel="training loss")
        lower.set(yscale="log", xlabel="sample ratio α", ylabel="replicon")
        lower.set_yticks([0.2, 0.5, 1, 2, 5], labels=["0.2", "0.5", "1", "2", "5"])
        lower.minorticks_off()
        lower.set_xticks(range(0, 21, 5))
        style.message(
            axes, "Where the replicon is large, training ends above the theory"
        )
    return figure


def _select(table: pd.DataFrame, wanted: Mapping[str, str]) -> pd.DataFrame:
    chosen = pd.Series(True, index=table.index)
    for name, value in wanted.items():
        chosen &= table[name] == value
    return table[chosen].sort_values("sample_ratio")


def _draw_curve(
    axes: Axes, rows: pd.DataFrame, look: str, column: str = "test_risk"
) -> None:
    """Draw a curve of the theory, faint where it is not trusted."""
    if rows.empty:
        return
    colour = style.COLOURS[rows["activation"].iloc[0]]
    x, y = rows["sample_ratio"], rows[column]
    axes.plot(x, y, look, color=colour, alpha=0.35, linewidth=1.4)
    axes.plot(x, y.where(rows["is_trusted"]), look, color=colour)


def _draw_dots(
    axes: Axes, rows: pd.DataFrame, *, filled: bool, column: str = "test_risk"
) -> None:
    """Draw trained heads; a mean of instances with two standard errors."""
    if rows.empty:
        return
    colour = style.COLOURS[rows["activation"].iloc[0]]
    face = colour if filled else "none"
    error = 2 * rows["error"].fillna(0.0) if column == "test_risk" else None
    axes.errorbar(
        rows["sample_ratio"],
        rows[column],
        error,
        fmt="o",
        color=colour,
        markerfacecolor=face,
        markersize=5,
    )


def _label_risks(axes: Axes, theory: pd.DataFrame, task: str, floor: float) -> None:
    """Name the lines at the right end of the last panel."""
    for name in ACTIVATIONS:
        here = _select(theory, {"task": task, "activation": name, "ridge": "best"})
        y = float(here["test_risk"].iloc[-1])
        style.label_line(axes, 20, y, name, style.COLOURS[name])
    style.label_line(axes, 20, floor, "no risk below", GREY)


def _headline(figure: Figure, text: str) -> None:
    figure.suptitle(text, x=0.01, ha="left", fontweight="bold", fontsize=12)
