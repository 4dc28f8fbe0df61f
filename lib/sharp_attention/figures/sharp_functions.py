"""Pictures of sharp functions: what they hang on, and how heads compute them."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from scipy import special

from sharp_attention.figures import style
from sharp_attention.theory import dispersion, sharpness

__all__ = [
    "answers",
    "draw_answers",
    "draw_dependence",
    "draw_lookup",
    "lookup_weights",
    "number_of_sensitive_items",
]

SHARP, ALL = style.COLOURS["softmax"], style.COLOURS["linear"]
ALL_OTHERS = style.COLOURS["bound"]
LOOKUP_SPREAD = 5.0
"""How far the item that is asked for stands above the others, in logits."""


def lookup_weights(num_items: Sequence[int]) -> pd.DataFrame:
    """Tabulate how a head that looks one item up shares out its weight.

    The item asked for has logit 5, all others 0.

    Returns
    -------
    table with columns num_items, item_asked_for and all_others, which add up to 1
    """
    rows = []
    for number in num_items:
        logits = np.zeros(number)
        logits[0] = LOOKUP_SPREAD
        weights = special.softmax(logits)
        shares = {"item_asked_for": weights[0], "all_others": weights[1:].sum()}
        rows.append({"num_items": number, **shares})
    return pd.DataFrame(rows)


def draw_lookup(table: pd.DataFrame) -> Figure:
    """Draw the table of `lookup_weights` as bars, one for each size."""
    with style.use_style():
        figure, axes = plt.subplots(figsize=(6.4, 3.4))
        places, leader = np.arange(len(table)), table["item_asked_for"]
        axes.barh(places, leader, color=SHARP)
        axes.barh(places, table["all_others"], left=leader, color="#80808059")
        for place, share in enumerate(leader):
            is_wide = share > 0.3
            text = f"{share:.0%}" if share > 0.05 else f"{share:.1%}"
            axes.text(
                share,
                place,
                f" {text} ",
                ha="right" if is_wide else "left",
                va="center",
                color="#ffffff" if is_wide else style.PAGE_TEXT,
                fontweight="bold",
            )
        style.label_line(axes, 0.0, -0.75, "item asked for", SHARP, offset=(0, 0))
        style.label_line(
            axes, 1.0, -0.75, "all others", ALL_OTHERS, offset=(0, 0), align="right"
        )
        axes.set_yticks(places, [f"{number:,}" for number in table["num_items"]])
        axes.set(xlim=(0, 1), ylim=(len(table) - 0.5, -1.1))
        axes.set(xlabel="share of the weight", ylabel="items in the set")
        axes.grid(visible=False)
        style.message(axes, "One item of 16 is in focus, none of 16,384")
    return figure


def answers(
    num_items: Sequence[int], num_sets: int = 1000, rng_seed: int = 0
) -> pd.DataFrame:
    """Let two heads answer: one looks an item up, one averages.

    Values are independent and uniform on [−1, 1]; the look-up head gives the item
    asked for the logit 5 and all others 0, the averaging head gives all the same.

    Parameters
    ----------
    num_items : sizes of the sets
    num_sets : sets of each size
    rng_seed : seed of the generator

    Returns
    -------
    table with columns task, num_items, error (mean absolute error) and
    standard_error
    """
    rng = np.random.default_rng(rng_seed)
    rows = []
    for number in num_items:
        values = rng.uniform(-1, 1, size=(num_sets, number))
        logits = {"look-up": np.zeros(number), "average": np.zeros(number)}
        logits["look-up"][0] = LOOKUP_SPREAD
        targets = {"look-up": values[:, 0], "average": values.mean(axis=1)}
        for task, row in logits.items():
            output = values @ special.softmax(row)
            error = np.abs(output - targets[task])
            rows.append(
                {
                    "task": task,
                    "num_items": number,
                    "error": error.mean(),
                    "standard_error": error.std() / num_sets**0.5,
                }
            )
    return pd.DataFrame(rows)


def draw_answers(table: pd.DataFrame) -> Figure:
    """Draw the table of `answers` with the theory of the look-up head.

    With weight α on the right item the error is (1 − α) |v − u|, u the mean of the
    other values, which is near 0 unless they are few: half of 1 − α on average.
    """
    with style.use_style():
        figure, axes = plt.subplots()
        largest = int(table["num_items"].max())
        sizes = np.unique(np.geomspace(2, largest, 60).round().astype(int))
        _, weight = dispersion.sharp_weight_bounds(LOOKUP_SPREAD, sizes)
        axes.plot(sizes, (1 - np.asarray(weight)) / 2, color=SHARP)
        colours = {"look-up": SHARP, "average": ALL}
        for task, group in table.groupby("task"):
            axes.errorbar(
                group["num_items"],
                group["error"],
                2 * group["standard_error"],
                fmt="o",
                color=colours[str(task)],
            )
        axes.axhline(0.5, color=style.COLOURS["bound"], linewidth=1, linestyle="--")
        grey = style.COLOURS["bound"]
        style.label_line(axes, 4, 0.5, "the answer 0 to all", grey, offset=(0, 8))
        style.label_line(axes, 1200, 0.4, "look one item up", SHARP, offset=(10, 0))
        style.label_line(axes, 1200, 0.0, "average all items", ALL, offset=(0, 10))
        axes.set(
            xscale="log",
            xlabel="items in the set",
            ylabel="mean absolute error",
            ylim=(-0.03, 0.58),
        )
        style.message(axes, "Averaging is right at every size, looking one up is not")
    return figure


def number_of_sensitive_items(
    functions: Mapping[str, Callable[[np.ndarray], object]],
    num_items: Sequence[int],
    rng_seed: int = 0,
) -> pd.DataFrame:
    """Count on how many of n random numbers each function hangs.

    Returns
    -------
    table with columns function, num_items, sensitive_items
    """
    rng = np.random.default_rng(rng_seed)
    rows = []
    for number in num_items:
        items = rng.uniform(size=number)
        for name, function in functions.items():
            count = sharpness.sensitive_items(function, items, items + 1e-9)
            columns = {"function": name, "num_items": number, "sensitive_items": count}
            rows.append(columns)
    return pd.DataFrame(rows)


def draw_dependence(table: pd.DataFrame) -> Figure:
    """Draw the table of `number_of_sensitive_items`: flat lines are sharp functions.

    Functions whose lines coincide share a label.
    """
    curves: dict[tuple[int, ...], list[str]] = {}
    for name, group in table.groupby("function", sort=False):
        curves.setdefault(tuple(group["sensitive_items"]), []).append(str(name))
    sizes = table["num_items"].unique()
    with style.use_style():
        figure, axes = plt.subplots()
        for counts, names in curves.items():
            colour = SHARP if counts[0] == counts[-1] else ALL
            axes.plot(sizes, counts, "o-", color=colour)
            text = ", ".join(names)
            middle = len(sizes) // 2
            below = (10, -12) if colour == ALL else (0, 12)
            place = (sizes[middle], counts[middle])
            style.label_line(axes, *place, text, colour, offset=below)
        axes.set(
            xscale="log",
            yscale="log",
            xlabel="items in the set",
            ylabel="items that the value hangs on",
        )
        style.message(axes, "A sharp function hangs on as few items of many as of few")
    return figure
