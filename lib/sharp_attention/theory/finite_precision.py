"""How rounding fakes sharpness: the weights that a computer reports in short formats.

Two effects break the lower bound of Lemma 2.1 in finite precision.

1. After the usual shift by the maximum, an exponential below half of the smallest
   positive number rounds to 0: that item's weight is reported as 0.
2. A running sum that has reached 1 no longer notices terms below half a unit in the
   last place of 1: any number of such items leaves the leader's weight at 1.

The thresholds are ours; the paper only remarks that a bound on the spread by the
range of the number format is possible and useless.
"""

import math
from typing import Literal, get_args

import jax.numpy as jnp
import numpy as np

from sharp_attention._checks import check_choice, check_finite, require
from sharp_attention._typing import ArrayLike, Float64

__all__ = [
    "Format",
    "running_sum_weights",
    "spread_limit",
    "swallowing_gap",
    "vanishing_logit",
]

Format = Literal["float32", "bfloat16", "float16"]
"""Names of the number formats."""


def vanishing_logit(number_format: Format, *, flush_to_zero: bool = False) -> float:
    """Return the logit, relative to the maximum, below which its exponential is 0.

    Parameters
    ----------
    number_format : "float32", "bfloat16" or "float16"
    flush_to_zero : whether numbers below the smallest normal one become 0, as on
        hardware without subnormal numbers; otherwise rounding is to the nearest

    Returns
    -------
    log of the smallest normal number, or of half the smallest subnormal one; < 0.

    Raises
    ------
    ValueError
        If the format is unknown.
    """
    info = jnp.finfo(_dtype(number_format))
    if flush_to_zero:
        return math.log(float(info.tiny))
    return math.log(float(info.smallest_subnormal) / 2)


def swallowing_gap(number_format: Format) -> float:
    """Return the gap below the maximum beyond which a running sum ignores an item.

    The sum is at least 1, and a term below half a unit in the last place of 1 is lost
    in it: gap > log(2 / eps).

    Raises
    ------
    ValueError
        If the format is unknown.
    """
    return math.log(2 / float(jnp.finfo(_dtype(number_format)).eps))


def spread_limit(number_format: Format) -> float:
    """Return the largest difference of two numbers of the format, 2 · max.

    As a bound on the spread of logits it holds and says nothing.

    Raises
    ------
    ValueError
        If the format is unknown.
    """
    return 2 * float(jnp.finfo(_dtype(number_format)).max)


def running_sum_weights(logits: ArrayLike, number_format: Format) -> Float64:
    """Return softmax weights as a computer finds them that keeps to one short format.

    Logits, shifted exponentials, the running sum over items from first to last and
    the final division are each rounded to the format.

    Parameters
    ----------
    logits : (items,), finite in the format
    number_format : "float32", "bfloat16" or "float16"

    Returns
    -------
    (items,) weights, float64 holding numbers of the format; they need not sum to 1.

    Raises
    ------
    ValueError
        If the format is unknown, or `logits` are not a finite row with an item.
    """
    dtype = _dtype(number_format)
    row = np.asarray(logits, dtype=np.float64)
    is_row = row.ndim == 1 and row.size >= 1
    require(is_row, "logits", "one row with at least one item", row.shape)
    with np.errstate(over="ignore"):
        rounded = row.astype(dtype)
    check_finite("logits", rounded)
    with np.errstate(under="ignore"):
        # Double precision inside, one rounding at the end: the best exp there is.
        exponentials = np.exp((rounded - rounded.max()).astype(np.float64))
        terms = exponentials.astype(dtype)
        weights = terms / np.add.accumulate(terms)[-1]
    return weights.astype(np.float64)


def _dtype(number_format: Format) -> np.dtype:
    check_choice("number_format", number_format, get_args(Format))
    return jnp.dtype(number_format)
