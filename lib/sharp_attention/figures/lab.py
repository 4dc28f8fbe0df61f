"""The interactive figures: their tables, and the pictures where no script runs.

In the book a module of JavaScript takes the place of each picture (`publish`, ``lab``).
It computes what has a closed form, and reads the rest from the table.
"""

import math

import jax
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sharp_attention._typing import Float64
from sharp_attention.attention import activations, entropy, temperature
from sharp_attention.experiments import artefacts, finite_sample_tables, phase_risks
from sharp_attention.figures import phases, style
from sharp_attention.theory import dispersion

__all__ = [
    "adaptive_row",
    "draw_adaptive",
    "draw_finite_samples",
    "draw_leader",
    "draw_phases",
    "finite_samples",
    "interpolate",
    "leader",
    "phase_risks_table",
]

SPREAD = 5.0
LOGITS = (6.0, 4.0, 3.5, 3.0, 2.5, 2.0, 1.5, 1.0)
OTHERS_STEP = 24
"""Of the slider: 100 further keys, twelve steps to a factor of ten."""

CENTRE = (2.2, 1.0)
"""Sharpness and signal of the point that the reader finds: in the glass."""


def leader() -> pd.DataFrame:
    """Tabulate what Lemma 2.1 and the attained bounds allow at spread 5.

    Returns
    -------
    table with columns num_items, lower, upper (of the lemma), smallest, largest
    (attained), entropy (of the row whose leader is alone) and entropy_floor
    """
    sizes = [2**power for power in range(1, 21)]
    lower, upper = dispersion.weight_bounds(SPREAD, sizes)
    smallest, largest = dispersion.sharp_weight_bounds(SPREAD, sizes)
    return pd.DataFrame(
        {
            "num_items": sizes,
            "lower": lower,
            "upper": upper,
            "smallest": smallest,
            "largest": largest,
            "entropy": dispersion.two_level_entropy(SPREAD, sizes, 1),
            "entropy_floor": dispersion.entropy_floor(SPREAD, sizes),
        }
    )


def draw_leader(table: pd.DataFrame) -> Figure:
    """Draw the weights of the table of `leader`."""
    colour, grey = style.COLOURS["softmax"], style.COLOURS["bound"]
    with style.use_style():
        figure, axes = plt.subplots()
        n = table["num_items"]
        axes.fill_between(
            n, table["lower"], table["upper"], color=grey, alpha=0.22, lw=0
        )
        axes.plot(n, table["largest"], color=colour)
        axes.plot(n, table["smallest"], color=colour, linewidth=1)
        style.label_line(axes, 3e3, 0.045, "largest possible", colour, offset=(6, 12))
        style.label_line(axes, 4, 2e-5, "smallest", colour, offset=(0, 0))
        style.label_line(axes, 1.2e4, 1e-4, "Lemma 2.1", grey, offset=(0, 0))
        axes.set(xscale="log", yscale="log", xlabel="number of items n")
        axes.set(ylabel="weight", ylim=(1e-9, 10))
        style.message(axes, "A spread of 5 is soon exhausted")
    return figure


def adaptive_row() -> pd.DataFrame:
    """Weights of eight keys among a hundred more at 0: softmax and the rule.

    Returns
    -------
    table with columns key, logit, softmax and adaptive; its attributes hold the number
    of other keys, the entropy of softmax and the inverse temperature
    """
    others = round(10 ** (OTHERS_STEP / 12))
    row = np.concatenate([LOGITS, np.zeros(others)])
    count = len(LOGITS)
    with jax.enable_x64(True):
        plain, adaptive = activations.softmax(row), temperature.adaptive_softmax(row)
        nats = float(entropy.entropy(row))
        beta = float(temperature.inverse_temperature(nats))
    table = pd.DataFrame(
        {
            "key": range(1, count + 1),
            "logit": LOGITS,
            "softmax": np.asarray(plain)[:count],
            "adaptive": np.asarray(adaptive)[:count],
        }
    )
    table.attrs = {
        "others_step": OTHERS_STEP,
        "others": others,
        "entropy": nats,
        "inverse_temperature": beta,
    }
    return table


def draw_adaptive(table: pd.DataFrame) -> Figure:
    """Draw the table of `adaptive_row` as pairs of bars."""
    with style.use_style():
        figure, axes = plt.subplots()
        for name, shift in (("softmax", -0.2), ("adaptive", 0.2)):
            colour = style.COLOURS[name]
            axes.bar(table["key"] + shift, table[name], 0.36, color=colour)
            height = float(table[name].iloc[0])
            style.label_line(axes, 1.4, height, name, colour)
        axes.set(xlabel="key, by falling logit", ylabel="weight")
        axes.set_xticks(table["key"])
        beta = table.attrs["inverse_temperature"]
        style.message(axes, f"The rule multiplies these logits by {beta:.2f}")
    return figure


def phase_risks_table() -> pd.DataFrame:
    """Tabulate exact risks over sharpness and signal, at three lengths.

    Returns
    -------
    table with columns exponent, root_signal (sqrt(c)), sharpness, risk and best_risk
    (to five decimals); its attributes hold the step of the grid and, for each exponent,
    the largest error of `interpolate` at the midpoints
    """
    table = artefacts.read_table("phase-risks", "risks.csv").round(5)
    midpoints = artefacts.read_table("phase-risks", "midpoints.csv")
    errors = {
        str(exponent): _largest_error(nodes, midpoints[midpoints.exponent == exponent])
        for exponent, nodes in table.groupby("exponent")
    }
    table.attrs = {"step": phase_risks.STEP, "interpolation_error": errors}
    return table


def interpolate(
    values: Float64, rows: Float64, columns: Float64, step: float
) -> Float64:
    """Cubic interpolation in a table over equal steps from 0, as in the browser.

    Lagrange's polynomial through four neighbours along each axis; at the ends the
    same four serve.

    Parameters
    ----------
    values : (rows, columns), at least four of each
    rows, columns : (points,), places inside of the table
    step : between neighbours, along both axes

    Returns
    -------
    (points,)
    """
    above, across = _cubic(rows / step, values.shape[0])
    beside, along = _cubic(columns / step, values.shape[1])
    corners = values[above[:, :, None], beside[:, None, :]]
    return np.asarray(np.einsum("pi,pj,pij->p", across, along, corners), np.float64)


def draw_phases(table: pd.DataFrame) -> Figure:
    """Draw contours of the risk at v = v* for the longest texts, over the phases."""
    exponent = table["exponent"].max()
    here = table[table["exponent"] == exponent]
    plane = here.pivot(index="root_signal", columns="sharpness", values="risk")
    lines = phases.boundaries()
    with style.use_style():
        figure, axes = plt.subplots(figsize=(6.0, 4.4))
        levels = [0.1, 0.3, 0.5, 0.7, 0.9, 1.1, 1.2, 1.3]
        curves = axes.contour(
            plane.columns,
            plane.index**2,
            plane.to_numpy(),
            levels,
            colors=style.shades(len(levels)),
        )
        axes.clabel(curves, fontsize=9)
        for name in ("retrieval", "glass"):
            edge = lines[lines["line"] == name]
            axes.plot(edge["b"], edge["c"], "--", color=style.COLOURS["bound"], lw=1.4)
        axes.plot(*CENTRE, "o", color=style.PAGE_TEXT)
        axes.set(xlim=(0, 3), ylim=(0, 5))
        axes.set(xlabel="sharpness b = β / √(log L)", ylabel="signal c = ν / log L")
        style.message(
            axes, f"The risk at $10^{{{exponent}}}$ tokens, in the phase diagram"
        )
    return figure


def finite_samples() -> pd.DataFrame:
    """Test risks of the replica equations, and of trained heads, by sample ratio.

    Returns
    -------
    table with columns kind ("theory" or "trained"), task, activation, ridge,
    sample_ratio, ridge_k, ridge_v, test_risk and is_trusted
    """
    theory = finite_sample_tables.read("theory").assign(kind="theory")
    dots = finite_sample_tables.dots(finite_sample_tables.read("simulation"))
    trained = dots[dots["start"] == "informed"].assign(kind="trained")
    columns = ["kind", *finite_sample_tables.PLACE, "ridge_k", "ridge_v", "test_risk"]
    both = pd.concat([theory, trained], ignore_index=True)
    return both[[*columns, "is_trusted"]]


def draw_finite_samples(table: pd.DataFrame) -> Figure:
    """Draw the spiked task of signal 2 at the best ridges, from `finite_samples`."""
    here = table[(table["task"] == "spiked 2") & (table["ridge"] == "best")]
    with style.use_style():
        figure, axes = plt.subplots()
        for name in ("softmax", "linear"):
            rows = here[here["activation"] == name].sort_values("sample_ratio")
            _draw_activation(axes, rows, name)
        axes.set(xlabel="samples per dimension α = N/D", ylabel="test risk")
        axes.set(xlim=(0, 20.6), ylim=(0, 1.2))
        style.message(axes, "Softmax learns more from the same texts")
    return figure


def _draw_activation(axes: Axes, rows: pd.DataFrame, name: str) -> None:
    colour = style.COLOURS[name]
    theory, trained = (rows[rows["kind"] == kind] for kind in ("theory", "trained"))
    x, y = theory["sample_ratio"], theory["test_risk"]
    axes.plot(x, y, color=colour, alpha=0.35, linewidth=1.4)
    axes.plot(x, y.where(theory["is_trusted"]), color=colour)
    axes.plot(trained["sample_ratio"], trained["test_risk"], "o", color=colour)
    style.label_line(axes, x.iloc[-1], y.iloc[-1], name, colour)


def _largest_error(nodes: pd.DataFrame, midpoints: pd.DataFrame) -> float:
    """Largest error of the interpolation, rounded up to two digits."""
    roots, sharpnesses = (
        midpoints[name].to_numpy() for name in ("root_signal", "sharpness")
    )
    errors = []
    for column in ("risk", "best_risk"):
        plane = nodes.pivot(index="root_signal", columns="sharpness", values=column)
        found = interpolate(plane.to_numpy(), roots, sharpnesses, phase_risks.STEP)
        errors.append(np.abs(found - midpoints[column].to_numpy()).max())
    largest = float(max(errors))
    digits = 1 - math.floor(math.log10(largest))
    return round(math.ceil(largest * 10**digits) / 10**digits, digits)


def _cubic(places: Float64, count: int) -> tuple[np.ndarray, Float64]:
    """First to fourth neighbour (points, 4), and their weights, for each place."""
    first = np.clip(np.floor(places).astype(int) - 1, 0, count - 4)
    t = places - first
    weights = [
        (t - 1) * (t - 2) * (t - 3) / -6,
        t * (t - 2) * (t - 3) / 2,
        t * (t - 1) * (t - 3) / -2,
        t * (t - 1) * (t - 2) / 6,
    ]
    return first[:, None] + np.arange(4), np.stack(weights, axis=1)
