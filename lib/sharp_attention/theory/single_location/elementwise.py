"""Element-wise weights: erf and sigmoid, in both tasks.

A weight depends on its own token only, alpha_l = s(slope-scaled score + offset), so
every average is over one token, or a product of two such averages. Weights are
normalised to the range (0, 1): 1 + erf(y) = 2 s(y), and the read-out v absorbs the 2.

With psi_l = alpha_l F_l (see `heads`), n = L - 1 further tokens in the spiked task::

    A = E alpha_e^2 + n E alpha^2,    B = E alpha_e,
    T = h^2 - 2 h E g psi_e + E psi_e^2 + 2 n E psi_e E psi + n E psi^2
        + n (n - 1) (E psi)^2,

slr-population (3.2); in the max task the tokens are i.i.d. and the same holds with::

    A = L E alpha^2,    T = h^2 - 2 h E g_e psi_e + L E psi^2 + L (L - 1) (E psi)^2.

Offsets of the best heads are very negative: 1 + erf would lose all digits there, so
that s is always exp(log s).
"""

import math
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from sharp_attention._typing import Float64
from sharp_attention.theory.single_location import rows, selection, windows
from sharp_attention.theory.single_location.affordable import (
    check_affordable,
    check_representable,
)
from sharp_attention.theory.single_location.crowd import (
    LOG_DENSITY,
    Crowd,
    log_normal_below,
)
from sharp_attention.theory.single_location.elementwise_grids import (
    FieldRange,
    field_range,
    max_cost,
    spiked_cost,
)
from sharp_attention.theory.single_location.heads import Head, Moments, ReadOut

__all__ = [
    "LARGEST_WEIGHT",
    "log_sigmoidal",
    "max_moments",
    "rescale",
    "spiked_moments",
]

LARGEST_WEIGHT = {"erf": 2.0, "sigmoid": 1.0}
"""Supremum of each weight, which normalises it to (0, 1)."""


class _SpikedRow(NamedTuple):
    slope: float
    drift: float
    offset: float
    h: float
    w: float
    lean: float
    crowd: Crowd
    field: FieldRange


class _MaxRow(NamedTuple):
    m_k: float
    slope: float
    stray: float
    offset: float
    h: float
    w: float
    lean: float
    along: float
    crowd: Crowd
    field: FieldRange
    scores: Float64
    weights: Float64


class _MaxSizes(NamedTuple):
    field: int
    stray: int
    scores: int


def log_sigmoidal(
    activation: str, scores: Float[Array, "*shape"]
) -> Float[Array, "*shape"]:
    """Logarithm of the normalised weight s."""
    if activation == "sigmoid":
        return -jax.nn.softplus(-scores)
    return log_normal_below(math.sqrt(2) * scores)


def rescale(activation: str, head: Head) -> Head:
    """Let the value absorb the largest weight, so that weights lie in (0, 1)."""
    factor = LARGEST_WEIGHT[activation]
    return head._replace(
        m_v=factor * head.m_v,
        q_v=factor**2 * head.q_v,
        m_vk=factor * head.m_vk,
        q_kv=factor * head.q_kv,
    )


def spiked_moments(
    activation: str, heads: Sequence[Head], offset: float, refinement: float = 1.0
) -> Moments:
    """Averages of normalised weights s in the spiked task.

    Parameters
    ----------
    activation : "erf" or "sigmoid"
    heads : rescaled, with finite overlaps
    offset : added to every score
    refinement : factor on the number of quadrature nodes

    Raises
    ------
    ValueError
        If a signal or q_k is so large that the quadrature would not be affordable.
    """
    table, sizes = [], []
    for head in heads:
        check_representable(head)
        check_affordable(head, partial(spiked_cost, activation, offset))
        field, size = field_range(activation, head.slope, head.drift, offset)
        read_out = ReadOut.in_spiked(head)
        lean = math.sqrt(head.signal) * read_out.lean
        crowd = Crowd.of(head.length - 1)
        row = (head.slope, head.drift, offset, read_out.target_slope)
        table.append(_SpikedRow(*row, read_out.value_slope, lean, crowd, field))
        sizes.append(rows.rung(refinement * size))
    values = rows.evaluate(_SPIKED[activation], table, sizes, len(Moments._fields))
    return Moments(*values.T)


def max_moments(
    activation: str, heads: Sequence[Head], offset: float, refinement: float = 1.0
) -> Moments:
    """Averages of normalised weights s in the max task.

    Parameters
    ----------
    activation : "erf" or "sigmoid"
    heads : rescaled, with finite overlaps; the signal may be infinite
    offset : added to every score
    refinement : factor on the number of quadrature nodes

    Raises
    ------
    ValueError
        If a signal or q_k is so large that the quadrature would not be affordable.
    """
    table, sizes = [], []
    for head in heads:
        check_representable(head)
        check_affordable(head, partial(max_cost, activation, offset))
        row, size = _prepare_max(activation, head, offset, refinement)
        table.append(row)
        sizes.append(size)
    values = rows.evaluate(_MAX[activation], table, sizes, num_outputs=4)
    kept, lost, squares, crossed = values.T
    return Moments(kept, lost, squares, 2 * lost - 1 + squares, crossed)


def _prepare_max(
    activation: str, head: Head, offset: float, refinement: float
) -> tuple[_MaxRow, _MaxSizes]:
    field, size = field_range(activation, head.slope, 0.0, offset)
    read_out = ReadOut.in_max(head)
    steepness = max(abs(head.m_k), 1.0) * refinement
    law = selection.select(head.signal, head.length, windows.GUMBEL_STEP / steepness)
    num_scores = rows.rung(len(law.scores))
    padding = (0, num_scores - len(law.scores))
    row = _MaxRow(
        *(head.m_k, head.slope, head.stray, offset),
        *(read_out.target_slope, read_out.value_slope, read_out.lean),
        head.q_kv / head.slope if head.slope > 0 else 0.0,
        Crowd.of(head.length),
        field,
        np.pad(law.scores, padding),
        np.pad(law.weights, padding),
    )
    stray = windows.field_window(head.stray, -windows.REACH, windows.REACH).num_nodes
    sizes = _MaxSizes(
        field=rows.rung(refinement * size),
        stray=rows.rung(refinement * stray) if head.stray > 0 else 0,
        scores=num_scores,
    )
    return row, sizes


def _integrate_spiked(
    activation: str, row: _SpikedRow, num_fields: int
) -> Float[Array, "5"]:
    g = jnp.linspace(row.field.lower, row.field.upper, num_fields)
    log_step = jnp.log(g[1] - g[0]) + LOG_DENSITY
    score = row.slope * g + row.offset
    log_s = log_sigmoidal(activation, score)
    own = g - row.drift
    log_own = log_step - own**2 / 2
    density, s = jnp.exp(log_own), jnp.exp(log_s)
    missing = jnp.exp(log_sigmoidal(activation, -score))
    crowd = row.crowd.log_count + log_step - g**2 / 2
    crowd_first, crowd_second = jnp.exp(crowd + log_s), jnp.exp(crowd + 2 * log_s)

    kept, lost = density @ s, density @ missing
    others = jnp.sum(crowd_second)
    own_psi = s * (row.lean + row.w * own)
    psi = row.w * (crowd_first @ g)  # n E psi
    crossed = (
        row.h**2
        - 2 * row.h * (density @ (own * own_psi))
        + density @ own_psi**2
        + 2 * (density @ own_psi) * psi
        + row.w**2 * (crowd_second @ g**2)
        + row.crowd.one_less * psi**2
    )
    squares = density @ s**2 + others
    misplaced = density @ missing**2 + others
    return jnp.stack([kept, lost, squares, misplaced, crossed])


def _integrate_max(
    activation: str, row: _MaxRow, sizes: _MaxSizes
) -> Float[Array, "4"]:
    g = jnp.linspace(row.field.lower, row.field.upper, sizes.field)
    log_s = log_sigmoidal(activation, row.slope * g + row.offset)
    crowd = row.crowd.log_count + LOG_DENSITY - g**2 / 2 + jnp.log(g[1] - g[0])
    crowd_first, crowd_second = jnp.exp(crowd + log_s), jnp.exp(crowd + 2 * log_s)
    squares = jnp.sum(crowd_second)
    variance = row.lean**2 + row.w**2 - row.along**2
    psi = row.along * (crowd_first @ g)  # L E psi
    psi_squared = row.along**2 * (crowd_second @ g**2) + variance * squares

    stray, density = jnp.zeros(1), jnp.ones(1)
    if sizes.stray:
        stray = jnp.linspace(-windows.REACH, windows.REACH, sizes.stray)
        density = jnp.exp(LOG_DENSITY - stray**2 / 2) * (stray[1] - stray[0])
    teacher_score = jnp.asarray(row.scores)[:, None]
    score = row.m_k * teacher_score + row.stray * stray + row.offset
    s = jnp.exp(log_sigmoidal(activation, score))
    missing = jnp.exp(log_sigmoidal(activation, -score))
    kept, lost = row.weights @ s @ density, row.weights @ missing @ density
    # F = lean x + w g of the token that counts, times g.
    own = s * (row.lean * teacher_score + row.w * stray) * stray
    crossed = (
        row.h**2
        - 2 * row.h * (row.weights @ own @ density)
        + psi_squared
        + row.crowd.one_less * psi**2
    )
    return jnp.stack([kept, lost, squares, crossed])


_SPIKED = {name: partial(_integrate_spiked, name) for name in LARGEST_WEIGHT}
_MAX = {name: partial(_integrate_max, name) for name in LARGEST_WEIGHT}
