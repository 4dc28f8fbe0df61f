"""Pictures of long texts: steps, phases, the glass and the critical window."""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy import special

from sharp_attention.figures import style
from sharp_attention.tasks.single_location import Overlaps, SpikedSLR
from sharp_attention.theory.single_location import phases, population

__all__ = [
    "boundaries",
    "draw_diagram",
    "draw_glass",
    "draw_steps",
    "draw_window",
    "glass_curves",
    "risk_steps",
    "window_curves",
]

EDGE = math.sqrt(2.0)

# Dense around the step at 2.
RATIOS = (*np.arange(0.1, 1.3, 0.3), *np.arange(1.3, 3, 0.1), *np.arange(3, 6.1, 0.5))


def _power(exponent: int) -> str:
    return f"L = $10^{{{exponent}}}$"


def risk_steps(
    exponents: Sequence[int], ratios: Sequence[float] = RATIOS
) -> pd.DataFrame:
    """Bayes risk of the spiked task against c = ν / log L.

    Parameters
    ----------
    exponents : n of the lengths 10^n
    ratios : values of c

    Returns
    -------
    table with columns exponent, ratio and risk
    """
    rows = []
    for exponent in exponents:
        for ratio in map(float, ratios):
            task = SpikedSLR(ratio * exponent * math.log(10), 10**exponent)
            rows.append((exponent, ratio, population.bayes_risk(task)))
    return pd.DataFrame(rows, columns=["exponent", "ratio", "risk"])


def draw_steps(steps: pd.DataFrame) -> Figure:
    """Draw the table of `risk_steps` with the limit, a step at c = 2."""
    exponents = [int(n) for n in sorted(steps["exponent"].unique())]
    shades = style.shades(len(exponents))
    with style.use_style():
        figure, axes = plt.subplots()
        for shade, exponent in zip(shades, exponents, strict=True):
            rows = steps[steps["exponent"] == exponent]
            axes.plot(rows["ratio"], rows["risk"], color=shade)
        colour = style.COLOURS["bound"]
        axes.plot([0, 2, 2, 6], [1, 1, 0, 0], "--", color=colour, linewidth=1.4)
        style.label_line(axes, 2, 0.97, "limit", colour, offset=(6, 0))
        places = ((3.0, 0.27, "left"), (1.9, 0.12, "right"))
        for rank, (x, y, align) in zip((0, len(exponents) - 1), places, strict=True):
            text, shade = _power(exponents[rank]), shades[rank]
            style.label_line(axes, x, y, text, shade, offset=(0, 0), align=align)
        axes.set(xlabel="signal over log length, ν / log L", ylabel="Bayes risk")
        axes.set(xlim=(0, 6), ylim=(-0.02, 1.04))
        style.message(axes, "Longer texts turn the fall of the risk into a step")
    return figure


def boundaries() -> pd.DataFrame:
    """Lines between the phases in the plane of sharpness b and signal c.

    Returns
    -------
    table with columns line, b and c
    """
    soft, sharp = np.linspace(0.35, EDGE, 80), np.linspace(EDGE, 3.0, 2)
    tables = [
        pd.DataFrame(
            {"line": "retrieval", "b": soft, "c": (1 + soft**2 / 2) ** 2 / soft**2}
        ),
        pd.DataFrame({"line": "retrieval", "b": sharp, "c": [2.0, 2.0]}),
        pd.DataFrame({"line": "glass", "b": [EDGE, EDGE], "c": [0.0, 2.0]}),
        pd.DataFrame(
            {"line": "optimal", "b": (c := np.linspace(0, 2.4, 50)), "c": c**2}
        ),
    ]
    return pd.concat(tables, ignore_index=True)


def draw_diagram(lines: pd.DataFrame) -> Figure:
    """Draw the phase diagram from the table of `boundaries`."""
    with style.use_style():
        figure, axes = plt.subplots(figsize=(6.0, 4.4))
        top, right = 5.0, 3.0
        edge = lines[lines["line"] == "retrieval"]
        axes.fill_between(
            edge["b"], edge["c"], top, color=style.COLOURS["softmax"], alpha=0.22, lw=0
        )
        soft = edge[edge["b"] <= EDGE]
        b = np.concatenate([[0.0], soft["b"]])
        c = np.minimum(np.concatenate([[top], soft["c"]]), top)
        axes.fill_between(b, 0, c, color=style.COLOURS["bound"], alpha=0.22, lw=0)
        axes.fill_between(
            [EDGE, right], 0, 2, color=style.COLOURS["adaptive"], alpha=0.22, lw=0
        )
        optimal = lines[lines["line"] == "optimal"]
        axes.plot(optimal["b"], optimal["c"], "--", color=style.PAGE_TEXT, lw=1.6)
        axes.plot(EDGE, 2, "o", color=style.PAGE_TEXT)
        for x, y, text, subject in (
            (1.75, 4.0, "retrieval\nrisk 0", "softmax"),
            (0.62, 1.0, "dispersed\nrisk 1", "bound"),
            (2.2, 1.0, "glass\nrisk 2 − √2/b", "adaptive"),
        ):
            axes.text(
                x, y, text, color=style.COLOURS[subject], ha="center", va="center",
                fontweight="bold",
            )  # fmt: skip
        style.label_line(
            axes, 2.1, 4.41, "optimal, b = √c", style.PAGE_TEXT, offset=(8, -6)
        )
        axes.set(
            xlim=(0, right),
            ylim=(0, top),
            xlabel="sharpness b = β / √(log L)",
            ylabel="signal c = ν / log L",
        )
        style.message(axes, "Below c = 2 sharpening turns silence into error")
    return figure


def glass_curves(
    signal_ratio: float,
    exponents: Sequence[int],
    sharpnesses: Sequence[float] = tuple(np.linspace(0.1, 4, 40)),
) -> pd.DataFrame:
    """Risk at v = v* against the sharpness b at fixed c, and its limit.

    Parameters
    ----------
    signal_ratio : c = ν / log L
    exponents : n of the lengths 10^n
    sharpnesses : values of b = β / sqrt(log L)

    Returns
    -------
    table with columns exponent (0 for the limit), sharpness and risk
    """
    b = np.asarray(sharpnesses, dtype=np.float64)
    tables = []
    for exponent in exponents:
        log_length = exponent * math.log(10)
        beta = b * math.sqrt(log_length)
        one = np.ones_like(beta)
        task = SpikedSLR(signal_ratio * log_length, 10**exponent)
        risk = population.risk(task, "softmax", Overlaps(beta, beta**2, one, one))
        columns = {"exponent": exponent, "sharpness": b, "risk": risk}
        tables.append(pd.DataFrame(columns))
    limit = [phases.limit_risk(float(x), signal_ratio) for x in b]
    tables.append(pd.DataFrame({"exponent": 0, "sharpness": b, "risk": limit}))
    return pd.concat(tables, ignore_index=True)


def draw_glass(curves: pd.DataFrame) -> Figure:
    """Draw the table of `glass_curves`."""
    exponents = [int(n) for n in sorted(curves["exponent"].unique()) if n > 0]
    with style.use_style():
        figure, axes = plt.subplots()
        _draw_lengths(axes, curves, "sharpness", exponents)
        limit = curves[curves["exponent"] == 0]
        colour = style.COLOURS["bound"]
        axes.plot(limit["sharpness"], limit["risk"], "--", color=colour, lw=1.4)
        x, y = float(limit["sharpness"].iloc[-1]), float(limit["risk"].iloc[-1])
        style.label_line(axes, x, y, "limit", colour)
        axes.axhline(1, color=colour, lw=0.8)
        axes.set(xlabel="sharpness b = β / √(log L)", ylabel="risk")
        style.message(axes, "A frozen head is worse than a silent one")
    return figure


def window_curves(
    exponents: Sequence[int], offsets: Sequence[float] = tuple(np.linspace(-3, 3, 25))
) -> pd.DataFrame:
    """Bayes risk against h = sqrt(ν) - sqrt(2 log L), and the limit Q(h).

    Parameters
    ----------
    exponents : n of the lengths 10^n
    offsets : values of h

    Returns
    -------
    table with columns exponent (0 for the limit), h and risk
    """
    rows = []
    for h in map(float, offsets):
        for exponent in exponents:
            root = math.sqrt(2 * exponent * math.log(10)) + h
            task = SpikedSLR(root**2, 10**exponent)
            rows.append((exponent, h, population.bayes_risk(task)))
        rows.append((0, h, float(special.ndtr(-h))))
    return pd.DataFrame(rows, columns=["exponent", "h", "risk"])


def draw_window(curves: pd.DataFrame) -> Figure:
    """Draw the table of `window_curves`: the limit as a line, lengths as dots."""
    exponents = [int(n) for n in sorted(curves["exponent"].unique()) if n > 0]
    with style.use_style():
        figure, axes = plt.subplots()
        limit = curves[curves["exponent"] == 0]
        axes.plot(limit["h"], limit["risk"], color=style.COLOURS["bound"])
        style.label_line(
            axes, -0.9, 0.816, "Q(h)", style.COLOURS["bound"], offset=(10, 8)
        )
        shades = style.shades(len(exponents))
        for shade, exponent in zip(shades, exponents, strict=True):
            rows = curves[curves["exponent"] == exponent]
            label = _power(exponent)
            axes.plot(rows["h"], rows["risk"], "o", color=shade, ms=4, label=label)
        axes.legend(loc="lower left")
        axes.set(xlabel="h = √ν − √(2 log L)", ylabel="Bayes risk")
        style.message(axes, "In the window all lengths fall on one curve")
    return figure


def _draw_lengths(
    axes: Axes, curves: pd.DataFrame, along: str, exponents: Sequence[int]
) -> None:
    shades = style.shades(len(exponents))
    for shade, exponent in zip(shades, exponents, strict=True):
        rows = curves[curves["exponent"] == exponent]
        axes.plot(rows[along], rows["risk"], color=shade, label=_power(exponent))
    axes.legend(loc="upper left")
