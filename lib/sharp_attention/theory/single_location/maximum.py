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
import numpy as np
from jaxtyping import Array, Float

from sharp_attention._checks import require
from sharp_attention.theory.single_location import (
    max_grids,
    rows,
    selectors,
    steep_maximum,
    windows,
)
from sharp_attention.theory.single_location.affordable import (
    check_affordable,
    check_representable,
)
from sharp_attention.theory.single_location.crowd import (
    LOG_DENSITY,
    crowd_sums,
    gaussian_crowd,
    survival,
)
from sharp_attention.theory.single_location.heads import Head, Moments
from sharp_attention.theory.single_location.max_grids import LONGEST, Row, Sizes

__all__ = ["moments"]

# Levels are visited by this many, so that what each chunk needs stays in the cache.
CHUNK = 16

DEAR = 2.0**31
"""Terms from which on `steep_maximum` is asked, about half a second."""


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
        If a length exceeds 10**100, or a signal or q_k is so large that the
        quadrature would not be affordable.
    """
    is_dear = np.array([_is_left_to_steep(activation, head) for head in heads], bool)
    found = np.empty((len(Moments._fields), len(heads)))
    dear, others = (
        [head for head, chosen in zip(heads, mask, strict=True) if chosen]
        for mask in (is_dear, ~is_dear)
    )
    if dear:
        found[:, is_dear] = steep_maximum.moments(dear, refinement)
    if others:
        found[:, ~is_dear] = _moments(activation, others, refinement)
    return Moments(*found)


def _moments(activation: str, heads: Sequence[Head], refinement: float) -> Moments:
    prepared = [max_grids.prepare(activation, head, refinement) for head in heads]
    values = rows.evaluate(
        _INTEGRALS[activation],
        [row for row, _ in prepared],
        [size for _, size in prepared],
        num_outputs=3,
    )
    kept, squares, crossed = values.T
    return Moments(kept, 1 - kept, squares, 1 - 2 * kept + squares, crossed)


def _is_left_to_steep(activation: str, head: Head) -> bool:
    """Whether `steep_maximum` does what would take long here; raise if neither can."""
    check_representable(head)
    rule = "at most 10**100 in the max task (the Bayes risk takes any length)"
    require(head.length <= LONGEST, "lengths", rule, head.length)
    sizes = max_grids.prepare(activation, head)[1]
    if max(max_grids.num_terms(sizes) / DEAR, max_grids.cost(sizes)) <= 1:
        return False
    check_affordable(head, lambda other: min(_costs(activation, other)))
    direct, steep = _costs(activation, head)
    return steep < direct


def _costs(activation: str, head: Head) -> tuple[float, float]:
    """Cost over what is affordable, of either way."""
    direct = max_grids.cost(max_grids.prepare(activation, head)[1])
    if activation == "softmax" and steep_maximum.is_steep_head(head):
        return direct, steep_maximum.cost(head)
    return direct, math.inf


def _integrate(activation: str, row: Row, sizes: Sizes) -> Float[Array, "3"]:
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
    row: Row,
    selector: Selector,
    levels: _Chunk,
    sizes: Sizes,
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
    activation: str, row: Row, levels: _Chunk, sizes: Sizes
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


def _selector(row: Row, sizes: Sizes) -> Selector:
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
    row: Row,
    level: Float[Array, " levels"],
    fields: Float[Array, " fields"],
    sizes: Sizes,
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
    row: Row,
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
