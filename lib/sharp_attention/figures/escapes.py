"""Pictures of the ways out of dispersion."""

from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sharp_attention.figures import style
from sharp_attention.tasks.single_location import SpikedSLR
from sharp_attention.theory.single_location import escape_risks, population

__all__ = ["draw_leader", "draw_retrained", "draw_risks", "risk_table"]

COLOURS: Mapping[str, str] = style.COLOURS | {
    "differential": "#808080",
    "sigmoid-log-n": "#b0538f",
    "log-n": "#5b8c00",
    "entmax-1.5": "#a8622f",
    "sparsemax": "#8f63c9",
    "top-4": "#00897b",
    "hard": "#808080",
    "selective": "#5b8c00",
    "window, leader inside": "#0a7ec2",
    "window, leader outside": "#d1495b",
    "stick-breaking": "#5b8c00",
    "stick-breaking, leader last": "#5b8c00",
    "stick-breaking, leader first": "#d1495b",
}

FAMILIES: Mapping[str, Sequence[str]] = {
    "no way out": ("softmax", "adaptive", "differential", "sigmoid-log-n"),
    "sharper or sparser": ("log-n", "entmax-1.5", "sparsemax"),
    "fewer keys": (
        "top-4",
        "hard",
        "selective",
        "window, leader inside",
        "window, leader outside",
    ),
    "not normalised": (
        "sigmoid",
        "linear",
        "stick-breaking, leader last",
        "stick-breaking, leader first",
    ),
}
"""Panels of `draw_leader`."""

_LABELS = {
    "weight": "weight of the leader",
    "share": "share of the leader",
    "signal_to_noise": "leader over noise of the hay",
}


def draw_leader(table: pd.DataFrame, field: str, title: str) -> Figure:
    """Draw one number of the leader against the number of keys.

    Parameters
    ----------
    table : of `two_level.table`
    field : "weight", "share" or "signal_to_noise"
    title : what the figure says
    """
    with style.use_style():
        figure, panels = plt.subplots(
            2, 2, sharex=True, sharey=True, figsize=(8.6, 6.2), layout="constrained"
        )
        for axes, (family, names) in zip(panels.flat, FAMILIES.items(), strict=True):
            _draw_family(axes, table, field, names)
            axes.set_title(family, fontweight="normal", fontsize=10.5)
        for axes in panels[1]:
            axes.set_xlabel("keys n")
        for axes in panels[:, 0]:
            axes.set_ylabel(_LABELS[field])
        figure.suptitle(title, x=0.01, ha="left", fontweight="bold", fontsize=12)
    return figure


def _draw_family(
    axes: Axes, table: pd.DataFrame, field: str, names: Sequence[str]
) -> None:
    axes.set(xscale="log", yscale="log", ylim=(2e-5, 300))
    for name in names:
        rows = table[table["name"] == name]
        drawn = rows[(rows[field] > 0) & (rows[field] < float("inf"))]
        if drawn.empty:
            continue
        colour = COLOURS[name]
        axes.plot(drawn["num_keys"], drawn[f"{field}_theory"], color=colour)
        axes.plot(drawn["num_keys"], drawn[field], "o", color=colour, label=name)
    axes.legend(fontsize=8.5, loc="lower center", labelcolor="linecolor")


def draw_retrained(table: pd.DataFrame) -> Figure:
    """Draw accuracy against size for every map that was trained, in two panels.

    Parameters
    ----------
    table : of `escape_table.retrained`
    """
    names = list(dict.fromkeys(table["name"]))
    single = ("sigmoid", "linear", "stick-breaking", "hard")
    groups = {
        "normalised, trained by their gradient": [n for n in names if n not in single],
        "not normalised, or without a gradient": [
            "softmax",
            *(n for n in names if n in single),
        ],
    }
    with style.use_style():
        figure, panels = plt.subplots(
            1, 2, sharey=True, figsize=(8.8, 4.2), layout="constrained"
        )
        for axes, (title, group) in zip(panels, groups.items(), strict=True):
            for shift, name in enumerate(group):
                rows = table[table["name"] == name]
                # A little to the side, so that intervals can be told apart.
                axes.errorbar(
                    rows["num_items"] * 1.04**shift,
                    rows["accuracy"],
                    rows["error"],
                    fmt="o-",
                    linewidth=1.4,
                    color=COLOURS[name],
                    label=name,
                )
            axes.axhline(10, color=style.COLOURS["bound"], linewidth=1, linestyle=":")
            axes.set(xscale="log", xlabel="items", ylim=(0, 104))
            axes.set_title(title, fontweight="normal", fontsize=10.5)
            axes.legend(fontsize=8.5, labelcolor="linecolor")
        panels[0].set_ylabel("sets answered right (%)")
        figure.suptitle(
            "Trained on up to 16 items, tested on up to 16,384",
            x=0.01,
            ha="left",
            fontweight="bold",
            fontsize=12,
        )
    return figure


def risk_table(signal: float, length: int, width: int) -> pd.DataFrame:
    """Least population risks of maps that escape dispersion, spiked task.

    Parameters
    ----------
    signal : ν > 0
    length : L ≥ 3; sparsemax and entmax are computed at two tokens only
    width : of the window at L tokens

    Returns
    -------
    columns name, tokens, risk, bayes and excess; tokens is 2, L or "2 or L", where one
    head serves texts of both lengths, each as often
    """
    short, long = SpikedSLR(signal, 2), SpikedSLR(signal, length)
    mixed = SpikedSLR(signal, {2: 0.5, length: 0.5})
    rows = []

    def enter(tokens: str, task: SpikedSLR, risks: Mapping[str, float]) -> None:
        bayes = population.bayes_risk(task)
        for name, risk in risks.items():
            excess = max(risk - bayes, 0.0)
            rows.append((name, tokens, risk, bayes, excess))

    for tokens, task in (
        ("2", short),
        (str(length), long),
        ("2 or " + str(length), mixed),
    ):
        activations = ("softmax", "softplus", "sigmoid", "linear")
        risks = {name: population.minimise(task, name).risk for name in activations}
        risks |= {"log-n": escape_risks.best_log_n(task)[0]}
        risks |= {"hard": escape_risks.hard(task)}
        enter(tokens, task, risks)
    for tokens, task in (("2", short), (str(length), long)):
        risk = escape_risks.best_stick_breaking(task)[0]
        enter(tokens, task, {"stick-breaking": risk})
    window = escape_risks.best_windowed(long, width)[0]
    enter(str(length), long, {f"window of {width}": window})
    for name in ("sparsemax", "entmax-1.5"):
        enter("2", short, {name: escape_risks.best_two_tokens(signal, name)[0]})
    columns = ["name", "tokens", "risk", "bayes", "excess"]
    return pd.DataFrame(rows, columns=columns)


def draw_risks(table: pd.DataFrame) -> Figure:
    """Draw the table of `risk_table`: one panel for each kind of text."""
    groups = list(dict.fromkeys(table["tokens"]))
    with style.use_style():
        figure, panels = plt.subplots(
            1, len(groups), figsize=(8.8, 3.8), layout="constrained", sharex=True
        )
        for axes, tokens in zip(panels, groups, strict=True):
            rows = table[table["tokens"] == tokens].sort_values("risk", ascending=False)
            for place, (name, risk) in enumerate(
                zip(rows["name"], rows["risk"], strict=True)
            ):
                colour = COLOURS.get(name, style.COLOURS["softmax"])
                axes.plot(risk, place, "o", color=colour, markersize=7)
            axes.axvline(rows["bayes"].iloc[0], color=style.COLOURS["bayes"], ls="--")
            axes.set_yticks(range(len(rows)), list(rows["name"]))
            axes.set(xlabel="least risk", xlim=(0, 1))
            axes.set_title(f"{tokens} tokens", fontweight="normal", fontsize=10.5)
        figure.suptitle(
            "Softmax alone reaches the Bayes risk (dashed) at every length",
            x=0.01,
            ha="left",
            fontweight="bold",
            fontsize=12,
        )
    return figure
