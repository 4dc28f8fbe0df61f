"""Pictures of the landscape: where descents end, cross overlaps, maps with paths."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sharp_attention.experiments import landscape_table
from sharp_attention.figures import style
from sharp_attention.tasks.single_location import Task
from sharp_attention.theory.single_location import key_landscape

__all__ = [
    "draw_cross_overlaps",
    "draw_endings",
    "draw_map",
    "draw_risks",
    "endings",
    "key_map",
]

_ENDS = {
    "lowest minimum": style.COLOURS["softmax"],
    "another matched one": style.COLOURS["softplus"],
    "a swapped one": style.COLOURS["adaptive"],
    "elsewhere": style.COLOURS["bound"],
}

_STARTS = {
    "random": style.COLOURS["bound"],
    "informed": style.COLOURS["softmax"],
    "swapped": style.COLOURS["adaptive"],
}


def endings(minima: pd.DataFrame, settings: Mapping[str, dict]) -> pd.DataFrame:
    """Return the shares of random starts by where they end.

    Parameters
    ----------
    minima : table of `landscape_table.read`
    settings : title of each panel, and the columns with their values that choose it

    Returns
    -------
    table with columns panel, activation, end and share
    """
    table = landscape_table.summary(minima)
    rows = []
    for panel, chosen in settings.items():
        here = np.logical_and.reduce([table[n] == value for n, value in chosen.items()])
        for _, row in table[here & (table["offset"] == "best")].iterrows():
            other = row["random_matched"] - (
                row["random_best"] if row["lowest"] == "matched" else 0.0
            )
            shares = [row["random_best"], other, row["random_swapped"]]
            shares.append(1.0 - sum(shares))
            rows += [
                {
                    "panel": panel,
                    "activation": row["activation"],
                    "end": end,
                    "share": max(float(share), 0.0),
                }
                for end, share in zip(_ENDS, shares, strict=True)
            ]
    return pd.DataFrame(rows)


def draw_endings(table: pd.DataFrame) -> Figure:
    """Draw the table of `endings`."""
    panels = table["panel"].unique()
    with style.use_style():
        figure, axes = plt.subplots(
            len(panels), sharex=True, figsize=(6.4, 1.2 + 1.5 * len(panels))
        )
        for area, panel in zip(np.atleast_1d(axes), panels, strict=True):
            rows = table[table["panel"] == panel]
            wide = rows.pivot_table("share", "activation", "end", sort=False)
            left = np.zeros(len(wide))
            for end, colour in _ENDS.items():
                bars = 100 * wide[end].to_numpy()
                area.barh(wide.index, bars, left=left, color=colour, label=end)
                left += bars
            area.invert_yaxis()
            area.set_title(panel, fontsize=10.5, fontweight="normal")
            area.grid(visible=False, axis="y")
        area.set(xlabel="random starts that end there, %", xlim=(0, 100))
        figure.suptitle(
            "With few texts the lowest minimum is hardly ever found",
            x=0.02,
            ha="left",
            fontweight="bold",
        )
        handles, labels = area.get_legend_handles_labels()
        figure.legend(handles, labels, loc="lower center", ncols=len(_ENDS), fontsize=9)
        figure.tight_layout(rect=(0, 0.06, 1, 0.98))
    return figure


def draw_cross_overlaps(table: pd.DataFrame) -> Figure:
    """Draw the table of `landscape_table.cross_overlaps`."""
    with style.use_style():
        figure, axes = plt.subplots()
        for name, rows in table.groupby("activation", sort=False):
            colour = style.COLOURS[str(name)]
            x, y = rows["dim"].to_numpy(), rows["size"].to_numpy()
            axes.errorbar(x, y, 2 * rows["error"], fmt="o", color=colour, capsize=3)
            scale = np.exp(np.mean(np.log(y * np.sqrt(x))))
            axes.plot(x, scale / np.sqrt(x), color=colour, linewidth=1.4)
            style.label_line(
                axes, x[-1], scale / np.sqrt(x[-1]), str(name), colour, offset=(10, 0)
            )
        axes.set(
            xscale="log",
            yscale="log",
            xlabel="dimension D",
            ylabel="root mean square of the cross overlaps",
        )
        axes.set_xticks(x, [str(dim) for dim in x])
        axes.minorticks_off()
        style.message(axes, "Off the manifold by a multiple of $D^{-1/2}$, and no more")
    return figure


def key_map(
    task: Task,
    activation: str,
    along: tuple[float, float] = (-1.5, 4.0),
    across: float = 3.0,
    num_points: int = 23,
    **parameters: float,
) -> pd.DataFrame:
    """Return the exact population landscape of keys in the plane of the teachers.

    Parameters
    ----------
    task, activation, parameters : as in `population.risk`
    along : range of m_k
    across : largest absolute m_kv
    num_points : along each axis

    Returns
    -------
    table with columns activation, m_k, m_kv and risk, that of the best value
    """
    half = np.linspace(0.0, across, (num_points + 1) // 2)
    m_k, m_kv = np.meshgrid(np.linspace(*along, num_points), half)
    risk = key_landscape.least_risk(task, activation, m_k, m_kv, **parameters)
    upper = pd.DataFrame(
        {"m_k": m_k.ravel(), "m_kv": m_kv.ravel(), "risk": risk.ravel()}
    )
    lower = upper[upper["m_kv"] > 0].assign(m_kv=lambda table: -table["m_kv"])
    table = pd.concat([lower, upper], ignore_index=True)
    table.insert(0, "activation", activation)
    return table


def draw_map(maps: pd.DataFrame, paths: pd.DataFrame) -> Figure:
    """Draw tables of `key_map` with the paths of descents over them.

    Parameters
    ----------
    maps : tables of `key_map`, one below the other
    paths : with columns activation, start, path, step, m_k and m_kv
    """
    names = list(maps["activation"].unique())
    with style.use_style():
        figure, axes = plt.subplots(
            1, len(names), sharey=True, figsize=(3.1 * len(names), 3.9)
        )
        for area, name in zip(np.atleast_1d(axes), names, strict=True):
            wide = maps[maps["activation"] == name].pivot(
                index="m_kv", columns="m_k", values="risk"
            )
            levels = np.linspace(0.1, 1.1, 11)
            lines = area.contour(
                wide.columns,
                wide.index,
                wide,
                levels=levels,
                colors=style.PAGE_TEXT,
                linewidths=0.7,
                alpha=0.6,
            )
            area.clabel(lines, levels[::2], fontsize=7, fmt="%.1f")
            _draw_paths(area, paths[paths["activation"] == name])
            area.set(xlabel="key along k*, $m_k$", title=name)
            area.set(xlim=(wide.columns.min(), wide.columns.max()))
            area.set(ylim=(wide.index.min(), wide.index.max()))
            area.title.set_fontsize(11)
        np.atleast_1d(axes)[0].set(ylabel="key along v*, $m_{kv}$")
        figure.tight_layout()
    return figure


def _draw_paths(axes: Axes, paths: pd.DataFrame) -> None:
    for (start, _), rows in paths.groupby(["start", "path"], sort=False):
        colour = _STARTS[str(start)]
        axes.plot(rows["m_k"], rows["m_kv"], color=colour, linewidth=1.4)
        first, last = rows.iloc[0], rows.iloc[-1]
        axes.plot(first["m_k"], first["m_kv"], ".", color=colour, markersize=4)
        axes.plot(last["m_k"], last["m_kv"], "o", color=colour)


def draw_risks(paths: pd.DataFrame, floors: Mapping[str, float]) -> Figure:
    """Draw the exact population risk along descents.

    Parameters
    ----------
    paths : with columns activation, start, path, step and risk
    floors : least population risk of each activation
    """
    names = list(floors)
    with style.use_style():
        figure, axes = plt.subplots(
            1, len(names), sharey=True, figsize=(3.1 * len(names), 3.4)
        )
        for area, name in zip(np.atleast_1d(axes), names, strict=True):
            here = paths[paths["activation"] == name]
            for (start, _), rows in here.groupby(["start", "path"], sort=False):
                area.plot(rows["step"] + 1, rows["risk"], color=_STARTS[str(start)])
            area.axhline(floors[name], color=style.PAGE_TEXT, linestyle="--", lw=1)
            area.set(xscale="log", yscale="log", xlabel="step + 1", title=name)
            area.title.set_fontsize(11)
        np.atleast_1d(axes)[0].set(ylabel="population risk on the way")
        figure.tight_layout()
    return figure
