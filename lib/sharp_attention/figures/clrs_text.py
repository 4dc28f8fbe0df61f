"""Pictures of the CLRS-Text runs: accuracy task by task, and what the heads do."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sharp_attention.experiments.clrs_training import TRAINING_SIZES
from sharp_attention.figures import style

__all__ = ["draw_accuracy", "draw_heads"]

ARMS = {
    "softmax": (style.COLOURS["softmax"], "o-"),
    "adaptive-test": (style.COLOURS["adaptive"], "^--"),
    "adaptive": (style.COLOURS["adaptive"], "s-"),
}
GREY = style.COLOURS["bound"]


def draw_accuracy(by_size: pd.DataFrame) -> Figure:
    """Draw accuracy against size, a panel for each task.

    Parameters
    ----------
    by_size : of `clrs_table.by_size`
    """
    tasks = list(by_size["algorithm"].unique())
    with style.use_style():
        figure, grid = plt.subplots(
            (len(tasks) + 1) // 2, 2, figsize=(8.0, 8.4), squeeze=False, sharey=True
        )
        for axes, task in zip(grid.flat, tasks, strict=False):
            rows = by_size[by_size["algorithm"] == task]
            _draw_task(axes, rows)
            seeds = int(rows["seeds"].iloc[0])
            axes.set_title(f"{task.replace('_', ' ')}, {seeds} seeds", fontsize=10)
        for axes in list(grid.flat)[len(tasks) :]:
            axes.set_axis_off()
        handles, labels = grid.flat[0].get_legend_handles_labels()
        # In the panel that is left over, if there is one.
        place = "center" if len(tasks) % 2 else "upper right"
        grid.flat[-1].legend(handles, labels, frameon=False, loc=place, fontsize=9)
        figure.tight_layout()
    return figure


def draw_heads(heads: pd.DataFrame) -> Figure:
    """Draw entropy, spread and top weight of the last layer against size, for one task.

    Parameters
    ----------
    heads : rows of one task in `clrs_table.heads_by_size`
    """
    last = heads[heads["layer"] == heads["layer"].max()]
    labels = {
        "entropy": "entropy (nats)",
        "spread": "spread of the logits",
        "highest_weight": "top weight, sharpest head",
    }
    with style.use_style():
        figure, panels = plt.subplots(1, len(labels), figsize=(8.4, 3.4))
        for axes, (name, label) in zip(panels, labels.items(), strict=True):
            for arm, (colour, look) in ARMS.items():
                rows = last[last["arm"] == arm].sort_values("size")
                axes.plot(rows["size"], rows[name], look, color=colour, label=arm)
            axes.set(xlabel="size n", ylabel=label)
            _shade_training(axes)
        panels[0].legend(frameon=False, fontsize=8)
        figure.tight_layout()
    return figure


def _draw_task(axes: Axes, rows: pd.DataFrame) -> None:
    for arm, (colour, look) in ARMS.items():
        chosen = rows[rows["arm"] == arm].sort_values("size")
        sizes = chosen["size"]
        axes.fill_between(sizes, chosen["low"], chosen["high"], color=colour, alpha=0.2)
        axes.plot(sizes, chosen["accuracy"], look, color=colour, label=arm)
    once = rows[rows["arm"] == "softmax"].sort_values("size")
    axes.plot(once["size"], once["chance"], ":", color=GREY, label="one answer always")
    axes.plot(
        once["size"], once["reachable"], "--", color=GREY, label="answers of training"
    )
    _shade_training(axes)
    axes.set(xlabel="size n", ylabel="right answers", ylim=(-0.02, 1.04))


def _shade_training(axes: Axes) -> None:
    axes.axvspan(min(TRAINING_SIZES), max(TRAINING_SIZES), color=GREY, alpha=0.12)
