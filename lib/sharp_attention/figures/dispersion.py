"""Pictures of Lemma 2.1 and Theorem 2.2: weights and entropy against size."""

from collections.abc import Sequence

import jax
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy import special

from sharp_attention.experiments import dispersion_sweep
from sharp_attention.figures import style
from sharp_attention.theory import dispersion

__all__ = [
    "draw_distances",
    "draw_entropy",
    "draw_escapes",
    "draw_largest_weight",
    "draw_sampled",
    "draw_theorem",
    "entropy_by_size",
    "extremal_weights",
    "sampled_weights",
]

SOFTMAX, BOUND = style.COLOURS["softmax"], style.COLOURS["bound"]
HEADS = [style.COLOURS[name] for name in ("softmax", "adaptive", "linear", "erf")]


def extremal_weights(
    spreads: Sequence[float], num_items: Sequence[int]
) -> pd.DataFrame:
    """Tabulate the leader's softmax weight with all other logits at the bottom.

    Returns
    -------
    table with columns spread, num_items, weight (by softmax) and bound (by theory)
    """
    rows = []
    for spread in spreads:
        for number in num_items:
            logits = np.zeros(number)
            logits[0] = spread
            weight = special.softmax(logits)[0]
            _, bound = dispersion.sharp_weight_bounds(spread, number)
            columns = {"spread": spread, "num_items": number}
            rows.append({**columns, "weight": weight, "bound": bound})
    return pd.DataFrame(rows)


def draw_largest_weight(table: pd.DataFrame) -> Figure:
    """Draw the table of `extremal_weights`: dots on the lines of the sharp bound."""
    with style.use_style():
        figure, axes = plt.subplots()
        largest = table["num_items"].max()
        sizes = np.unique(np.geomspace(1, largest, 80).round().astype(int))
        for colour, spread in zip(HEADS, table["spread"].unique(), strict=False):
            group = table[table["spread"] == spread]
            bound = np.asarray(dispersion.sharp_weight_bounds(float(spread), sizes)[1])
            axes.plot(sizes, bound, color=colour)
            axes.plot(group["num_items"], group["weight"], "o", color=colour)
            style.label_line(axes, largest, bound[-1], f"δ = {spread:g}", colour)
        axes.axhline(0.5, color=BOUND, linewidth=1, linestyle="--")
        style.label_line(axes, 1, 0.5, "half", BOUND, offset=(0, -8))
        axes.set(
            xscale="log",
            yscale="log",
            xlabel="number of items n",
            ylabel="largest possible weight",
        )
        style.message(axes, "The leader's weight falls like 1/n once n passes exp(δ)")
    return figure


def sampled_weights(seeds: Sequence[int] = (0, 1, 2, 3, 4)) -> pd.DataFrame:
    """Measure rows of logits uniform on [0, 5] against their bounds, at temperature 1.

    Returns
    -------
    table with columns num_items, seed and those of `dispersion_sweep.measure`
    """
    rows = []
    with jax.enable_x64(True):
        for number in dispersion_sweep.NUM_ITEMS:
            for seed in seeds:
                logits = dispersion_sweep.draw_logits(number, seed)
                measured = dispersion_sweep.measure(logits, 1.0)
                rows.append({"num_items": number, "seed": seed, **measured})
    return pd.DataFrame(rows)


def draw_sampled(table: pd.DataFrame) -> Figure:
    """Draw the table of `sampled_weights` between the bounds of the lemma."""
    spread = dispersion_sweep.SPREAD
    sizes = np.unique(np.geomspace(16, table["num_items"].max(), 60).astype(int))
    lemma = dispersion.weight_bounds(spread, sizes)
    sharp = dispersion.sharp_weight_bounds(spread, sizes)
    with style.use_style():
        figure, axes = plt.subplots(figsize=(6.4, 4.4))
        axes.fill_between(sizes, *lemma, color=BOUND, alpha=0.15, linewidth=0)
        for curve in sharp:
            axes.plot(sizes, curve, color=BOUND)
        axes.plot(table["num_items"], table["top_weight"], "o", color=SOFTMAX)
        axes.plot(
            table["num_items"], table["lowest_weight"], "o", color=SOFTMAX, mfc="none"
        )
        style.label_line(axes, 700, 0.28, "sharp bounds", BOUND, offset=(0, 4))
        style.label_line(axes, 60, 2.6, "Lemma 2.1 (shaded)", BOUND, offset=(4, 6))
        style.label_line(axes, 200, 0.03, "largest weight", SOFTMAX, offset=(12, 4))
        style.label_line(axes, 200, 1.5e-4, "smallest weight", SOFTMAX, offset=(12, 6))
        axes.set(
            xscale="log",
            yscale="log",
            xlabel="number of items n",
            ylabel="weight of one item",
        )
        style.message(axes, "Typical rows stay well inside both pairs of bounds")
    return figure


def entropy_by_size(spreads: Sequence[float], num_items: Sequence[int]) -> pd.DataFrame:
    """Tabulate the smallest possible entropy.

    Returns
    -------
    table with columns spread, num_items, entropy_floor and uniform = log n (nats)
    """
    tables = [
        pd.DataFrame(
            {
                "spread": spread,
                "num_items": num_items,
                "entropy_floor": dispersion.entropy_floor(spread, num_items),
                "uniform": np.log(num_items),
            }
        )
        for spread in spreads
    ]
    return pd.concat(tables, ignore_index=True)


def draw_entropy(table: pd.DataFrame) -> Figure:
    """Draw the table of `entropy_by_size` below the entropy of equal weights."""
    with style.use_style():
        figure, axes = plt.subplots()
        first = table[table["spread"] == table["spread"].min()]
        axes.plot(first["num_items"], first["uniform"], "--", color=BOUND)
        end = first.iloc[-1]
        style.label_line(
            axes, end["num_items"], end["uniform"], "equal", BOUND, offset=(6, 5)
        )
        for colour, (spread, group) in zip(
            HEADS, table.groupby("spread"), strict=False
        ):
            axes.plot(group["num_items"], group["entropy_floor"], color=colour)
            end = group.iloc[-1]
            style.label_line(
                axes, end["num_items"], end["entropy_floor"], f"δ = {spread:g}", colour
            )
        axes.set(
            xscale="log",
            xlabel="number of items n",
            ylabel="smallest possible entropy (nats)",
        )
        style.message(axes, "Whatever a head learns, its entropy grows like log n")
    return figure


def draw_theorem(
    gpt: pd.DataFrame, bert: pd.DataFrame, item_by_item: pd.DataFrame
) -> Figure:
    """Draw n times the largest weight of four heads in two styles.

    Parameters
    ----------
    gpt : of `dispersing_heads.by_row`
    bert : of `dispersing_heads.by_size`
    item_by_item : columns of `bert`, computed without bags; dots
    """
    with style.use_style():
        figure, (above, below) = plt.subplots(2, figsize=(6.4, 5.6))
        _draw_heads(above, bert)
        _draw_heads(below, gpt)
        for colour, (_, dots) in zip(HEADS, _heads(item_by_item), strict=False):
            compensated = dots["num_items"] * dots["max_weight"]
            above.plot(dots["num_items"], compensated, "o", color=colour)
        above.set(xlabel="number of items n", ylabel="n · largest weight")
        below.set(xlabel="items n that row n sees", ylabel="n · largest weight")
        style.message(above, "BERT style: n times the largest weight is constant")
        style.message(below, "GPT style: row by row, it settles")
        figure.tight_layout()
    return figure


def _draw_heads(axes: Axes, table: pd.DataFrame) -> None:
    """Draw a line for each head, with labels that keep clear of each other."""
    ends = {}
    axes.margins(y=0.15)
    for colour, (name, group) in zip(HEADS, _heads(table), strict=False):
        compensated = group["num_items"] * group["max_weight"]
        axes.plot(group["num_items"], compensated, color=colour)
        ends[name] = (compensated.iloc[-1], colour)
    axes.set(xscale="log", ylim=(0, None))
    height = -np.inf
    for name, (end, colour) in sorted(ends.items(), key=lambda item: item[1][0]):
        height = max(end, height + 0.09 * axes.get_ylim()[1])
        style.label_line(axes, table["num_items"].max(), height, name, colour)


def _heads(table: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    groups = table.groupby(["layer", "head"])
    return [(f"layer {layer}, head {head}", group) for (layer, head), group in groups]


def draw_escapes(table: pd.DataFrame) -> Figure:
    """Draw the table of `dispersing_heads.escapes`: what falls, and what does not."""
    escaping = ("ALiBi", "window of 9", "growing items")
    with style.use_style():
        figure, axes = plt.subplots(figsize=(6.4, 4.4))
        for case, group in table.groupby("case", sort=False):
            colour = style.COLOURS["adaptive"] if case in escaping else SOFTMAX
            axes.plot(group["num_items"], group["max_weight"], color=colour)
            end = group.iloc[-1]
            style.label_line(
                axes, end["num_items"], end["max_weight"], str(case), colour
            )
        axes.set(
            xscale="log",
            yscale="log",
            xlabel="number of items that the row sees",
            ylabel="largest weight of the row",
        )
        style.message(axes, "Three ways out: a growing spread, or fewer items in sight")
    return figure


def draw_distances(table: pd.DataFrame) -> Figure:
    """Draw the table of `dispersing_heads.label_distances`, a line for each model."""
    with style.use_style():
        figure, axes = plt.subplots()
        for _, group in table.groupby("seed"):
            axes.plot(
                group["num_items"], group["distance"], "o-", color=SOFTMAX, alpha=0.7
            )
        ends = np.array([table["num_items"].min(), table["num_items"].max()])
        axes.plot(ends, ends[0] / ends, "--", color=BOUND)
        style.label_line(axes, ends[1], ends[0] / ends[1], "1/n", BOUND)
        axes.set(
            xscale="log",
            yscale="log",
            xlabel="number of items n",
            ylabel="distance of the two outputs (first = 1)",
        )
        style.message(axes, "The answer changes, and the output hardly moves")
    return figure
