"""Softmax in the max task with a long key along k* and a large signal.

Both levels of `maximum` lie near one score there: u = nu y and w = m_k y + delta. With
x = y + r the two Gumbel factors are functions of r and delta alone,

    omega* = e^{nu r},    omega = e^{m_k r - delta},    F = exp(-omega* - omega),

and only their averages over the density of the scores depend on y, which varies on the
scale of that density. So the number of nodes does not grow with nu and m_k. What is
lost, 1 - B = E sum_{e != l} p_e alpha_l, is integrated without cancellation,

    1 - B = nu int dy ddelta (n - 1)/n C W N^{n-2},
    C = n int dr phi(y + r) omega* F,     W = n int dr phi(y + r) omega F,
    n (1 - N) = n int dr P(g > y + r) (nu omega* + m_k omega) F,

and so is 1 - A = E sum_{e != l} alpha_e alpha_l, by the sums of `steep`. Same notation
and equations as in `maximum`: (4.5) to (4.7) of slr-population.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from sharp_attention.theory.single_location import rows, selectors, windows
from sharp_attention.theory.single_location.crowd import (
    Crowd,
    log_normal_below,
    survival,
)
from sharp_attention.theory.single_location.heads import Head, Moments, ReadOut
from sharp_attention.theory.single_location.steep import (
    NUM_STEEP,
    is_steep,
    steep_crowd_sums,
)

__all__ = ["cost", "is_steep_head", "moments"]

STEP = 0.2

# Factors below e^-44 do not count.
NEGLIGIBLE = 44.0

# exp(-e^4.2) = e^-67.
HIGHEST = 4.2

# Terms that take about ten seconds.
DEAREST = 2.0**33

# Offsets are visited by this many.
CHUNK = 16


class _Row(NamedTuple):
    """What one integral needs; numbers, or arrays with a leading axis."""

    signal: float
    m_k: float
    along: float
    variance: float
    crowd: Crowd
    levels: windows.Levels
    highest_score: float
    shifts: tuple[float, float]
    offsets: tuple[float, float]


class _Sizes(NamedTuple):
    """Numbers of nodes of w, y, r and delta."""

    levels: int
    scores: int
    shifts: int
    offsets: int


def moments(heads: Sequence[Head], refinement: float) -> Moments:
    """Averages of softmax weights of heads to which this applies.

    Returns
    -------
    Moments with fields of shape (heads,)
    """
    prepared = [_window(head) for head in heads]
    sizes = [
        _Sizes(*(rows.rung(refinement * count) for count in counts))
        for _, counts in prepared
    ]
    values = rows.evaluate(_integrate, [row for row, _ in prepared], sizes, 3)
    lost, scattered, crossed = values.T
    return Moments(1 - lost, lost, 1 - scattered, 2 * lost - scattered, crossed)


def is_steep_head(head: Head) -> bool:
    """Whether signal and key are large enough for this, and the key lies along k*."""
    sharpness = min(head.signal, head.m_k)
    if head.stray > 0 or math.isinf(head.signal):
        return False
    levels, _ = windows.level_window("softmax", head.slope, 0.0, Crowd.of(head.length))
    is_sharp = sharpness >= 2 * max(_largest(head.length), 4.0)
    return is_sharp and is_steep(head.slope, levels)


def cost(head: Head) -> float:
    """Cost over what is affordable."""
    _, (_, *counts) = _window(head)
    return math.prod(counts) / DEAREST


def _window(head: Head) -> tuple[_Row, tuple[float, float, float, float]]:
    """Ranges, and the numbers of nodes of w, y, r and delta that they need."""
    crowd, nu, m_k = Crowd.of(head.length), head.signal, head.m_k
    levels, num_levels = windows.level_window("softmax", head.slope, 0.0, crowd)
    highest = math.sqrt(windows.REACH**2 + 2 * crowd.log_count)
    largest = _largest(head.length)
    # Densities rise by e^{-largest r} towards lower scores.
    lowest = -NEGLIGIBLE * (1 / (nu - largest) + 1 / (m_k - largest))
    shifts = (lowest, HIGHEST / nu)
    offsets = (
        -(NEGLIGIBLE + HIGHEST) * m_k / nu - HIGHEST,
        NEGLIGIBLE + HIGHEST * (1 + m_k / nu),
    )
    read_out = ReadOut.in_max(head)
    along = head.q_kv / head.slope
    variance = read_out.lean**2 + read_out.value_slope**2 - along**2
    row = _Row(nu, m_k, along, variance, crowd, levels, highest, shifts, offsets)
    counts = (
        num_levels,
        (highest + windows.REACH) * max(1.0, largest) / STEP,
        (shifts[1] - shifts[0]) * max(nu, m_k) / STEP,
        # Both Gumbel factors smooth what depends on delta.
        (offsets[1] - offsets[0]) / (STEP * max(1.0, m_k / nu)),
    )
    return row, counts


def _integrate(row: _Row, sizes: _Sizes) -> Float[Array, "3"]:
    """Return 1 - B, 1 - A and T."""
    level, steps = row.levels.nodes(sizes.levels)

    def on_levels(
        chunk: tuple[Float[Array, " levels"], Float[Array, " levels"]],
    ) -> Float[Array, "2"]:
        return _marginal(row, *chunk)

    scattered, own = rows.sum_over_levels(on_levels, level, steps, NUM_STEEP)
    return jnp.stack([_lost(row, sizes), scattered, own])


def _marginal(
    row: _Row, level: Float[Array, " levels"], steps: Float[Array, " levels"]
) -> Float[Array, "2"]:
    """Return 1 - A and E (sum alpha F)^2; given the score, F has mean `along` g."""
    killed, first, second = steep_crowd_sums(level, row.m_k, row.crowd)
    one_less = survival(killed, row.crowd, row.crowd.one_less)
    two_less = survival(killed, row.crowd, row.crowd.two_less)
    scattered = row.crowd.one_less * first[:, 0] ** 2 * two_less
    same = row.along**2 * second[:, 2] + row.variance * second[:, 0]
    pairs = row.crowd.one_less * (row.along * first[:, 1]) ** 2
    return jnp.stack([scattered, same * one_less + pairs * two_less]) @ steps


def _lost(row: _Row, sizes: _Sizes) -> Float[Array, ""]:
    scores = jnp.linspace(-windows.REACH, row.highest_score, sizes.scores)
    steps = jnp.full_like(scores, scores[1] - scores[0])
    shifts = jnp.linspace(*row.shifts, sizes.shifts)
    offsets = jnp.linspace(*row.offsets, sizes.offsets)

    def on_scores(
        chunk: tuple[Float[Array, " scores"], Float[Array, " scores"]],
    ) -> Float[Array, "1"]:
        return _lost_at(row, *chunk, shifts, offsets)[None]

    found = rows.sum_over_levels(on_scores, scores, steps, sizes.shifts)
    return row.signal * (offsets[1] - offsets[0]) * found[0]


def _lost_at(
    row: _Row,
    scores: Float[Array, " scores"],
    steps: Float[Array, " scores"],
    shifts: Float[Array, " shifts"],
    offsets: Float[Array, " offsets"],
) -> Float[Array, ""]:
    """Integral of C W N^{n-2} over some of the scores and all offsets."""
    step = shifts[1] - shifts[0]
    log_star = jnp.minimum(row.signal * shifts, windows.LARGEST_LOG)
    star = jnp.exp(log_star)
    x = scores[:, None] + shifts
    density = step * selectors.crowd_density(x, row.crowd)
    log_above = row.crowd.log_count + log_normal_below(-x)
    above = step * jnp.exp(jnp.minimum(log_above, 300.0))

    def at_offset(chunk: Float[Array, " chunk"]) -> Float[Array, ""]:
        log_own = jnp.minimum(row.m_k * shifts - chunk[:, None], windows.LARGEST_LOG)
        own = jnp.exp(log_own)
        alive = jnp.exp(-star - own)
        killed = above @ ((row.signal * star + row.m_k * own) * alive).T
        pairs = (density @ (star * alive).T) * (density @ (own * alive).T)
        survivors = survival(killed, row.crowd, row.crowd.two_less)
        return steps @ jnp.sum(pairs * survivors, axis=1)

    chunks = offsets.reshape(-1, CHUNK)
    return row.crowd.one_less * jnp.sum(jax.lax.map(at_offset, chunks))


def _largest(length: int) -> float:
    """Typical largest score, from above."""
    return math.sqrt(2 * math.log(length))
