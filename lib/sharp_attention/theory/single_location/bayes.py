"""The Bayes risk: what is left when everything but the position is known.

Given k* and v* the posterior of the position is p = softmax(c chi*) with c = sqrt(nu)
in the spiked and c = nu in the max task, the best prediction is sum_l p_l z*_l, and its
risk, slr-population (2.4),

    1 - E sum_l p_l^2 = E sum_{e != l} p_e p_l.

Softmax attention with k = c k*, v = v* computes exactly this prediction (Proposition
4.2). In the max task the risk is also mu_L(nu) / nu (2.6), mu_L the mean score of the
token that counts.
"""

import math
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from sharp_attention._checks import require
from sharp_attention.tasks.single_location import MaxSLR, Overlaps, Task, check_task
from sharp_attention.theory.single_location import rows, selection, spiked, windows
from sharp_attention.theory.single_location.affordable import LARGEST
from sharp_attention.theory.single_location.crowd import (
    LOG_HUGE,
    Crowd,
    crowd_sums,
    gaussian_crowd,
    survival,
)
from sharp_attention.theory.single_location.heads import Head
from sharp_attention.theory.single_location.max_grids import LONGEST
from sharp_attention.theory.single_location.steep import (
    NUM_STEEP,
    is_steep,
    steep_crowd_sums,
)

__all__ = ["bayes_overlaps", "bayes_risk", "inverse_temperature", "mean_score"]

# From here on (2.6) is cheaper than the sum over pairs and as accurate.
LARGE_SIGNAL = 30.0


def bayes_risk(task: Task) -> float:
    """Smallest risk of any predictor that knows k* and v*, label noise included.

    Accurate to about 1e-13 relative, however small it is; a random length averages
    the risks of its lengths.

    Parameters
    ----------
    task : SpikedSLR or MaxSLR with lengths of any size

    Raises
    ------
    ValueError
        If the signal is finite and exceeds 1e100.
    """
    check_task(task)
    risk = _max_risk if isinstance(task, MaxSLR) else _spiked_risk
    lengths = task.length_probabilities.items()
    excess = math.fsum(p * risk(task.signal, length) for length, p in lengths)
    return excess + task.noise**2


def inverse_temperature(task: Task) -> float:
    """Return c, with which softmax(c chi*) is the posterior of the position."""
    if isinstance(task, MaxSLR):
        return float(task.signal)
    return math.sqrt(task.signal)


def bayes_overlaps(task: Task) -> Overlaps:
    """Overlaps of the softmax head that attains the Bayes risk, k = c k*, v = v*."""
    scale = inverse_temperature(task)
    return Overlaps(m_k=scale, q_k=scale**2, m_v=1.0, q_v=1.0)


def mean_score(signal: float, length: int) -> float:
    """Mean score of the token that counts in the max task, E chi*_position.

    Parameters
    ----------
    signal : nu >= 0, may be infinite
    length : number of tokens L >= 1, of any size
    """
    if length > LONGEST and math.isfinite(signal):
        return signal * _pair_sum(signal, length)
    scores, weights, _ = selection.select(float(signal), length)
    return float(scores @ weights)


def _spiked_risk(signal: float, length: int) -> float:
    head = Head(signal, length, m_k=math.sqrt(signal), q_k=signal)
    return float(spiked.moments("softmax", [head]).lost[0])


def _max_risk(signal: float, length: int) -> float:
    if math.isinf(signal) or length == 1:
        return 0.0
    if signal > LARGE_SIGNAL and length <= LONGEST:
        return mean_score(signal, length) / signal
    return _pair_sum(signal, length)


class _Row(NamedTuple):
    slope: float
    crowd: Crowd
    levels: windows.Levels
    highest_field: float


class _Sizes(NamedTuple):
    """Numbers of nodes; `fields` is 0 where the crowd is summed as in `steep`."""

    levels: int
    fields: int
    is_huge: bool


def _pair_sum(signal: float, length: int) -> float:
    """E sum_{e != l} p_e p_l = int du n (n - 1) N_1^2 N_0^{n-2}, see `crowd`."""
    require(signal <= LARGEST, "signal", f"at most {LARGEST:g} or infinite", signal)
    crowd = Crowd.of(length)
    levels, num_levels = windows.level_window("softmax", signal, 0.0, crowd)
    highest = math.sqrt(windows.REACH**2 + 2 * crowd.log_count)
    fields = windows.field_window(signal, -windows.REACH, highest)
    row = _Row(float(signal), crowd, levels, highest)
    num_fields = rows.rung(fields.num_nodes)
    is_many = rows.rung(num_levels) * num_fields > rows.LARGEST_TABLE
    sizes = _Sizes(
        levels=rows.rung(num_levels),
        fields=0 if is_many and is_steep(signal, levels) else num_fields,
        is_huge=crowd.log_count > LOG_HUGE,
    )
    return float(rows.evaluate(_integrate, [row], [sizes], num_outputs=1)[0, 0])


def _integrate(row: _Row, sizes: _Sizes) -> Float[Array, "1"]:
    level, steps = row.levels.nodes(sizes.levels)

    def on_chunk(
        chunk: tuple[Float[Array, " chunk"], Float[Array, " chunk"]],
    ) -> Float[Array, "1"]:
        return _on_levels(row, sizes, *chunk)

    return rows.sum_over_levels(on_chunk, level, steps, sizes.fields or NUM_STEEP)


def _on_levels(
    row: _Row,
    sizes: _Sizes,
    level: Float[Array, " chunk"],
    steps: Float[Array, " chunk"],
) -> Float[Array, "1"]:
    if sizes.fields == 0:
        killed, first, _ = steep_crowd_sums(level, row.slope, row.crowd)
    else:
        g = jnp.linspace(-windows.REACH, row.highest_field, sizes.fields)
        log_omega = windows.log_omega("softmax", row.slope * g, level[:, None])
        killed, first, _ = crowd_sums(
            log_omega, *gaussian_crowd(g, row.crowd), sizes.is_huge
        )
    pairs = row.crowd.one_less * first[:, 0] ** 2
    survivors = survival(killed, row.crowd, row.crowd.two_less)
    return (pairs * survivors @ steps)[None]
