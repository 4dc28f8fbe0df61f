"""Normalised weights in the max task: softmax and softplus.

The tokens are i.i.d. standard Gaussian. Averages over the weights alone need the crowd
of n = L tokens of score slope * g, slope = sqrt(q_k); with omega = weight e^{-w}::

    A = int dw n N_2[1] N_0^{n-1},    N_j[f](w) = E f omega^j exp(-omega),
    E (sum alpha F)^2 = int dw { n N_2[F^2] N_0^{n-1} + n (n-1) N_1[F]^2 N_0^{n-2} }.

Averages that involve the position need a second level, which `selectors` brings: with
score m_k x + stray g of a token whose teacher's score is x::

    B = int du dw chosen(E_g omega exp(-omega)) N^{n-1},
    E g_e sum alpha F = int du dw { chosen(E_g g omega F exp(-omega)) N^{n-1}
        + (n-1)/n chosen(E_g g exp(-omega)) beaten(E_g omega F exp(-omega)) N^{n-2} },

where n (1 - N) = rivals + beaten(E_g [1 - exp(-omega)]). These are (4.5) to (4.7) of
slr-population.
"""

import math
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from sharp_attention._checks import require
from sharp_attention.theory.single_location import rows, selectors, windows
from sharp_attention.theory.single_location.crowd import (
    LOG_DENSITY,
    Crowd,
    crowd_sums,
    gaussian_crowd,
    survival,
)
from sharp_attention.theory.single_location.heads import Head, Moments, ReadOut

__all__ = ["moments"]

# The two levels share the score of the teacher, so a wide Gaussian does not smooth the
# direction in which both move by the same score. Two Gumbel factors are left, and steps
# of 0.3 in units of the smaller slope leave exp(-pi^2 / 0.3) = 5e-15.
LEVEL_STEP = 0.3

# From this multiple of the inverse panel width on, the sharp selector is exact (1e-11).
SHARP = 32.0

# Levels are visited by this many, so that what each chunk needs stays in the cache.
CHUNK = 16

# The sums of `selectors` would overflow for a crowd of more tokens.
LONGEST = 10**100


class _Row(NamedTuple):
    """What one integral needs; numbers, or arrays with a leading axis."""

    signal: float
    m_k: float
    slope: float
    stray: float
    h: float
    w: float
    lean: float
    along: float
    crowd: Crowd
    levels: windows.Levels
    signal_levels: windows.Levels
    highest_field: float


class _Sizes(NamedTuple):
    """Numbers of nodes; `signal_levels` is 0 where the selector is `Sharp`."""

    levels: int
    marginal_fields: int
    fields: int
    stray_fields: int
    signal_levels: int


class _TokenAverages(NamedTuple):
    """Averages over the stray part g of one token's score, given x; (levels, fields).

    killed is E_g [1 - exp(-omega)], tilted E_g g exp(-omega), and the others are
    E_g g^j omega exp(-omega).
    """

    killed: Float[Array, "levels fields"]
    tilted: Float[Array, "levels fields"]
    weight: Float[Array, "levels fields"]
    weight_g: Float[Array, "levels fields"]
    weight_gg: Float[Array, "levels fields"]


Selector: TypeAlias = selectors.Direct | selectors.Sharp
_Chunk: TypeAlias = tuple[Float[Array, " chunk"], Float[Array, " chunk"]]


def moments(activation: str, heads: Sequence[Head], refinement: float = 1.0) -> Moments:
    """Averages of normalised weights in the max task.

    Parameters
    ----------
    activation : "softmax" or "softplus"
    heads : finite overlaps; the signal may be infinite
    refinement : factor on the number of quadrature nodes

    Returns
    -------
    Moments with fields of shape (heads,)

    Raises
    ------
    ValueError
        If a length exceeds 10**100.
    """
    prepared = [_prepare(activation, head, refinement) for head in heads]
    values = rows.evaluate(
        _INTEGRALS[activation],
        [row for row, _ in prepared],
        [size for _, size in prepared],
        num_outputs=3,
    )
    kept, squares, crossed = values.T
    return Moments(kept, 1 - kept, squares, 1 - 2 * kept + squares, crossed)


def _prepare(activation: str, head: Head, refinement: float) -> tuple[_Row, _Sizes]:
    crowd = Crowd.of(head.length)
    rule = "at most 10**100 in the max task (the Bayes risk takes any length)"
    require(head.length <= LONGEST, "lengths", rule, head.length)
    read_out = ReadOut.in_max(head)
    highest = math.sqrt(windows.REACH**2 + 2 * crowd.log_count)
    steepness = abs(head.m_k) / head.signal if head.signal > 0 else math.inf
    levels, num_levels = windows.level_window(
        activation, head.slope, 0.0, crowd, LEVEL_STEP * max(1.0, steepness)
    )
    signal_levels, num_signal_levels = windows.Levels(0.0, 0.0, 1.0), 0.0
    # Widths of a panel that resolve the head's Gumbel factor and the largest score.
    panels_per_unit = max(1.0, abs(head.m_k) / 2, math.sqrt(2 * crowd.log_count) / 3)
    if head.signal < SHARP * panels_per_unit:
        step = LEVEL_STEP * max(1.0, 1 / steepness) if steepness > 0 else math.inf
        signal_levels, num_signal_levels = windows.level_window(
            "softmax", head.signal, 0.0, crowd, step
        )
        steepest = max(head.signal, abs(head.m_k))
        fields = windows.field_window(steepest, -windows.REACH, highest)
        num_fields = fields.num_nodes
    else:
        num_fields = selectors.ORDER * (highest + windows.REACH) * panels_per_unit
    stray = windows.field_window(head.stray, -windows.REACH, highest)
    marginal = windows.field_window(head.slope, -windows.REACH, highest)
    row = _Row(
        *(head.signal, head.m_k, head.slope, head.stray),
        *(read_out.target_slope, read_out.value_slope, read_out.lean),
        head.q_kv / head.slope if head.slope > 0 else 0.0,
        crowd,
        *(levels, signal_levels, highest),
    )
    sizes = _Sizes(
        levels=rows.rung(refinement * num_levels),
        marginal_fields=rows.rung(refinement * marginal.num_nodes),
        fields=rows.rung(refinement * num_fields),
        stray_fields=rows.rung(stray.num_nodes) if head.stray > 0 else 0,
        signal_levels=rows.rung(refinement * num_signal_levels)
        if num_signal_levels
        else 0,
    )
    return row, sizes


def _integrate(activation: str, row: _Row, sizes: _Sizes) -> Float[Array, "3"]:
    selector = _selector(row, sizes)

    def on_chunk(levels: _Chunk) -> Float[Array, "4"]:
        marginal = _marginal(activation, row, levels, sizes)
        mixed = _kept_and_mixed(activation, row, selector, levels, sizes)
        return jnp.concatenate([marginal, mixed])

    nodes, steps = row.levels.nodes(sizes.levels)
    chunks = nodes.reshape(-1, CHUNK), steps.reshape(-1, CHUNK)
    squares, own, kept, mixed = jnp.sum(jax.lax.map(on_chunk, chunks), axis=0)
    return jnp.stack([kept, squares, row.h**2 - 2 * row.h * mixed + own])


def _kept_and_mixed(
    activation: str,
    row: _Row,
    selector: Selector,
    levels: _Chunk,
    sizes: _Sizes,
) -> Float[Array, "2"]:
    """Return B and E g_e sum alpha F, summed over some of the levels."""
    level, steps = levels
    averages = _token_averages(activation, row, level, selector.fields, sizes)
    killed = selector.rivals + selector.beaten(averages.killed)
    spacing = selector.spacing * steps[:, None]
    weight = spacing * survival(killed, row.crowd, row.crowd.one_less)
    kept = jnp.sum(weight * selector.chosen(averages.weight))
    if sizes.stray_fields == 0:
        return jnp.stack([kept, jnp.zeros_like(kept)])
    pair_weight = spacing * survival(killed, row.crowd, row.crowd.two_less)
    return jnp.stack([kept, _mixed(row, selector, averages, weight, pair_weight)])


def _marginal(
    activation: str, row: _Row, levels: _Chunk, sizes: _Sizes
) -> Float[Array, "2"]:
    """Return A and E (sum alpha F)^2; given the score, F has mean `along` g."""
    level, steps = levels
    g = jnp.linspace(-windows.REACH, row.highest_field, sizes.marginal_fields)
    log_omega = windows.log_omega(activation, row.slope * g, level[:, None])
    killed, first, second = crowd_sums(
        log_omega, *gaussian_crowd(g, row.crowd), is_huge=False
    )
    one_less = survival(killed, row.crowd, row.crowd.one_less)
    two_less = survival(killed, row.crowd, row.crowd.two_less)
    variance = row.lean**2 + row.w**2 - row.along**2
    same = row.along**2 * second[:, 2] + variance * second[:, 0]
    pairs = row.crowd.one_less * (row.along * first[:, 1]) ** 2
    squares = second[:, 0] * one_less
    return jnp.stack([squares, same * one_less + pairs * two_less]) @ steps


def _selector(row: _Row, sizes: _Sizes) -> Selector:
    lowest, highest = jnp.asarray(-windows.REACH), jnp.asarray(row.highest_field)
    signal = jnp.asarray(row.signal)
    if sizes.signal_levels == 0:
        return selectors.sharp(signal, row.crowd, lowest, highest, sizes.fields)
    levels, steps = row.signal_levels.nodes(sizes.signal_levels)
    fields = jnp.linspace(lowest, highest, sizes.fields)
    selector = selectors.direct(
        signal, row.crowd, levels, fields, fields[1] - fields[0]
    )
    return selector._replace(spacing=steps)


def _token_averages(
    activation: str,
    row: _Row,
    level: Float[Array, " levels"],
    fields: Float[Array, " fields"],
    sizes: _Sizes,
) -> _TokenAverages:
    if sizes.stray_fields == 0:
        log_omega = windows.log_omega(activation, row.m_k * fields, level[:, None])
        omega = jnp.exp(log_omega)
        zero = jnp.zeros_like(omega)
        weight = omega * jnp.exp(-omega)
        return _TokenAverages(-jnp.expm1(-omega), zero, weight, zero, zero)
    g = jnp.linspace(-windows.REACH, row.highest_field, sizes.stray_fields)
    density = jnp.exp(LOG_DENSITY - g**2 / 2) * (g[1] - g[0])
    powers = density[:, None] * jnp.stack([jnp.ones_like(g), g, g**2], axis=-1)
    scores = row.m_k * fields[:, None] + row.stray * g

    def at_level(one: Float[Array, ""]) -> _TokenAverages:
        omega = jnp.exp(windows.log_omega(activation, scores, one))
        alive = jnp.exp(-omega)
        weight = (omega * alive) @ powers
        killed, tilted = -jnp.expm1(-omega) @ powers[:, 0], alive @ powers[:, 1]
        return _TokenAverages(killed, tilted, *weight.T)

    return jax.lax.map(at_level, level)


def _mixed(
    row: _Row,
    selector: Selector,
    averages: _TokenAverages,
    weight: Float[Array, "levels others"],
    pair_weight: Float[Array, "levels others"],
) -> Float[Array, ""]:
    """E g_e sum alpha F, with F = lean x + w g."""
    lean = row.lean * selector.fields
    own = selector.chosen(lean * averages.weight_g + row.w * averages.weight_gg)
    other = selector.beaten(lean * averages.weight + row.w * averages.weight_g)
    pairs = row.crowd.one_less * selector.chosen(averages.tilted) * other
    return jnp.sum(weight * own + pair_weight * pairs)


_INTEGRALS = {name: partial(_integrate, name) for name in ("softmax", "softplus")}
