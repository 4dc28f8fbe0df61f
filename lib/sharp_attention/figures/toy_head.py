"""Pictures of the toy of max retrieval: a head that ranks without error."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from sharp_attention._typing import Float64
from sharp_attention.attention import activations, temperature
from sharp_attention.figures import style
from sharp_attention.tasks.max_retrieval import NUM_CLASSES
from sharp_attention.theory import class_vote

__all__ = ["draw_votes", "gaps", "simulated_votes"]

SOFTMAX, ADAPTIVE = style.COLOURS["softmax"], style.COLOURS["adaptive"]


def gaps(rng_seed: int, num_sets: int, num_items: int, slope: float) -> Float64:
    """Draw sets of priorities and return how far each logit lies below the top.

    Returns
    -------
    (num_sets, num_items), nats, >= 0; 0 at the maximum
    """
    rng = np.random.default_rng(rng_seed)
    priority = rng.random((num_sets, num_items))
    return slope * (priority.max(axis=-1, keepdims=True) - priority)


def simulated_votes(
    rng_seed: int,
    *,
    slope: float = 128.0,
    sizes: Sequence[int] = (64, 128, 256, 512, 1024, 2048, 4096),
    num_sets: int = 500,
) -> pd.DataFrame:
    """Let the classes of a toy head vote under both rules, beside the closed form.

    Returns
    -------
    table with columns num_items, rule, accuracy and error (one standard error), and
    theory (softmax only); all in per cent
    """
    widest, rows = max(sizes), []
    for size in sizes:
        logits = np.full((num_sets, widest), -np.inf, dtype=np.float32)
        logits[:, :size] = -gaps(rng_seed, num_sets, size, slope)
        item_class = np.random.default_rng([rng_seed, size]).integers(
            NUM_CLASSES, size=logits.shape
        )
        target = np.take_along_axis(item_class, logits.argmax(-1)[:, None], -1)[:, 0]
        theory = 100 * class_vote.vote_accuracy(size, slope)
        for rule, weigh in (
            ("softmax", activations.softmax),
            ("adaptive", temperature.adaptive_softmax),
        ):
            share = np.mean(_vote(np.asarray(weigh(logits)), item_class) == target)
            rows.append(
                {
                    "num_items": size,
                    "rule": rule,
                    "accuracy": 100 * share,
                    "error": 100 * np.sqrt(share * (1 - share) / num_sets),
                    "theory": theory if rule == "softmax" else np.nan,
                }
            )
    return pd.DataFrame(rows)


def draw_votes(table: pd.DataFrame) -> Figure:
    """Draw the table of `simulated_votes`: theory as a line, simulation as dots."""
    with style.use_style():
        figure, axes = plt.subplots()
        for rule, colour in (("softmax", SOFTMAX), ("adaptive", ADAPTIVE)):
            rows = table[table["rule"] == rule]
            x, y = rows["num_items"], rows["accuracy"]
            axes.errorbar(x, y, 2 * rows["error"], fmt="o", color=colour, capsize=2)
            if rule == "softmax":
                axes.plot(x, rows["theory"], color=colour)
            style.label_line(axes, x.iloc[-1], y.iloc[-1], rule, colour, offset=(8, 0))
        axes.axhline(100 / NUM_CLASSES, color=style.COLOURS["bound"], linestyle=":")
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.set(
            xlabel="number of items n", ylabel="class vote right (%)", ylim=(0, 103)
        )
        style.message(axes, "A perfect order does not save the answer")
    return figure


def _vote(weights: np.ndarray, item_class: np.ndarray) -> np.ndarray:
    """Return the class with the most weight in each row."""
    votes = [
        np.where(item_class == k, weights, 0).sum(axis=-1) for k in range(NUM_CLASSES)
    ]
    return np.argmax(votes, axis=0)
