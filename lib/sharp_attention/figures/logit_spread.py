"""Pictures of the spread of logits: what floats allow, what models have, its price."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from scipy import special

from sharp_attention.figures import style
from sharp_attention.theory import dispersion, finite_precision

__all__ = [
    "draw_price",
    "draw_ranges",
    "draw_reported",
    "price_of_sharpness",
    "quoted_ranges",
    "reported_weights",
]

SOFTMAX, BOUND = style.COLOURS["softmax"], style.COLOURS["bound"]
FORMATS: dict[finite_precision.Format, str] = {
    "float16": style.COLOURS["linear"],
    "bfloat16": style.COLOURS["adaptive"],
    "float32": style.COLOURS["softmax"],
}


def reported_weights(gap: float, num_items: Sequence[int]) -> pd.DataFrame:
    """Tabulate the leader's weight as a running sum in each format reports it.

    The leader comes first and is `gap` ahead of all others.

    Returns
    -------
    table with columns number_format ("exact" for the true weight), num_items, weight
    """
    rows = []
    for number in num_items:
        logits = np.zeros(number)
        logits[0] = gap
        _, exact = dispersion.sharp_weight_bounds(gap, number)
        weights = {"exact": exact} | {
            name: finite_precision.running_sum_weights(logits, name)[0]
            for name in FORMATS
        }
        rows += [
            {"number_format": name, "num_items": number, "weight": weight}
            for name, weight in weights.items()
        ]
    return pd.DataFrame(rows)


def draw_reported(table: pd.DataFrame) -> Figure:
    """Draw the table of `reported_weights`."""
    with style.use_style():
        figure, axes = plt.subplots()
        exact = table[table["number_format"] == "exact"]
        axes.plot(exact["num_items"], exact["weight"], "--", color=BOUND, zorder=3)
        end = exact.iloc[-1]
        style.label_line(
            axes, end["num_items"], end["weight"], "exact", BOUND, offset=(6, -7)
        )
        for name, colour in FORMATS.items():
            group = table[table["number_format"] == name]
            axes.plot(group["num_items"], group["weight"], color=colour)
            end = group.iloc[-1]
            style.label_line(
                axes, end["num_items"], end["weight"], name, colour, offset=(6, 4)
            )
        axes.set(
            xscale="log",
            yscale="log",
            xlabel="number of items n",
            ylabel="leader's weight",
        )
        style.message(axes, "A running sum in short formats fakes sharpness")
    return figure


def quoted_ranges() -> pd.DataFrame:
    """Tabulate spreads of Gemma, as quoted, and the limits of number formats.

    Returns
    -------
    table with columns name, kind ("quoted", "exponential vanishes" or "largest
    difference"), smallest, mean and largest; limits stand in `largest` alone
    """
    rows: list[dict[str, object]] = [
        _range("Gemma 2B, as quoted", "quoted", 14.78, 2.28, 5.69),
        _range("Gemma 7B, as quoted", "quoted", 32.74, 0.09, 5.82),
    ]
    for name in FORMATS:
        gap = -finite_precision.vanishing_logit(name)
        rows.append(_range(name, "exponential vanishes", gap))
    for name in FORMATS:
        limit = finite_precision.spread_limit(name)
        rows.append(_range(name, "largest difference", limit))
    return pd.DataFrame(rows)


def _range(
    name: str,
    kind: str,
    largest: float,
    smallest: float = np.nan,
    mean: float = np.nan,
) -> dict[str, object]:
    return {
        "name": name,
        "kind": kind,
        "smallest": smallest,
        "mean": mean,
        "largest": largest,
    }


def draw_ranges(table: pd.DataFrame) -> Figure:
    """Draw the table of `quoted_ranges`, one line for each row."""
    with style.use_style():
        figure, axes = plt.subplots(figsize=(6.4, 4.0))
        for place, row in enumerate(table.to_dict("records")):
            is_quoted, largest = row["kind"] == "quoted", row["largest"]
            colour = SOFTMAX if is_quoted else BOUND
            text = row["name"] if is_quoted else f"{row['name']}: {row['kind']}"
            if is_quoted:
                axes.plot([row["smallest"], largest], [place] * 2, color=colour, lw=3)
                axes.plot(row["mean"], place, "o", color=colour, markersize=6)
            else:
                axes.plot(largest, place, "D", color=colour)
            # Text that starts far to the right would leave the page.
            align, shift = ("right", -8) if largest > 1e20 else ("left", 8)
            style.label_line(
                axes, largest, place, text, colour, offset=(shift, 0), align=align
            )
        axes.set(xscale="log", xlabel="spread of the logits δ", yticks=[])
        axes.set_ylim(len(table) - 0.4, -0.6)
        style.message(axes, "Real spreads are nowhere near the limits of floats")
    return figure


def price_of_sharpness(
    num_items: Sequence[int],
    noise: float = 0.05,
    num_draws: int = 4000,
    rng_seed: int = 0,
) -> pd.DataFrame:
    """Scale a head so that it keeps half of the weight, and shake its logits.

    The leader is ahead of all others by 1 before scaling; the scale log(n − 1), that
    of the product of the two matrices, brings it to weight 1/2.
    Noise is added to each logit before scaling, as noise on the items would be.

    Parameters
    ----------
    num_items : sizes, at least 3
    noise : standard deviation of the noise on a logit, before scaling
    num_draws : of the noise
    rng_seed : seed of the generator

    Returns
    -------
    table with columns num_items, scale, change (mean absolute change of the leader's
    weight), standard_error and linear_theory = scale · noise / 4 · √(2/π)
    """
    rng = np.random.default_rng(rng_seed)
    rows = []
    for number in num_items:
        scale = float(np.log(number - 1))
        # A crowd of equal items answers like one with the mean of their noise.
        leader = 1 + noise * rng.normal(size=num_draws)
        others = noise * rng.normal(size=num_draws) / (number - 1) ** 0.5
        crowd = np.log(number - 1) + scale * others
        logits = np.stack([scale * leader, crowd], axis=-1)
        change = np.abs(special.softmax(logits, axis=-1)[:, 0] - 0.5)
        rows.append(
            {
                "num_items": number,
                "scale": scale,
                "change": change.mean(),
                "standard_error": change.std() / num_draws**0.5,
                "linear_theory": scale * noise / 4 * (2 / np.pi) ** 0.5,
            }
        )
    return pd.DataFrame(rows)


def draw_price(table: pd.DataFrame) -> Figure:
    """Draw the table of `price_of_sharpness`: dots measured, line to first order."""
    with style.use_style():
        figure, axes = plt.subplots()
        x = table["num_items"]
        axes.plot(x, table["linear_theory"], color=BOUND)
        axes.errorbar(
            x, table["change"], 2 * table["standard_error"], fmt="o", color=SOFTMAX
        )
        middle = table.iloc[len(table) // 2]
        place = (middle["num_items"], middle["linear_theory"])
        label = "to first order:\nscale · noise / 4"
        style.label_line(axes, *place, label, BOUND, offset=(-8, 22), align="right")
        axes.set(
            xscale="log",
            xlabel="items among which the leader keeps half of the weight",
            ylabel="change of its weight under noise",
            ylim=(0, None),
        )
        style.message(axes, "More items to beat, more noise amplified")
    return figure
