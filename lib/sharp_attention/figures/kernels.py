"""Pictures of the kernels: what they cost in time and memory."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from sharp_attention.attention import dense, rowblock
from sharp_attention.attention.interface import Settings
from sharp_attention.figures import style

__all__ = ["draw_memory", "draw_ratios", "draw_roofline", "memory", "roofline"]

PLAIN, ADAPTIVE = style.COLOURS["softmax"], style.COLOURS["adaptive"]
GREY = style.COLOURS["bound"]

# Of one H200, per second: matrix operations measured elsewhere, exponentials from the
# throughput of the special-function unit.  A model, not a measurement of ours.
_MATRIX_FLOPS, _EXPONENTIALS = 790e12, 3.9e12


def memory(lengths: list[int]) -> pd.DataFrame:
    """Tabulate the compiled temporary memory of adaptive attention with one head.

    Returns
    -------
    table with columns length, implementation and mebibytes
    """
    settings = Settings(scale=0.125, is_adaptive=True)
    rows = []
    for length in lengths:
        array = jax.ShapeDtypeStruct((1, length, 1, 64), jnp.float32)
        for module in (dense, rowblock):
            lowered = module.attend.lower(array, array, array, None, settings)
            analysis: Any = lowered.compile().memory_analysis()
            name = module.__name__.rsplit(".", 1)[-1]
            size = analysis.temp_size_in_bytes / 2**20
            rows.append({"length": length, "implementation": name, "mebibytes": size})
    return pd.DataFrame(rows)


def draw_memory(table: pd.DataFrame) -> Figure:
    """Draw the table of `memory` on two logarithmic axes."""
    with style.use_style():
        figure, axes = plt.subplots()
        for name, label, colour in (
            ("dense", "whole matrix, ∝ n²", GREY),
            ("rowblock", "row blocks, ∝ n", ADAPTIVE),
        ):
            line = table[table["implementation"] == name]
            axes.loglog(line["length"], line["mebibytes"], "o-", color=colour)
            last = line.iloc[-1]
            style.label_line(
                axes, last["length"], last["mebibytes"], label, colour, offset=(8, 0)
            )
        axes.set_xscale("log", base=2)
        axes.set_xlabel("keys, n")
        axes.set_ylabel("temporary memory (MiB, one head)")
        style.message(axes, "Row blocks turn n² of memory into n")
        return figure


def draw_ratios(ratios: pd.DataFrame) -> Figure:
    """Draw measured ratios of time against length, with the A/A spread as bar.

    Parameters
    ----------
    ratios : of the shipped benchmark; forward, all keys, query scale 4
    """
    lines = (
        ("plain", "over our own plain attention", ADAPTIVE),
        ("torch", "over PyTorch's plain attention", PLAIN),
        ("xla", "over XLA's plain attention", GREY),
    )
    with style.use_style():
        figure, axes = plt.subplots()
        for baseline, label, colour in lines:
            line = ratios[ratios["baseline"] == baseline].sort_values("length")
            error = line["ratio"] * line["spread"]
            axes.errorbar(
                line["length"], line["ratio"], yerr=error, fmt="o-", color=colour
            )
            last = line.iloc[-1]
            style.label_line(
                axes, last["length"], last["ratio"], label, colour, offset=(10, 0)
            )
        axes.axhline(1.0, color=GREY, linewidth=1.0, linestyle=":")
        axes.set_xscale("log", base=2)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("keys, n")
        axes.set_ylabel("time of adaptive attention, as a ratio")
        style.message(axes, "On a CPU the second temperature is cheap")
        return figure


def roofline(dims: list[int]) -> pd.DataFrame:
    """Tabulate the model of a Hopper GPU: picoseconds per logit, and their ratio.

    A plain pass multiplies twice and takes one exponential per logit, an adaptive one
    three times and two; where both units overlap perfectly the slower one counts.

    Returns
    -------
    table with columns dim, plain_matrix, plain_exp, adaptive_matrix, adaptive_exp
    (picoseconds) and ratio
    """
    rows = []
    for dim in dims:
        product, exponential = 1e12 * 2 * dim / _MATRIX_FLOPS, 1e12 / _EXPONENTIALS
        row = {
            "dim": dim,
            "plain_matrix": 2 * product,
            "plain_exp": exponential,
            "adaptive_matrix": 3 * product,
            "adaptive_exp": 2 * exponential,
        }
        plain = max(row["plain_matrix"], row["plain_exp"])
        adaptive = max(row["adaptive_matrix"], row["adaptive_exp"])
        rows.append({**row, "ratio": adaptive / plain})
    return pd.DataFrame(rows)


def draw_roofline(table: pd.DataFrame) -> Figure:
    """Draw the table of `roofline`: which unit limits, and the least ratio of time."""
    with style.use_style():
        figure, axes = plt.subplots()
        dims = table["dim"]
        for name, label, colour in (
            ("adaptive_matrix", "adaptive: 3 products", ADAPTIVE),
            ("plain_matrix", "plain: 2 products", PLAIN),
        ):
            axes.plot(dims, table[name], color=colour)
            last = table.iloc[-1]
            style.label_line(axes, last["dim"], last[name], label, colour)
        for name, label in (
            ("adaptive_exp", "adaptive: 2 exponentials"),
            ("plain_exp", "plain: 1 exponential"),
        ):
            colour = ADAPTIVE if name.startswith("adaptive") else PLAIN
            axes.plot(dims, table[name], color=colour, linestyle="--")
            last = table.iloc[-1]
            style.label_line(axes, last["dim"], last[name], label, colour)
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        axes.set_xticks(np.asarray(dims)[np.asarray(dims) % 64 == 0])
        axes.set_xlabel("head dimension d")
        axes.set_ylabel("picoseconds per logit (model)")
        style.message(axes, "Below d ≈ 68 adaptive attention waits for exponentials")
        return figure
