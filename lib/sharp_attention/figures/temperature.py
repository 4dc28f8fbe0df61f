"""Pictures of adaptive temperature: the rule and its limits."""

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sharp_attention.attention import activations, entropy, temperature
from sharp_attention.figures import style

__all__ = [
    "draw_gap",
    "draw_rule",
    "draw_size",
    "leader_by_gap",
    "leader_by_size",
    "rule",
]

SOFTMAX, ADAPTIVE = style.COLOURS["softmax"], style.COLOURS["adaptive"]
GREY = style.COLOURS["bound"]


def rule() -> pd.DataFrame:
    """Tabulate the rule and its polynomial on a grid of entropies.

    Returns
    -------
    table with columns entropy (nats), polynomial and inverse_temperature
    """
    grid = np.linspace(0.0, 8.0, 321)
    return pd.DataFrame(
        {
            "entropy": grid,
            "polynomial": np.polyval(temperature.POLYNOMIAL, grid),
            "inverse_temperature": np.asarray(temperature.inverse_temperature(grid)),
        }
    )


def draw_rule(table: pd.DataFrame) -> Figure:
    """Draw the table of `rule`, with effective supports on top."""
    (lower, upper), (peak, largest) = temperature.active_domain(), temperature.maximum()
    with style.use_style():
        figure, axes = plt.subplots()
        x = table["entropy"]
        axes.plot(x, table["polynomial"], "--", color=GREY, linewidth=1.4)
        axes.plot(x, table["inverse_temperature"], color=ADAPTIVE)
        axes.axvline(0.5, color=GREY, linewidth=1, linestyle=":")
        axes.plot(peak, largest, "o", color=ADAPTIVE)
        style.label_line(axes, peak, largest, f"{largest:.4f}", ADAPTIVE, offset=(0, 9))
        style.label_line(axes, 6.35, 1.0, "the rule", ADAPTIVE, offset=(8, 9))
        style.label_line(axes, 6.35, -0.25, "polynomial", GREY, offset=(2, 0))
        style.label_line(axes, 0.5, 2.2, "printed condition\nH > 0.5", GREY)
        for end, align, x_offset in ((lower, "left", 6), (upper, "right", -6)):
            text, below = f"{end:.4f}", (x_offset, -9)
            style.label_line(axes, end, 1, text, ADAPTIVE, offset=below, align=align)
        axes.set(
            xlabel="entropy H (nats)",
            ylabel="inverse temperature",
            xlim=(0, 8),
            ylim=(-0.5, 2.75),
        )
        _support_axis(axes)
        style.message(axes, "The rule acts between 2.3 and 382 equal keys only")
    return figure


def _support_axis(axes: Axes) -> None:
    """Mark effective supports, exp(entropy), along the top."""
    supports = np.array([1, 2, 5, 10, 20, 50, 100, 382, 1000, 2981])
    top = axes.secondary_xaxis("top")
    top.set_xticks(np.log(supports), [f"{number:,}" for number in supports])
    top.set_xlabel("effective support (equal keys)")


def leader_by_gap(num_keys: int = 16) -> pd.DataFrame:
    """Weight of a leader among equal keys against its gap.

    Returns
    -------
    table with columns gap, softmax, adaptive and inverse_temperature
    """
    logits = np.zeros((401, num_keys))
    logits[:, 0] = gaps = np.linspace(0.0, 8.0, 401)
    return pd.DataFrame({"gap": gaps, **_weights_of_leader(logits)})


def leader_by_size(gap: float = 5.0) -> pd.DataFrame:
    """Weight of a leader among equal keys against their number, up to 100,000.

    Returns
    -------
    table with columns num_keys, softmax, adaptive and inverse_temperature
    """
    small, large = np.arange(4, 801), np.geomspace(801, 100_000, 40).round().astype(int)
    tables = []
    for sizes in (small, large):  # apart, since each row is as wide as the widest
        logits = np.where(np.arange(sizes.max()) < sizes[:, None], 0.0, -np.inf)
        logits[:, 0] = gap
        tables.append(pd.DataFrame({"num_keys": sizes, **_weights_of_leader(logits)}))
    return pd.concat(tables, ignore_index=True)


def _weights_of_leader(logits: np.ndarray) -> dict[str, np.ndarray]:
    values = entropy.entropy(logits)
    return {
        "softmax": np.asarray(activations.softmax(logits)[:, 0]),
        "adaptive": np.asarray(temperature.adaptive_softmax(logits)[:, 0]),
        "inverse_temperature": np.asarray(temperature.inverse_temperature(values)),
    }


def draw_gap(table: pd.DataFrame) -> Figure:
    """Draw the table of `leader_by_gap`: weights above, inverse temperature below."""
    with style.use_style():
        figure, (axes, below) = plt.subplots(
            2, sharex=True, figsize=(6.4, 5.0), height_ratios=(2.4, 1)
        )
        x = table["gap"]
        axes.plot(x, table["softmax"], color=SOFTMAX)
        axes.plot(x, table["adaptive"], color=ADAPTIVE)
        below.plot(x, table["inverse_temperature"], color=ADAPTIVE)
        drop = int((table["adaptive"].cummax() - table["adaptive"]).argmax())
        start = int(table["adaptive"][:drop].argmax())
        for row in (start, drop):
            axes.plot(x[row], table["adaptive"][row], "o", color=ADAPTIVE)
        offsets = {start: (-8, 8), drop: (6, -9)}
        for row, align in ((start, "right"), (drop, "left")):
            y = float(table["adaptive"][row])
            style.label_line(
                axes, x[row], y, f"{y:.3f}", ADAPTIVE, offset=offsets[row], align=align
            )
        style.label_line(
            axes, 1.7, 0.75, "adaptive", ADAPTIVE, offset=(-8, 0), align="right"
        )
        style.label_line(axes, 3.3, 0.63, "softmax", SOFTMAX, offset=(4, -4))
        axes.set(ylabel="weight of the leader", ylim=(0, 1.09))
        below.set(
            xlabel="gap: logit of the leader, the others at 0",
            ylabel="inverse\ntemperature",
            ylim=(0.9, 2.6),
            xlim=(0, x.max()),
        )
        style.message(axes, "Raising the best logit can lower its weight")
        figure.align_ylabels()
    return figure


def draw_size(table: pd.DataFrame, gap: float = 5.0) -> Figure:
    """Draw the table of `leader_by_size`, and where a leader drops below one half."""
    looks = (
        ("softmax", SOFTMAX, (-8, -8), "right"),
        ("adaptive", ADAPTIVE, (8, 0), "left"),
    )
    with style.use_style():
        figure, axes = plt.subplots()
        sizes = table["num_keys"].to_numpy()
        bound = np.exp(gap) / sizes
        axes.plot(sizes[bound < 2], bound[bound < 2], "--", color=GREY, linewidth=1.2)
        text = f"Lemma 2.1: exp({gap:g})/n"
        style.label_line(axes, 2e3, np.exp(gap) / 2e3, text, GREY, offset=(6, 6))
        for name, colour, offset, align in looks:
            weights = table[name].to_numpy()
            axes.plot(sizes, weights, color=colour)
            last = float(sizes[weights >= 0.5].max())
            axes.plot(last, 0.5, "o", color=colour)
            text = f"{name}: half at {last:.0f}"
            style.label_line(axes, last, 0.5, text, colour, offset=offset, align=align)
        axes.set(
            xscale="log",
            yscale="log",
            xlabel="number of keys n",
            ylabel="weight of the leader",
            ylim=(1e-3, 1.6),
        )
        style.message(axes, "Adaptive temperature delays dispersion, then lets go")
    return figure
