"""Pictures of the Bayes-optimal reader: its curve, who attains it, where it is hard."""

import math
from collections.abc import Mapping, Sequence

import jax
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sharp_attention.algorithms import amp
from sharp_attention.figures import style
from sharp_attention.tasks.single_location import Task
from sharp_attention.theory.single_location import (
    bayes,
    optimal_ridge,
    replica,
    state_evolution,
)

__all__ = [
    "branch_table",
    "distance_table",
    "draw_branches",
    "draw_distances",
    "draw_messages",
    "message_table",
]

READERS = {
    "ridge 1": style.COLOURS["linear"],
    "best ridges": style.COLOURS["softmax"],
    "Bayes": style.COLOURS["bayes"],
}
"""Colours of the readers whose risks are compared."""

BRANCHES = {
    "uninformed": style.COLOURS["linear"],
    "informed": style.COLOURS["softmax"],
}
"""Colours of the two starts of state evolution."""

SHOWN = ("q_k", "q_v", "test risk")
"""What message passing is compared in."""

# Of state evolution; its error can't be seen in a figure.
_POINTS = 2**13


def distance_table(
    task: Task, sample_ratios: Sequence[float], num_points: int = 2**11
) -> pd.DataFrame:
    """Compare softmax at ridge 1 and at its best ridges with the Bayes-optimal reader.

    Returns
    -------
    table with columns sample_ratio, reader, risk and distance (relative excess over
    the Bayes-optimal risk, label noise taken off both)
    """
    rows = []
    start = (1.0, 1.0)  # the best ridges of one sample ratio are close to the next
    for ratio in sample_ratios:
        plain = replica.solve(task, "softmax", ratio, 1.0, 1.0, num_points=num_points)
        best = optimal_ridge.optimal_ridge(
            task, "softmax", ratio, start=start, num_points=num_points
        )
        start = best.ridge_k, best.ridge_v
        optimal = _uninformed(task, ratio).test_risk
        risks = (plain.test_risk, best.solution.test_risk, optimal)
        for reader, risk in zip(READERS, risks, strict=True):
            excess = (risk - task.noise**2) / (optimal - task.noise**2) - 1
            rows.append((ratio, reader, risk, excess))
    return pd.DataFrame(rows, columns=["sample_ratio", "reader", "risk", "distance"])


def draw_distances(distances: pd.DataFrame, task: Task) -> Figure:
    """Draw the table of `distance_table`: risks, and relative distances."""
    with style.use_style():
        figure, (left, right) = plt.subplots(
            1, 2, figsize=(7.6, 3.8), layout="constrained"
        )
        for reader, colour in READERS.items():
            rows = distances[distances["reader"] == reader]
            x = rows["sample_ratio"]
            left.plot(x, rows["risk"], "o-", color=colour, label=reader)
            if reader != "Bayes":
                right.plot(x, rows["distance"], "o-", color=colour)
        left.axhline(bayes.bayes_risk(task), color=style.PAGE_TEXT, linewidth=0.8)
        left.set(xscale="log", xlabel="sample ratio", ylabel="test risk")
        right.set(xscale="log", xlabel="sample ratio", ylim=(0, None))
        right.set_ylabel("relative excess over Bayes")
        style.message(left, "Softmax comes close, not all the way")
        left.legend()
    return figure


def message_table(
    tasks: Mapping[str, Task],
    sample_ratios: Sequence[float],
    dim: int,
    num_instances: int,
    seed: int = 0,
    between: Sequence[float] = (),
) -> pd.DataFrame:
    """Run message passing on texts and state evolution beside it.

    Parameters
    ----------
    tasks : by the name that they have in the picture
    sample_ratios : at which texts are drawn
    dim, num_instances : of the texts
    seed : of the random key
    between : further sample ratios, for state evolution alone

    Returns
    -------
    table with columns task, sample_ratio, quantity ("q_k" and "q_v", the overlaps with
    the teachers, and "test risk"), predicted, measured (mean over the instances) and
    error (its standard error), the last two not a number at the ratios `between`
    """
    rows: list[tuple[object, ...]] = []
    for name, task in tasks.items():
        for ratio in sorted({*sample_ratios, *between}):
            theory = _uninformed(task, ratio)
            predicted = theory.overlaps.m_k, theory.overlaps.m_v, theory.test_risk
            if ratio not in sample_ratios:
                pairs = zip(SHOWN, predicted, strict=True)
                rows += [(name, ratio, *pair, math.nan, math.nan) for pair in pairs]
                continue
            found = amp.fit(
                jax.random.key(seed), task, dim, ratio, num_instances=num_instances
            )
            measured = found.overlaps.m_k, found.overlaps.m_v, found.test_risk
            for *pair, values in zip(SHOWN, predicted, measured, strict=True):
                array = np.asarray(values, np.float64)
                error = array.std(ddof=1) / math.sqrt(num_instances)
                rows.append((name, ratio, *pair, float(array.mean()), error))
    names = ["task", "sample_ratio", "quantity", "predicted", "measured", "error"]
    return pd.DataFrame(rows, columns=names)


def draw_messages(messages: pd.DataFrame) -> Figure:
    """Draw the table of `message_table`, one panel for each quantity."""
    names = list(dict.fromkeys(messages["task"]))
    with style.use_style():
        figure, panels = plt.subplots(
            1, len(SHOWN), figsize=(7.6, 3.4), layout="constrained"
        )
        figure.suptitle(
            "Messages arrive where state evolution says",
            x=0.01,
            ha="left",
            fontweight="bold",
            fontsize=12,
        )
        for axes, quantity in zip(panels, SHOWN, strict=True):
            for name, colour in zip(names, style.shades(len(names)), strict=True):
                here = (messages["quantity"] == quantity) & (messages["task"] == name)
                rows = messages[here]
                axes.plot(rows["sample_ratio"], rows["predicted"], color=colour)
                axes.errorbar(
                    rows["sample_ratio"],
                    rows["measured"],
                    2 * rows["error"],
                    fmt="o",
                    color=colour,
                    label=name,
                )
            axes.set_title(quantity, fontweight="normal", fontsize=11)
            axes.set_xlabel("sample ratio")
        panels[0].legend()
    return figure


def branch_table(task: Task, sample_ratios: Sequence[float]) -> pd.DataFrame:
    """Follow both solutions of state evolution along the sample ratio.

    Returns
    -------
    table with columns sample_ratio, start, risk, free_entropy and verdict
    """
    rows = []
    for ratio in sample_ratios:
        found = state_evolution.solve(task, ratio, num_points=_POINTS)
        for start, branch in found.branches.items():
            values = branch.test_risk, branch.free_entropy
            rows.append((ratio, start, *values, found.verdict))
    names = ["sample_ratio", "start", "risk", "free_entropy", "verdict"]
    return pd.DataFrame(rows, columns=names)


def draw_branches(branches: pd.DataFrame) -> Figure:
    """Draw the table of `branch_table`: risks, and who has the larger free entropy."""
    with style.use_style():
        figure, (left, right) = plt.subplots(
            1, 2, figsize=(7.6, 3.6), layout="constrained"
        )
        by_start = {
            start: branches[branches["start"] == start].sort_values("sample_ratio")
            for start in BRANCHES
        }
        for (start, rows), mark in zip(by_start.items(), ("o", "."), strict=True):
            colour = BRANCHES[start]
            x = rows["sample_ratio"]
            left.plot(x, rows["risk"], f"{mark}-", color=colour, label=start)
        informed, uninformed = (
            np.asarray(by_start[start]["free_entropy"], np.float64)
            for start in ("informed", "uninformed")
        )
        ratios = np.asarray(by_start["informed"]["sample_ratio"], np.float64)
        right.plot(ratios, informed - uninformed, "o-", color=BRANCHES["informed"])
        right.axhline(0, color=style.PAGE_TEXT, linewidth=0.8)
        _shade_hard(left, branches)
        left.set(xlabel="sample ratio", ylabel="test risk")
        right.set(xlabel="sample ratio", ylabel="free entropy, informed − uninformed")
        left.legend()
        style.message(left, "Two answers; in grey the better one is hidden")
    return figure


def _shade_hard(axes: Axes, branches: pd.DataFrame) -> None:
    hard = branches.loc[branches["verdict"].str.startswith("hard"), "sample_ratio"]
    if not hard.empty:
        axes.axvspan(hard.min(), hard.max(), color="#80808030", linewidth=0)


def _uninformed(task: Task, sample_ratio: float) -> state_evolution.BayesSolution:
    return state_evolution.solve(
        task, sample_ratio, init="uninformed", num_points=_POINTS
    )
