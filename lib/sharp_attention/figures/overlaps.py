"""Pictures of the order parameters: equal overlaps, equal risk."""

from collections.abc import Sequence

import jax
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from scipy import special

from sharp_attention._typing import Float64
from sharp_attention.figures import style
from sharp_attention.tasks.heads import head_with
from sharp_attention.tasks.single_location import (
    Overlaps,
    SpikedSLR,
    draw_teachers,
    measure_overlaps,
    sample,
)
from sharp_attention.theory.single_location import population

__all__ = ["draw_heads", "draw_recipe", "heads_table", "recipe_table"]


def heads_table(
    rng_key: jax.Array,
    task: SpikedSLR,
    overlaps: Overlaps,
    dims: Sequence[int],
    num_heads: int,
    num_texts: int = 10_000,
) -> pd.DataFrame:
    """Measure the risk of softmax heads with given overlaps on texts of their own.

    Parameters
    ----------
    rng_key : JAX random key
    task : a fixed length
    overlaps : shared by all heads
    dims : dimensions D >= 4
    num_heads : heads in each dimension, each with fresh teachers and texts
    num_texts : texts for each head

    Returns
    -------
    table with columns dim, head, risk and error (standard)
    """
    rows = []
    for dim in dims:
        for head in range(num_heads):
            keys = jax.random.split(jax.random.fold_in(rng_key, 1000 * dim + head))
            draws = sample(keys[0], task, dim, num_texts)
            k, v = head_with(keys[1], overlaps, draws.key, draws.value)
            tokens = np.asarray(draws.tokens)
            scores, values = (tokens @ np.asarray(x) / np.sqrt(dim) for x in (k, v))
            output = np.sum(special.softmax(scores, axis=1) * values, axis=1)
            squared = (np.asarray(draws.target, np.float64) - output) ** 2
            error = squared.std(ddof=1) / np.sqrt(num_texts)
            rows.append((dim, head, float(squared.mean()), float(error)))
    return pd.DataFrame(rows, columns=["dim", "head", "risk", "error"])


def draw_heads(heads: pd.DataFrame, exact: float) -> Figure:
    """Draw the table of `heads_table` around the exact risk."""
    with style.use_style():
        figure, axes = plt.subplots()
        num_heads = int(heads["head"].max()) + 1
        groups = heads["dim"].astype("category").cat.codes
        place = groups + (heads["head"] / num_heads - 0.4) * 0.5
        axes.axhline(exact, color=style.COLOURS["bound"])
        axes.errorbar(
            place,
            heads["risk"],
            2 * heads["error"],
            fmt="o",
            color=style.COLOURS["softmax"],
        )
        style.label_line(
            axes, 2.3, exact, "exact", style.COLOURS["bound"], offset=(4, 0)
        )
        dims = sorted(heads["dim"].unique())
        axes.set_xticks(range(len(dims)), [f"D = {dim}" for dim in dims])
        axes.set(xlim=(-0.5, len(dims) - 0.7), ylabel="risk")
        style.message(axes, "Equal overlaps give equal risks, in any dimension")
    return figure


def recipe_table(
    rng_key: jax.Array, task: SpikedSLR, dims: Sequence[int], num_heads: int
) -> pd.DataFrame:
    """Exact risks of softmax heads k = k*/2 + g, v = v* + g'/2 with random g, g'.

    Parameters
    ----------
    rng_key : JAX random key
    task : whose risk is computed, at the overlaps of each head
    dims : dimensions D
    num_heads : heads in each dimension

    Returns
    -------
    table with columns dim, head, m_k, q_k and risk
    """
    tables = []
    for dim in dims:
        keys = jax.random.split(jax.random.fold_in(rng_key, dim), 3)
        teachers = draw_teachers(keys[0], dim)
        key = teachers[0] / 2 + jax.random.normal(keys[1], (num_heads, dim))
        value = teachers[1] + jax.random.normal(keys[2], (num_heads, dim)) / 2
        overlaps = measure_overlaps(key, value, *teachers)
        columns: dict[str, Float64 | float | int | range] = {
            "dim": dim,
            "head": range(num_heads),
            "m_k": np.asarray(overlaps.m_k),
            "q_k": np.asarray(overlaps.q_k),
            "risk": population.risk(task, "softmax", overlaps),
        }
        tables.append(pd.DataFrame(columns))
    return pd.concat(tables, ignore_index=True)


def draw_recipe(recipe: pd.DataFrame, limit: float) -> Figure:
    """Draw the risks of `recipe_table` around their limit."""
    with style.use_style():
        figure, axes = plt.subplots()
        spread = 10 ** ((recipe["head"] / recipe["head"].max() - 0.5) * 0.3)
        axes.plot(
            recipe["dim"] * spread,
            recipe["risk"],
            "o",
            markersize=3,
            alpha=0.7,
            color=style.COLOURS["softmax"],
        )
        axes.axhline(limit, color=style.COLOURS["bound"])
        right = float(recipe["dim"].max()) * 1.5
        style.label_line(
            axes, right, limit, "mean overlaps", style.COLOURS["bound"], offset=(2, 9)
        )
        axes.set(xscale="log", xlabel="dimension D", ylabel="risk of the head")
        style.message(axes, "A random recipe gives one risk when D is large")
    return figure
