"""Pictures of max retrieval: accuracy, attention, and what limits both."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sharp_attention.experiments import retrieval_table
from sharp_attention.figures import style

__all__ = [
    "draw_accuracy",
    "draw_arms",
    "draw_heat_maps",
    "draw_judged",
    "draw_limits",
    "draw_live",
    "heat_table",
]

SOFTMAX, ADAPTIVE = style.COLOURS["softmax"], style.COLOURS["adaptive"]
FITTED, ORDERLY = style.COLOURS["softplus"], style.COLOURS["erf"]
GREY = style.COLOURS["bound"]
CHANCE = 10.0
"""Per cent: ten classes."""


def draw_accuracy(by_size: pd.DataFrame) -> Figure:
    """Draw `retrieval_table.by_size` with its intervals, the paper's values as crosses.

    Parameters
    ----------
    by_size : indexed by num_items
    """
    with style.use_style():
        figure, axes = plt.subplots(figsize=(6.4, 4.4))
        quoted = retrieval_table.QUOTED
        for rule, colour in (("softmax", SOFTMAX), ("adaptive", ADAPTIVE)):
            low, high = (
                by_size[rule] + sign * by_size[f"{rule}_error"] for sign in (-1, 1)
            )
            axes.fill_between(by_size.index, low, high, color=colour, alpha=0.2)
            axes.plot(by_size.index, by_size[rule], "o-", color=colour)
            axes.plot(quoted.index, quoted[rule], "x", color=colour, markersize=7)
            x, y = by_size.index[-1], float(by_size[rule].iloc[-1])
            style.label_line(axes, x, y, rule, colour, offset=(8, 2))
        y = float(quoted["softmax"][256])
        style.label_line(
            axes, 256, y, "the paper's", GREY, offset=(-10, -4), align="right"
        )
        _size_axis(axes, "accuracy (%)")
        style.message(axes, "Trained at 5 to 16 items, tested far beyond")
    return figure


def heat_table(panels: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Tabulate the mean weight of each rank in each panel: the data of the heat maps.

    Parameters
    ----------
    panels : (sets, 16) weights by "RULE-SIZE", the maximum in the last column

    Returns
    -------
    table with columns rule, num_items, rank (1 is the maximum) and mean_weight
    """
    rows = []
    for name, weights in panels.items():
        rule, num_items = name.rsplit("-", 1)
        columns = np.asarray(weights, dtype=np.float64).T
        rows += [
            {
                "rule": rule,
                "num_items": int(num_items),
                "rank": len(columns) - place,
                "mean_weight": float(column.mean()),
            }
            for place, column in enumerate(columns)
        ]
    return pd.DataFrame(rows)


def draw_heat_maps(panels: Mapping[str, np.ndarray]) -> Figure:
    """Draw the weights of the 16 items of largest priority: a row of panels per rule.

    Parameters
    ----------
    panels : as for `heat_table`
    """
    rules = ("softmax", "adaptive")
    sizes = sorted({int(name.rsplit("-", 1)[1]) for name in panels})
    with style.use_style():
        figure, grid = plt.subplots(
            len(rules), len(sizes), figsize=(8.0, 4.2), squeeze=False
        )
        for rule, line in zip(rules, grid, strict=True):
            for num_items, axes in zip(sizes, line, strict=True):
                image = np.asarray(panels[f"{rule}-{num_items}"], dtype=np.float32)
                axes.imshow(image, vmin=0, vmax=1, cmap="viridis", aspect="auto")
                axes.set(xticks=[], yticks=[])
                axes.grid(False)
                axes.spines[:].set_visible(False)
                if rule == rules[0]:
                    axes.set_title(f"{num_items:,}", fontsize=10, loc="center")
            line[0].set_ylabel(f"{rule}\n32 sets")
        figure.supxlabel("the 16 items of largest priority, the maximum at the right")
        figure.suptitle(
            "The bright column fades as the set grows",
            x=0.02,
            ha="left",
            fontweight="bold",
            fontsize=12,
        )
        bar = figure.colorbar(
            grid[0, 0].images[0], ax=grid, fraction=0.025, pad=0.02, label="weight"
        )
        bar.outline.set_visible(False)
    return figure


def draw_limits(diagnosis: pd.DataFrame) -> Figure:
    """Draw `retrieval_table.diagnosis`: order, dispersion, and both together.

    Parameters
    ----------
    diagnosis : indexed by num_items
    """
    lines = (
        ("ranked", "maximum in front", GREY, "o-"),
        ("toy", "toy of this top weight", ORDERLY, "--"),
        ("both", "their product", GREY, "--"),
        ("softmax", "softmax", SOFTMAX, "o-"),
    )
    with style.use_style():
        figure, axes = plt.subplots(figsize=(6.4, 4.4))
        height = -np.inf
        for name, label, colour, look in reversed(lines):
            axes.plot(diagnosis.index, diagnosis[name], look, color=colour)
            height = max(height + 6.5, float(diagnosis[name].iloc[-1]))
            style.label_line(
                axes, diagnosis.index[-1], height, label, colour, offset=(8, 0)
            )
        _size_axis(axes, "share of sets (%)")
        style.message(axes, "Two losses multiply: a wrong order, and dispersion")
    return figure


def draw_arms(by_arm: pd.DataFrame) -> Figure:
    """Draw softmax accuracy, and the gain, for each length of training.

    Parameters
    ----------
    by_arm : of `retrieval_table.by_arm`; the arms with GELU and sizes 5 to 16
    """
    quoted = retrieval_table.QUOTED
    with style.use_style():
        figure, (axes, gain) = plt.subplots(2, sharex=True, figsize=(6.4, 6.2))
        lengths, ends = sorted(by_arm["num_steps"].unique()), {}
        for place, steps in enumerate(lengths):
            shade = 0.35 + 0.65 * (place + 1) / len(lengths)
            rows = by_arm[by_arm["num_steps"] == steps].sort_values("num_items")
            for panel, name in ((axes, "softmax"), (gain, "difference")):
                colour = SOFTMAX if name == "softmax" else ADAPTIVE
                panel.plot(
                    rows["num_items"], rows[name], "o-", color=colour, alpha=shade
                )
            ends[f"{steps // 1000}k steps"] = rows.set_index("num_items")["softmax"]
        for place, (text, line) in enumerate(
            sorted(ends.items(), key=lambda item: float(item[1][1024]))
        ):
            # Lines that lie close together are labelled on both sides.
            _label_at(axes, line, 1024, text, SOFTMAX, 6 if place else -6)
        axes.plot(quoted.index, quoted["softmax"], "x", color=GREY, markersize=8)
        difference = quoted["adaptive"] - quoted["softmax"]
        gain.plot(quoted.index, difference, "x", color=GREY, markersize=8)
        style.label_line(
            gain, 16384, difference[16384], "the paper's", GREY, offset=(8, 0)
        )
        _size_axis(axes, "softmax accuracy (%)")
        axes.set_xlabel("")
        gain.set(xlabel="number of items n", ylabel="gain of adaptive (points)")
        style.message(axes, "Longer training moves both the curve and the gain")
    return figure


def draw_live(losses: np.ndarray, accuracy: pd.DataFrame) -> Figure:
    """Draw a short training run: its loss, and its accuracy against size.

    Parameters
    ----------
    losses : one mean for each 100 steps, nats
    accuracy : table with columns num_items, rule and accuracy (per cent)
    """
    with style.use_style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(7.6, 3.6))
        steps = 100 * (1 + np.arange(len(losses)))
        left.plot(steps, losses, "o-", color=SOFTMAX)
        left.axhline(np.log(10), color=GREY, linewidth=1, linestyle="--")
        style.label_line(
            left, steps[-1], np.log(10), "guessing", GREY, offset=(0, -9), align="right"
        )
        left.set(xlabel="step", ylabel="loss (nats)", ylim=(0, 2.5))
        for rule, colour, offset in (
            ("softmax", SOFTMAX, -10),
            ("adaptive", ADAPTIVE, 10),
        ):
            rows = accuracy[accuracy["rule"] == rule].set_index("num_items")
            right.plot(rows.index, rows["accuracy"], "o-", color=colour)
            place = int(rows.index[len(rows) // 2])
            _label_at(right, rows["accuracy"], place, rule, colour, offset)
        _size_axis(right, "accuracy (%)")
        style.message(left, "Seconds of learning are enough to see it")
        figure.tight_layout()
    return figure


def draw_judged(judged: pd.DataFrame) -> Figure:
    """Draw the accuracy of three rules on held-out models, with two standard errors.

    Parameters
    ----------
    judged : table with columns num_items, rule, mean and error (per cent)
    """
    looks = {
        "softmax": ("softmax", SOFTMAX, -8),
        "published": ("the paper's rule", ADAPTIVE, 0),
        "fitted": ("our rule", FITTED, 8),
    }
    with style.use_style():
        figure, axes = plt.subplots(figsize=(6.4, 4.2))
        for rule, (label, colour, offset) in looks.items():
            rows = judged[judged["rule"] == rule].sort_values("num_items")
            x, y = rows["num_items"], rows["mean"]
            axes.errorbar(x, y, 2 * rows["error"], fmt="o-", color=colour, capsize=2)
            style.label_line(
                axes, x.iloc[-1], y.iloc[-1], label, colour, offset=(8, offset)
            )
        _size_axis(axes, "accuracy (%)")
        style.message(axes, "A rule fitted to this kind of model goes further on it")
    return figure


def _size_axis(axes: Axes, label: str) -> None:
    axes.axhline(CHANCE, color=GREY, linewidth=1, linestyle=":")
    axes.set_xscale("log", base=2)
    axes.set(xlabel="number of items n", ylabel=label, ylim=(0, 103))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")


def _label_at(
    axes: Axes, line: pd.Series, place: int, text: str, colour: str, offset: float
) -> None:
    """Label a line above its point at the right, or below it at the left."""
    y, is_above = float(line[place]), offset > 0
    align, shift = ("left", 8) if is_above else ("right", -8)
    style.label_line(axes, place, y, text, colour, offset=(shift, offset), align=align)
