"""Pictures of size generalisation: trained at one length, used at another."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sharp_attention.figures import style
from sharp_attention.tasks.single_location import Task
from sharp_attention.theory.single_location import adaptive_heads, population
from sharp_attention.theory.single_location import size_generalisation as size

__all__ = ["change_table", "draw_changes", "draw_verdicts", "verdict_table"]


def verdict_table(
    cases: Mapping[str, tuple[Task, size.TrainedHead]],
    lengths: Sequence[int],
    *,
    num_samples: int = 4_000,
    rng_seed: int = 0,
) -> pd.DataFrame:
    """Risks of trained heads at other lengths, plain and with adaptive temperature.

    Parameters
    ----------
    cases : name -> (task of training, head)
    lengths : of the test
    num_samples : texts for each Monte-Carlo change, fewer where they are long
    rng_seed : of the draws

    Returns
    -------
    table with columns case, length, plain (exact), adaptive, error (standard, of
    adaptive) and bayes
    """
    rows = []
    for name, (task, head) in cases.items():
        for length in lengths:
            test = size.at_length(task, length)
            plain = size.frozen_risk(head, test)
            change = adaptive_heads.adaptive_change(
                test,
                head.sharpness,
                head.read_out,
                num_samples=max(400, min(num_samples, 4 * 10**6 // length)),
                rng_seed=rng_seed,
            )
            bayes = population.bayes_risk(test)
            adaptive = plain + change.mean
            rows.append((name, length, plain, adaptive, change.error, bayes))
    columns = ["case", "length", "plain", "adaptive", "error", "bayes"]
    return pd.DataFrame(rows, columns=columns)


def draw_verdicts(table: pd.DataFrame) -> Figure:
    """Draw the table of `verdict_table`, one panel a case."""
    cases = list(dict.fromkeys(table["case"]))
    with style.use_style():
        figure, panels = plt.subplots(
            1, len(cases), sharey=True, figsize=(8.4, 3.6), layout="constrained"
        )
        for axes, case in zip(np.atleast_1d(panels), cases, strict=True):
            _draw_verdict(axes, table[table["case"] == case], case == cases[-1])
            axes.set_title(case, fontweight="normal", fontsize=10.5)
            axes.set(xscale="log", xlabel="tokens L")
        np.atleast_1d(panels)[0].set_ylabel("risk")
        figure.suptitle(
            "Sharpening helps one head, harms another, and hardly moves a third",
            x=0.01,
            ha="left",
            fontweight="bold",
            fontsize=12,
        )
    return figure


def _draw_verdict(axes: Axes, rows: pd.DataFrame, label: bool) -> None:
    bayes, plain = style.COLOURS["bayes"], style.COLOURS["softmax"]
    adaptive = style.COLOURS["adaptive"]
    axes.plot(rows["length"], rows["bayes"], "--", color=bayes, linewidth=1.4)
    axes.plot(rows["length"], rows["plain"], color=plain)
    axes.errorbar(
        rows["length"],
        rows["adaptive"],
        2 * rows["error"],
        fmt="o",
        color=adaptive,
    )
    if label:
        last = rows.iloc[-1]
        x = float(last["length"])
        places = (
            ("unchanged", "plain", plain, 13.0),
            ("adaptive", "adaptive", adaptive, 1.0),
            ("Bayes", "bayes", bayes, -4.0),
        )
        for text, column, colour, lift in places:
            style.label_line(
                axes, x, float(last[column]), text, colour, offset=(8, lift)
            )


def change_table(
    task: Task,
    sharpnesses: Sequence[float],
    lengths: Sequence[int],
    *,
    num_samples: int = 4_000,
    rng_seed: int = 0,
) -> pd.DataFrame:
    """Change of the risk by adaptive temperature for heads with bounded keys.

    Parameters
    ----------
    task : of training
    sharpnesses : bounds K on the sharpness
    lengths : of the test
    num_samples : texts for each change
    rng_seed : of the draws

    Returns
    -------
    table with columns sharpness, length, change and error (standard)
    """
    rows = []
    for sharpness in sharpnesses:
        head = size.train(task, sharpness)
        for length in lengths:
            change = adaptive_heads.adaptive_change(
                size.at_length(task, length),
                head.sharpness,
                head.read_out,
                num_samples=num_samples,
                rng_seed=rng_seed,
            )
            rows.append((sharpness, length, change.mean, change.error))
    return pd.DataFrame(rows, columns=["sharpness", "length", "change", "error"])


def draw_changes(table: pd.DataFrame, bayes_sharpness: float) -> Figure:
    """Draw the table of `change_table`, one line a length."""
    with style.use_style():
        figure, axes = plt.subplots()
        lengths = sorted(table["length"].unique())
        for shade, length in zip(style.shades(len(lengths)), lengths, strict=True):
            rows = table[table["length"] == length]
            axes.errorbar(
                rows["sharpness"],
                rows["change"],
                2 * rows["error"],
                fmt="o-",
                lw=1,
                color=shade,
            )
            end = float(rows["change"].iloc[-1])
            style.label_line(
                axes, bayes_sharpness, end, f"L = {length:,}", shade, offset=(8, 0)
            )
        colour = style.COLOURS["bayes"]
        axes.axhline(0, color=colour, linewidth=1)
        axes.axvline(bayes_sharpness, color=colour, linestyle="--", linewidth=1.4)
        style.label_line(
            axes, bayes_sharpness, float(table["change"].min()), "Bayes", colour
        )
        axes.set(xlabel="sharpness of the trained head", ylabel="change of the risk")
        style.message(axes, "Only clearly under-sharp heads gain")
    return figure
