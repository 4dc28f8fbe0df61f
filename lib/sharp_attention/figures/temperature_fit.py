"""Pictures of the best temperature of a row, and of polynomials fitted to it."""

import itertools
from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from sharp_attention.attention import entropy, temperature
from sharp_attention.figures import style

__all__ = [
    "draw_optima",
    "draw_target",
    "draw_trained",
    "optima",
    "optima_in_bins",
    "pairs_in_bins",
    "target_by_temperature",
]

SOFTMAX, ADAPTIVE = style.COLOURS["softmax"], style.COLOURS["adaptive"]
GREY = style.COLOURS["bound"]


def target_by_temperature(logits: list[float], target: int) -> pd.DataFrame:
    """Weight of a target and mean logit against the inverse temperature.

    Returns
    -------
    table with columns inverse_temperature, target_weight and mean_logit
    """
    betas = np.linspace(0.0, 5.0, 201)
    values = np.asarray(logits, dtype=np.float64)
    weights = np.exp(betas[:, None] * (values - values.max()))
    weights /= weights.sum(axis=-1, keepdims=True)
    return pd.DataFrame(
        {
            "inverse_temperature": betas,
            "target_weight": weights[:, target],
            "mean_logit": weights @ values,
        }
    )


def draw_target(table: pd.DataFrame, target_logit: float, best: float) -> Figure:
    """Draw the table of `target_by_temperature` with the solution `best` marked."""
    with style.use_style():
        figure, (axes, below) = plt.subplots(2, sharex=True, figsize=(6.4, 4.6))
        x = table["inverse_temperature"]
        axes.plot(x, table["target_weight"], color=ADAPTIVE)
        below.plot(x, table["mean_logit"], color=SOFTMAX)
        below.axhline(target_logit, color=GREY, linestyle="--", linewidth=1.4)
        top = float(np.interp(best, x, table["target_weight"]))
        for panel, y in ((axes, top), (below, target_logit)):
            panel.axvline(best, color=GREY, linewidth=1, linestyle=":")
            panel.plot(best, y, "o", color=ADAPTIVE)
        text = f"{top:.4f} at {best:.5f}"
        style.label_line(axes, best, top, text, ADAPTIVE, offset=(8, 8))
        text = f"the target's logit, {target_logit:g}"
        style.label_line(
            below, 5, target_logit, text, GREY, offset=(-4, -10), align="right"
        )
        style.label_line(below, 0.5, 1.6, "mean logit", SOFTMAX, offset=(10, -8))
        axes.set(ylabel="weight of the target", ylim=(0.1, 0.45))
        below.set(ylabel="logit", xlabel="inverse temperature", xlim=(0, 5))
        style.message(axes, "Best where the mean logit meets the target's")
        figure.align_ylabels()
    return figure


def optima(
    rng_seed: int,
    *,
    slope: float = 16.0,
    noises: Sequence[float] = (0.5, 0.25),
    sizes: Sequence[int] = (8, 16, 32, 64, 128, 256),
    rows_per_size: int = 1500,
) -> pd.DataFrame:
    """Best inverse temperatures of a toy retriever that misses the true maximum.

    An item of priority ρ, uniform on (0, 1), has the logit slope · ρ + noise · g with
    g standard Gaussian.  Kept are the rows in which the item of largest priority is
    not in front and the best inverse temperature is finite.

    Returns
    -------
    table with columns noise, num_keys, entropy and best
    """
    rng = np.random.default_rng(rng_seed)
    widest = max(sizes)
    tables = []
    for noise, size in itertools.product(noises, sizes):
        priority = rng.random((rows_per_size, size))
        logits = np.full((rows_per_size, widest), -np.inf)
        logits[:, :size] = slope * priority + noise * rng.normal(size=priority.shape)
        target = priority.argmax(axis=-1)
        columns = {
            "noise": noise,
            "num_keys": size,
            "entropy": np.asarray(entropy.entropy(logits)),
            "best": temperature.optimal_inverse_temperature(logits, target),
        }
        tables.append(pd.DataFrame(columns))
    table = pd.concat(tables, ignore_index=True)
    return table[np.isfinite(table["best"])].reset_index(drop=True)


def optima_in_bins(table: pd.DataFrame, fewest: int = 100) -> pd.DataFrame:
    """Sum up the table of `optima` in bins of half a nat that hold `fewest` rows.

    Returns
    -------
    table with columns noise, entropy and best (means), error (standard error of the
    mean), low and high (first and last decile), and fitted (least-squares polynomial
    of degree four through all rows of this noise)
    """
    bins = (table["entropy"] * 2).round().rename("bin")
    groups = table.groupby(["noise", bins])
    best = groups["best"]
    summary = groups[["entropy", "best"]].mean()
    summary["error"] = best.sem()
    summary["low"], summary["high"] = best.quantile(0.1), best.quantile(0.9)
    summary = summary[groups.size() >= fewest].reset_index().drop(columns="bin")
    for noise, rows in table.groupby("noise"):
        fitted = temperature.fit_polynomial(
            rows["entropy"].to_numpy(), rows["best"].to_numpy()
        )
        here = summary["noise"] == noise
        summary.loc[here, "fitted"] = np.polyval(fitted, summary["entropy"][here])
    return summary


def draw_optima(table: pd.DataFrame) -> Figure:
    """Draw the table of `optima_in_bins` beside the paper's polynomial."""
    looks = ((0.5, "softplus"), (0.25, "erf"))
    with style.use_style():
        figure, axes = plt.subplots(figsize=(6.4, 4.2))
        for noise, subject in looks:
            colour = style.COLOURS[subject]
            rows = table[table["noise"] == noise]
            x, y = rows["entropy"], rows["best"]
            axes.fill_between(x, rows["low"], rows["high"], color=colour, alpha=0.15)
            axes.plot(x, rows["fitted"], color=colour, linewidth=1.2)
            axes.errorbar(x, y, 2 * rows["error"], fmt="o", color=colour, capsize=2)
            last = rows.iloc[-1]
            text = f"noise {noise:g}"
            style.label_line(axes, last["entropy"], last["best"], text, colour)
        grid = np.linspace(*temperature.active_domain(), 201)
        axes.plot(grid, np.polyval(temperature.POLYNOMIAL, grid), color=ADAPTIVE)
        style.label_line(axes, 5.5, 1.85, "the paper's", ADAPTIVE)
        axes.set(
            xlabel="entropy H (nats)",
            ylabel="best inverse temperature",
            xlim=(0, 6.3),
            ylim=(0, None),
        )
        style.message(axes, "Half the noise asks for about twice the sharpening")
    return figure


def pairs_in_bins(pairs: pd.DataFrame, fewest: int = 20) -> pd.DataFrame:
    """Sum up pairs of trained models in bins of half a nat that hold `fewest` rows.

    Parameters
    ----------
    pairs : of the experiment `temperature-fit`: columns entropy and best

    Returns
    -------
    table with columns entropy (mean), rows, best (median), low and high (first and
    last decile)
    """
    groups = pairs.groupby((pairs["entropy"] * 2).round().rename("bin"))
    best = groups["best"]
    summary = pd.DataFrame(
        {
            "entropy": groups["entropy"].mean(),
            "rows": groups.size(),
            "best": best.median(),
            "low": best.quantile(0.1),
            "high": best.quantile(0.9),
        }
    )
    return summary[summary["rows"] >= fewest].reset_index(drop=True)


def draw_trained(bins: pd.DataFrame, fitted: Sequence[float]) -> Figure:
    """Draw the table of `pairs_in_bins` with two polynomials.

    Parameters
    ----------
    bins : medians and deciles
    fitted : coefficients of our polynomial, highest power first
    """
    ours = style.COLOURS["softplus"]
    with style.use_style():
        figure, axes = plt.subplots(figsize=(6.4, 4.2))
        x = bins["entropy"]
        axes.fill_between(x, bins["low"], bins["high"], color=ours, alpha=0.15)
        axes.plot(x, bins["best"], "o", color=ours)
        grid = np.linspace(x.min(), x.max(), 201)
        curve = np.polyval(np.asarray(fitted), grid)
        axes.plot(grid, curve, color=ours)
        style.label_line(axes, grid[-1], curve[-1], "our fit", ours)
        grid = np.linspace(*temperature.active_domain(), 201)
        axes.plot(grid, np.polyval(temperature.POLYNOMIAL, grid), color=ADAPTIVE)
        style.label_line(axes, 5.5, 1.85, "the paper's", ADAPTIVE, offset=(8, 8))
        axes.axhline(1, color=GREY, linestyle=":", linewidth=1)
        axes.set(
            xlabel="entropy H (nats)",
            ylabel="best inverse temperature",
            xlim=(0, 6.3),
            ylim=(0, None),
        )
        style.message(axes, "Our models ask for more sharpening than the paper's")
    return figure
