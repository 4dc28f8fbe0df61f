"""Pictures of one text that pulls on a trained head: proximal points and valleys."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from sharp_attention.algorithms.left_out import LeftOut
from sharp_attention.channels.proximal import Proximal
from sharp_attention.figures import style

__all__ = ["draw_left_out", "draw_valleys", "left_out_table", "valley_table"]

GREY = style.COLOURS["bayes"]


def left_out_table(found: LeftOut, predicted: Proximal) -> pd.DataFrame:
    """Set the moves of fields that a text causes beside the predicted ones.

    Parameters
    ----------
    found : of `algorithms.left_out.leave_out`
    predicted : proximal points of the fields without the text

    Returns
    -------
    table with columns field ("score" or "value"), predicted and measured
    """
    pairs = {
        "score": (predicted.logits, found.key_without, found.key_with),
        "value": (predicted.value, found.value_without, found.value_with),
    }
    return pd.concat(
        (
            pd.DataFrame(
                {
                    "field": name,
                    "predicted": np.ravel(guess - before),
                    "measured": np.ravel(after - before),
                }
            )
            for name, (guess, before, after) in pairs.items()
        ),
        ignore_index=True,
    )


def draw_left_out(moves: pd.DataFrame) -> Figure:
    """Draw the table of `left_out_table` around the diagonal."""
    with style.use_style():
        figure, panels = plt.subplots(1, 2, figsize=(6.8, 3.5), layout="constrained")
        for axes, (name, rows) in zip(panels, moves.groupby("field"), strict=True):
            ends = [rows["predicted"].min(), rows["predicted"].max()]
            axes.plot(ends, ends, color=GREY, linewidth=1)
            colour = style.COLOURS["softmax"]
            axes.plot(rows["predicted"], rows["measured"], "o", color=colour, alpha=0.6)
            axes.set(xlabel="predicted move", title=f"{name}s")
            axes.title.set(fontweight="normal", fontsize=11)
        panels[0].set_ylabel("measured move")
        figure.suptitle(
            "A text moves its fields to the proximal point",
            x=0.01,
            ha="left",
            fontweight="bold",
            fontsize=12,
        )
    return figure


def valley_table(
    difference: float,
    values: tuple[float, float],
    target: float,
    variances: Sequence[float],
    variance_v: float,
) -> pd.DataFrame:
    """Tabulate what it costs to move the scores of a text with two tokens apart.

    Parameters
    ----------
    difference : of the two cavity scores
    values : cavity values
    target : label
    variances : softness V_k of the spring, > 0, a curve each
    variance_v : softness V_v; the values follow at once

    Returns
    -------
    table with columns variance, difference and cost
    """
    place = np.linspace(-8.0, 8.0, 321)
    weight = 1 / (1 + np.exp(-place))
    error = target - weight * values[0] - (1 - weight) * values[1]
    loss = error**2 / (1 + variance_v * (weight**2 + (1 - weight) ** 2)) / 2
    # Each of the two scores moves by half of the change of their difference.
    spring = (place - difference) ** 2 / 4
    return pd.concat(
        (
            pd.DataFrame(
                {"variance": v, "difference": place, "cost": spring / v + loss}
            )
            for v in variances
        ),
        ignore_index=True,
    )


def draw_valleys(valleys: pd.DataFrame) -> Figure:
    """Draw the table of `valley_table`; the lowest point of each curve is a dot."""
    with style.use_style():
        figure, axes = plt.subplots()
        softness = list(dict.fromkeys(valleys["variance"]))
        for variance, colour in zip(softness, style.shades(len(softness)), strict=True):
            rows = valleys[valleys["variance"] == variance]
            axes.plot(rows["difference"], rows["cost"], color=colour)
            lowest = rows.loc[rows["cost"].idxmin()]
            place = lowest["difference"], lowest["cost"]
            axes.plot(*place, "o", color=colour)
            label = f"V = {variance:g}"
            style.label_line(
                axes, *place, label, colour, offset=(0, -12), align="center"
            )
        # The softest spring shows the loss itself: nothing above it is of interest.
        top = 1.3 * float(rows["cost"].max())
        axes.set(xlabel="difference of the scores", ylabel="cost", ylim=(0, top))
        style.message(axes, "A soft spring leaves two places to rest")
    return figure
