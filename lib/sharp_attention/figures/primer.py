"""Pictures of the primer: concentration, quadrature errors, proximal maps."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from scipy import special

from sharp_attention.figures import style
from sharp_attention.numerics import gaussian

__all__ = [
    "draw_concentration",
    "draw_proximal",
    "draw_quadrature",
    "proximal_maps",
    "quadrature_errors",
    "random_overlaps",
]


def random_overlaps(
    rng_seed: int, dims: Sequence[int], num_pairs: int = 300
) -> pd.DataFrame:
    """Overlaps of pairs of random vectors, in several dimensions.

    Parameters
    ----------
    rng_seed : seed of the generator
    dims : dimensions D
    num_pairs : pairs of standard Gaussian vectors in each

    Returns
    -------
    table with columns dim and overlap = a.b/D
    """
    rng = np.random.default_rng(rng_seed)
    tables = []
    for dim in dims:
        # a.b given a is Gaussian with standard deviation |a|, so b needn't be drawn.
        norms = np.sqrt(rng.chisquare(dim, size=num_pairs))
        overlap = norms * rng.standard_normal(num_pairs) / dim
        tables.append(pd.DataFrame({"dim": dim, "overlap": overlap}))
    return pd.concat(tables, ignore_index=True)


def draw_concentration(overlaps: pd.DataFrame) -> Figure:
    """Draw the table of `random_overlaps` with two standard deviations around 0."""
    with style.use_style():
        figure, axes = plt.subplots()
        rng = np.random.default_rng(0)
        jitter = 10 ** rng.uniform(-0.12, 0.12, size=len(overlaps))
        axes.plot(
            overlaps["dim"] * jitter,
            overlaps["overlap"],
            ".",
            color=style.COLOURS["softmax"],
            alpha=0.45,
            markersize=3,
            rasterized=True,
        )
        dims = np.geomspace(overlaps["dim"].min() / 1.5, overlaps["dim"].max() * 1.5)
        for sign in (-1, 1):
            colour = style.COLOURS["bound"]
            axes.plot(dims, sign * 2 / np.sqrt(dims), color=colour)
        style.label_line(
            axes, 100, 0.2, "two standard deviations, 2/√D", colour, offset=(8, 16)
        )
        axes.set(xscale="log", xlabel="dimension D", ylabel="overlap a·b/D")
        style.message(axes, "The overlap of two random vectors shrinks like 1/√D")
    return figure


def quadrature_errors(
    rng_seed: int, num_points: Sequence[int] = (4, 8, 12, 16, 24, 32, 48, 64, 96, 128)
) -> pd.DataFrame:
    """Error of E[sigmoid(3g)²] by three rules against the number of evaluations.

    Parameters
    ----------
    rng_seed : seed of the Monte-Carlo runs
    num_points : evaluations of each of the two quadrature rules

    Returns
    -------
    table with columns rule, evaluations and error (Monte Carlo: root mean square of
    50 runs)
    """

    def integrand(g: np.ndarray) -> np.ndarray:
        return special.expit(3 * g) ** 2

    def error(nodes: np.ndarray, weights: np.ndarray) -> float:
        # Below rounding a logarithmic axis shows rounding.
        return max(abs(float(weights @ integrand(nodes)) - exact), 1e-17)

    fine, weights = gaussian.trapezoid(step=0.005)
    exact = float(weights @ integrand(fine))
    rows: list[tuple[str, int, float]] = []
    for n in num_points:
        rule = gaussian.trapezoid(-8.5, 8.5, step=17 / (n - 1))
        rows.append(("trapezoid", n, error(*rule)))
        rows.append(("Gauss–Hermite", n, error(*gaussian.gauss_hermite(n))))
    rng = np.random.default_rng(rng_seed)
    for n in (4, 16, 64, 256, 1024):
        means = integrand(rng.standard_normal((50, n))).mean(axis=1)
        rms = float(np.sqrt(np.mean((means - exact) ** 2)))
        rows.append(("Monte Carlo", n, rms))
    return pd.DataFrame(rows, columns=["rule", "evaluations", "error"])


def draw_quadrature(errors: pd.DataFrame) -> Figure:
    """Draw the table of `quadrature_errors` on logarithmic axes."""
    looks = {
        "trapezoid": ("softmax", "-"),
        "Gauss–Hermite": ("softplus", "-"),
        "Monte Carlo": ("linear", "o"),
    }
    with style.use_style():
        figure, axes = plt.subplots()
        for rule, (subject, marks) in looks.items():
            rows = errors[errors["rule"] == rule]
            colour = style.COLOURS[subject]
            axes.plot(rows["evaluations"], rows["error"], marks, color=colour)
            last = rows.iloc[-1]
            x, y = float(last["evaluations"]), float(last["error"])
            style.label_line(axes, x, y, rule, colour)
        axes.set(
            xscale="log",
            yscale="log",
            xlim=(3.5, 2500),
            xlabel="evaluations of the function",
            ylabel="error of the average",
        )
        style.message(axes, "A hundred evenly spaced points give all digits")
    return figure


LOSSES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "square loss, (x − 1)²/2": lambda x: (x - 1) ** 2 / 2,
    "absolute value, |x|": np.abs,
    "two valleys, 2 (|x| − 1)²": lambda x: 2 * (np.abs(x) - 1) ** 2,
}
"""The losses whose proximal maps are shown; only the last is not convex."""


def proximal_maps() -> pd.DataFrame:
    """Proximal maps with V = 1 of the three `LOSSES`, by search on a grid.

    Returns
    -------
    table with columns loss, start and prox
    """
    grid = np.linspace(-4, 4, 8001)
    starts = np.linspace(-3, 3, 240)
    tables = []
    for name, loss in LOSSES.items():
        cost = loss(grid)[None, :] + (grid[None, :] - starts[:, None]) ** 2 / 2
        prox = grid[cost.argmin(axis=1)]
        tables.append(pd.DataFrame({"loss": name, "start": starts, "prox": prox}))
    return pd.concat(tables, ignore_index=True)


def draw_proximal(maps: pd.DataFrame) -> Figure:
    """Draw the table of `proximal_maps`, the jump as a gap."""
    places = ((-1.6, 0.5, (-40, 0)), (-0.6, 0.0, (0, -11)), (0.0, -0.8, (10, 0)))
    with style.use_style():
        figure, axes = plt.subplots()
        subjects = ("linear", "softplus", "softmax")
        for name, subject, (x, y, offset) in zip(LOSSES, subjects, places, strict=True):
            rows = maps[maps["loss"] == name]
            prox = rows["prox"].to_numpy(copy=True)
            prox[1:][np.abs(np.diff(prox)) > 0.5] = np.nan  # a jump is not a slope
            colour = style.COLOURS[subject]
            axes.plot(rows["start"], prox, color=colour)
            style.label_line(axes, x, y, name, colour, offset=offset)
        axes.set(xlabel="start w", ylabel="proximal point")
        style.message(axes, "With two valleys the proximal map jumps")
    return figure
