"""Pictures of trained transformers: spreads, dilution, needles and attention maps."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sharp_attention.experiments import spread_table
from sharp_attention.figures import style
from sharp_attention.theory import finite_precision

__all__ = [
    "MODELS",
    "draw_dilution",
    "draw_maps",
    "draw_needles",
    "draw_ranges",
    "draw_spreads",
    "map_table",
    "measured_ranges",
]

DECODER, ENCODER = style.COLOURS["softmax"], style.COLOURS["linear"]
QUOTED, GREY = style.COLOURS["erf"], style.COLOURS["bound"]
MODELS = {"smollm2": "SmolLM2 (decoder)", "minilm": "MiniLM (encoder)"}
COLOURS = {"smollm2": DECODER, "minilm": ENCODER}
KINDS = {
    "first": "rests on token one",
    "previous": "looks one token back",
    "far": "looks far",
    "flat": "spreads out",
}
"""What each of the chosen heads is the extreme of."""

DISTRACTORS = {"facts": "facts about others", "prose": "prose"}


def draw_spreads(statistics: pd.DataFrame) -> Figure:
    """Draw mean and range of the spread over heads against the length.

    Parameters
    ----------
    statistics : `spread_table.over_heads` of each model, with columns model and length
    """
    with style.use_style():
        figure, axes = plt.subplots(figsize=(6.4, 4.2))
        for model, label in MODELS.items():
            rows = statistics[statistics["model"] == model]
            low, high = (rows["mean"] + sign * rows["std"] for sign in (-1, 1))
            colour = COLOURS[model]
            axes.fill_between(rows["length"], low, high, color=colour, alpha=0.15)
            axes.plot(rows["length"], rows["mean"], "o-", color=colour)
            x, y = rows["length"].iloc[-1], rows["mean"].iloc[-1]
            # The longer line ends higher: its label goes above, the other's below.
            shift, align = (
                ((-6, 16), "right") if model == "smollm2" else ((6, -14), "left")
            )
            style.label_line(axes, x, y, label, colour, offset=shift, align=align)
        lengths = np.array(sorted(set(statistics["length"])))
        axes.plot(lengths, np.log(lengths), "--", color=GREY)
        place = (lengths[-1], np.log(lengths[-1]))
        style.label_line(axes, *place, "ln n", GREY, offset=(6, 0))
        _length_axis(axes, lengths)
        axes.set(ylabel="spread of the logits δ", ylim=(0, None))
        style.message(axes, "Real spreads grow faster than ln n")
    return figure


def draw_dilution(statistics: pd.DataFrame) -> Figure:
    """Draw largest weight and entropy against the length, with and without token one.

    Parameters
    ----------
    statistics : as for `draw_spreads`
    """
    lengths = np.array(sorted(set(statistics["length"])))
    ends = {"smollm2": ("max_weight", (0, 12)), "minilm": ("max_weight_rest", (8, -10))}
    with style.use_style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.9))
        for model, label in MODELS.items():
            rows, colour = statistics[statistics["model"] == model], COLOURS[model]
            for axes, column in ((left, "max_weight"), (right, "entropy")):
                axes.plot(rows["length"], rows[column], "o-", color=colour)
                rest = rows[f"{column}_rest"]
                axes.plot(rows["length"], rest, "s--", color=colour, lw=1.2)
            end, (column, shift) = rows.iloc[-1], ends[model]
            place, name = (end["length"], end[column]), label.split(" (")[0]
            style.label_line(left, *place, name, colour, offset=shift, align="right")
        left.plot(lengths, 1 / lengths, ":", color=GREY)
        style.label_line(left, 64, 1 / 64, "all equal: 1/n", GREY, offset=(8, 6))
        right.plot(lengths, np.log(lengths), ":", color=GREY)
        place, shift = (128, np.log(128)), (-8, 8)
        text = "all equal: ln n"
        style.label_line(right, *place, text, GREY, offset=shift, align="right")
        for axes in (left, right):
            _length_axis(axes, lengths)
        left.set(yscale="log", ylabel="largest weight (mean over heads)")
        right.set(ylabel="entropy (nats, mean over heads)", ylim=(0, None))
        style.message(left, "Dilution: clear, or mild")
        figure.tight_layout()
    return figure


def draw_needles(heads: pd.DataFrame, answers: pd.DataFrame) -> Figure:
    """Draw what becomes of the heads that look an answer up.

    Parameters
    ----------
    heads : of `spread_table.lookups`
    answers : of `spread_table.answers`
    """
    looks = {"facts": ("o-", DECODER, -14), "prose": ("s-", ENCODER, 10)}
    lengths = np.array(sorted(set(heads["length"])))
    with style.use_style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.9))
        means = answers.groupby(["distractors", "length"])["probability"].mean()
        for kind, label in DISTRACTORS.items():
            look, colour, offset = looks[kind]
            rows, line = heads[heads["distractors"] == kind], means.loc[kind]
            left.plot(rows["length"], rows["target_weight"], look, color=colour)
            right.plot(line.index, line, look, color=colour)
            place = (line.index[-1], line.iloc[-1])
            shift = (0, offset)
            style.label_line(right, *place, label, colour, offset=shift, align="right")
        guide = heads["target_weight"].max() * lengths[0] / lengths
        left.plot(lengths, guide, ":", color=GREY)
        place, shift = (lengths[2], guide[2]), (-8, -6)
        style.label_line(left, *place, "∝ 1/n", GREY, offset=shift, align="right")
        for axes in (left, right):
            _length_axis(axes, lengths)
        left.set(yscale="log", ylabel="weight on the answer", ylim=(0.02, 1))
        right.set(ylabel="probability of the right digit", ylim=(0, 1.05))
        style.message(left, "Same question, more distractors")
        figure.tight_layout()
    return figure


def measured_ranges(heads: pd.DataFrame) -> pd.DataFrame:
    """Tabulate spreads on a file of code, ours beside the quoted, and limits of floats.

    Parameters
    ----------
    heads : of `spread_table.heads`

    Returns
    -------
    table with columns name, kind ("measured", "quoted", "exponential vanishes" or
    "largest difference"), smallest, mean and largest; limits stand in `largest` alone
    """
    rows: list[dict[str, object]] = []
    for model, label in MODELS.items():
        code = heads[(heads["model"] == model) & (heads["text"] == "code")]
        longest = int(code["length"].max())
        for aggregation in ("spread_all", "spread_matrix"):
            table = spread_table.aggregations(heads, model, longest)
            words = "rows" if aggregation == "spread_all" else "whole matrix"
            name = f"{label.split(' (')[0]}, {longest:,} tokens, {words}"
            rows.append(_range(name, "measured", table.T[aggregation]))
    for gemma, quoted in spread_table.QUOTED.iterrows():
        rows.append(_range(f"{gemma}, as quoted", "quoted", quoted))
    formats: tuple[finite_precision.Format, ...] = ("float16", "bfloat16", "float32")
    for number_format in formats:
        gap = -finite_precision.vanishing_logit(number_format)
        rows.append(_limit(number_format, "exponential vanishes", gap))
    for number_format in formats:
        limit = finite_precision.spread_limit(number_format)
        rows.append(_limit(number_format, "largest difference", limit))
    return pd.DataFrame(rows)


def _range(name: str, kind: str, found: pd.Series) -> dict[str, object]:
    return {
        "name": name,
        "kind": kind,
        "smallest": found["min"],
        "mean": found["mean"],
        "largest": found["max"],
    }


def _limit(name: str, kind: str, largest: float) -> dict[str, object]:
    empty = pd.Series({"min": np.nan, "mean": np.nan, "max": largest})
    return _range(name, kind, empty)


def draw_ranges(table: pd.DataFrame) -> Figure:
    """Draw the table of `measured_ranges`, one line for each row."""
    colours = {"measured": DECODER, "quoted": QUOTED}
    with style.use_style():
        figure, axes = plt.subplots(figsize=(6.8, 5.2))
        for place, row in enumerate(table.to_dict("records")):
            largest, colour = row["largest"], colours.get(row["kind"], GREY)
            text = row["name"]
            if row["kind"] in colours:
                axes.plot([row["smallest"], largest], [place] * 2, color=colour, lw=3)
                axes.plot(row["mean"], place, "o", color=colour, markersize=6)
            else:
                text = f"{text}: {row['kind']}"
                axes.plot(largest, place, "D", color=colour)
            # Text that starts far to the right would leave the page.
            align, shift = ("right", -8) if largest > 1e20 else ("left", 8)
            style.label_line(
                axes, largest, place, text, colour, offset=(shift, 0), align=align
            )
        axes.set(xscale="log", xlabel="spread of the logits δ", yticks=[])
        axes.set_ylim(len(table) - 0.4, -0.6)
        style.message(axes, "Trained heads are far from the limits of floats")
    return figure


def map_table(maps: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Tabulate attention maps: what the pictures show, in numbers.

    Parameters
    ----------
    maps : (tokens, tokens) weights by "KIND-LAYER-HEAD"

    Returns
    -------
    table with columns kind, layer, head, query, key (from 1) and weight, where it is
    at least 0.01
    """
    rows = []
    for name, weights in maps.items():
        kind, layer, head = name.split("-")
        array = np.asarray(weights, dtype=np.float64)
        rows += [
            {
                "kind": kind,
                "layer": int(layer),
                "head": int(head),
                "query": int(query) + 1,
                "key": int(key) + 1,
                "weight": float(array[query, key]),
            }
            for query, key in np.argwhere(array >= 0.01)
        ]
    return pd.DataFrame(rows)


def draw_maps(maps: Sequence[Mapping[str, np.ndarray]], names: Sequence[str]) -> Figure:
    """Draw attention maps of chosen heads: a row of panels for each model.

    Parameters
    ----------
    maps : of each model, as for `map_table`
    names : of the models
    """
    with style.use_style():
        figure, grid = plt.subplots(
            len(maps), len(KINDS), figsize=(9.0, 2.6 * len(maps)), squeeze=False
        )
        for name, chosen, line in zip(names, maps, grid, strict=True):
            for axes, (place, weights) in zip(
                line, sorted(chosen.items()), strict=True
            ):
                kind, layer, head = place.split("-")
                image = np.asarray(weights, dtype=np.float32)
                axes.imshow(image, vmin=0, vmax=1, cmap="viridis")
                axes.set(xticks=[], yticks=[], xlabel=f"layer {layer}, head {head}")
                axes.grid(False)
                axes.spines[:].set_visible(False)
                axes.set_title(KINDS[kind], fontsize=9.5, loc="center")
            line[0].set_ylabel(name)
        bar = figure.colorbar(
            grid[0, 0].images[0], ax=grid, fraction=0.025, pad=0.02, label="weight"
        )
        bar.outline.set_visible(False)
    return figure


def _length_axis(axes: Axes, lengths: np.ndarray) -> None:
    axes.set_xscale("log", base=2)
    axes.set(xlabel="number of tokens n", xlim=(lengths[0] / 1.15, lengths[-1] * 1.9))
    axes.set_xticks(lengths[:: 2 if len(lengths) > 5 else 1])
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
