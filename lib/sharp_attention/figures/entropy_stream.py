"""Picture of an entropy that is streamed key by key, rightly and wrongly."""

import itertools

import jax
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from sharp_attention._typing import Float64
from sharp_attention.attention import entropy
from sharp_attention.figures import style

__all__ = ["draw_stream", "stream"]


def stream(logits: list[float]) -> pd.DataFrame:
    """Entropy of the keys seen so far: streamed, from the weights, and done wrongly.

    Returns
    -------
    table with columns keys, streamed, direct and without_cross_term
    """
    keys = np.arange(1, len(logits) + 1)
    return pd.DataFrame(
        {
            "keys": keys,
            "streamed": _streamed(logits),
            "direct": [_direct(np.array(logits[:k])) for k in keys.tolist()],
            "without_cross_term": _forgetful(logits),
        }
    )


def _streamed(logits: list[float]) -> list[float]:
    with jax.enable_x64(True):
        parts = [entropy.partial_statistics([logit]) for logit in logits]
        totals = itertools.accumulate(parts, entropy.merge)
        return [float(entropy.entropy_from_statistics(total)) for total in totals]


def _direct(logits: Float64) -> float:
    weights = np.exp(logits - logits.max())
    weights /= weights.sum()
    return float(-(weights * np.log(weights)).sum())


def _forgetful(logits: list[float]) -> list[float]:
    """Entropies of a stream that forgets how far its reference has moved."""
    maximum, normaliser, weighted_sum = -np.inf, 0.0, 0.0
    entropies = []
    for logit in logits:
        reference = max(maximum, logit)
        scale, new = np.exp(maximum - reference), np.exp(logit - reference)
        normaliser = scale * normaliser + new
        weighted_sum = scale * weighted_sum + (logit - reference) * new
        maximum = reference
        entropies.append(float(np.log(normaliser) - weighted_sum / normaliser))
    return entropies


def draw_stream(table: pd.DataFrame) -> Figure:
    """Draw the table of `stream`: from the weights as a line, streamed as dots."""
    right, wrong = style.COLOURS["softmax"], style.COLOURS["linear"]
    with style.use_style():
        figure, axes = plt.subplots(figsize=(6.4, 3.4))
        x = table["keys"]
        axes.plot(x, table["direct"], color=style.COLOURS["bound"])
        axes.plot(x, table["streamed"], "o", color=right)
        axes.plot(x, table["without_cross_term"], "s--", color=wrong, linewidth=1.2)
        labels = (
            ("streamed", "streamed (dots), from the weights (line)", right),
            ("without_cross_term", "second term forgotten", wrong),
        )
        for column, text, colour in labels:
            end = float(x.iloc[-1]), float(table[column].iloc[-1])
            style.label_line(axes, *end, text, colour, offset=(0, 12), align="right")
        axes.set(xlabel="keys seen", ylabel="entropy (nats)", ylim=(-0.03, 1.3))
        style.message(axes, "Half of the merge rule is not enough")
    return figure
