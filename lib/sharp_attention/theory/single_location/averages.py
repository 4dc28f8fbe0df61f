"""Averages of the weights of any activation, for one head or for all lengths of a task.

This is where the modules of the single activations meet; `linear`, whose risk is a
closed form, stands apart.
"""

import math
from collections.abc import Sequence

import numpy as np

from sharp_attention._checks import require
from sharp_attention._typing import ArrayLike, Float64
from sharp_attention.tasks.single_location import SpikedSLR, Task
from sharp_attention.theory.single_location import (
    elementwise,
    hard_limit,
    heads,
    maximum,
    spiked,
)
from sharp_attention.theory.single_location.heads import Head, Moments, ReadOut

__all__ = ["head_moments", "head_risks", "over_lengths"]


def head_moments(
    is_spiked: bool,
    activation: str,
    table: Sequence[Head],
    offset: float = 0.0,
    refinement: float = 1.0,
) -> Moments:
    """Averages of the weights, normalised to (0, 1), of heads with finite keys.

    Parameters
    ----------
    is_spiked : whether the task is the spiked one, or the max task
    activation : "softmax", "softplus", "erf" or "sigmoid"
    table : for erf rescaled (`elementwise.rescale`)
    offset : added to the scores of erf and sigmoid
    refinement : factor on the number of quadrature nodes
    """
    if activation in elementwise.LARGEST_WEIGHT:
        elementwise_average = (
            elementwise.spiked_moments if is_spiked else elementwise.max_moments
        )
        return elementwise_average(activation, table, offset, refinement)
    average = spiked.moments if is_spiked else maximum.moments
    return average(activation, table, refinement)


def head_risks(
    is_spiked: bool, activation: str, table: Sequence[Head], offset: float = 0.0
) -> Float64:
    """Risks of heads without label noise; shape (heads,).

    Raises
    ------
    ValueError
        If a key is infinite and the activation has no limit there.
    """
    found = np.empty(len(table))
    is_infinite = np.array([math.isinf(head.m_k) for head in table])
    for index in np.flatnonzero(is_infinite):
        head = table[int(index)]
        moments = _limit_moments(is_spiked, activation, head.signal, head.length)
        found[index] = heads.risk(moments, ReadOut.on_manifold(head))
    if is_infinite.all():
        return found
    finite = [head for head in table if math.isfinite(head.m_k)]
    if activation in elementwise.LARGEST_WEIGHT:
        finite = [elementwise.rescale(activation, head) for head in finite]
    moments = head_moments(is_spiked, activation, finite, offset)
    condition = ReadOut.in_spiked if is_spiked else ReadOut.in_max
    read_outs = np.array([condition(head) for head in finite])
    found[~is_infinite] = heads.risk(moments, ReadOut(*read_outs.T))
    return found


def over_lengths(
    task: Task,
    activation: str,
    m_k: ArrayLike,
    q_k: ArrayLike | None = None,
    *,
    offset: float = 0.0,
    refinement: float = 1.0,
) -> Moments:
    """Averages for keys on the manifold, over the lengths of a task.

    Parameters
    ----------
    task : SpikedSLR or MaxSLR
    activation : "softmax", "softplus", "erf" or "sigmoid"; weights normalised to (0, 1)
    m_k, q_k : numbers or arrays; q_k = m_k^2, k = m_k k*, if None. Infinity is legal
        for softmax and softplus
    offset, refinement : as for `head_moments`

    Returns
    -------
    Moments with fields of the common shape of `m_k` and `q_k`
    """
    is_spiked = isinstance(task, SpikedSLR)
    slopes = np.asarray(m_k, np.float64)
    squares = slopes**2 if q_k is None else np.asarray(q_k, np.float64)
    slopes, squares = np.broadcast_arrays(slopes, squares)
    is_infinite = np.isinf(slopes)
    keys = list(zip(slopes[~is_infinite], squares[~is_infinite], strict=True))
    total = np.zeros((len(Moments._fields), *slopes.shape))
    for length, probability in task.length_probabilities.items():
        if is_infinite.any():
            limit = _limit_moments(is_spiked, activation, task.signal, length)
            total[:, is_infinite] += probability * np.array(limit)[:, None]
        if keys:
            table = [Head(task.signal, length, float(m), float(q)) for m, q in keys]
            moments = head_moments(is_spiked, activation, table, offset, refinement)
            total[:, ~is_infinite] += probability * np.array(moments)
    return Moments(*total)


def _limit_moments(
    is_spiked: bool, activation: str, signal: float, length: int
) -> Moments:
    rule = f"finite for {activation}"
    require(activation in ("softmax", "softplus"), "m_k", rule, math.inf)
    average = hard_limit.spiked_moments if is_spiked else hard_limit.max_moments
    return average(activation, signal, length)
