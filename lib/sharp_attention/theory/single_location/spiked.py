"""Normalised weights in the spiked task: softmax and softplus.

Notation (see `heads` and `crowd`): one relevant token of score slope * (drift + g_e),
n = L - 1 others of score slope * g. With omega = weight e^{-u}::

    S[f](u) = E f(g_e) exp(-omega_e),
    N_j[f](u) = E f(g) omega^j exp(-omega),      n N_j are of order one,

everything that is lost when the relevant token does not get all of the weight is an
integral over u that contains at least one N_j; slope * drift may be arbitrarily large
without cancellation::

    1 - B         = int du n S[1] N_1[1] N_0^{n-1},
    E sum (alpha - delta)^2
                  = int du S[1] { 2 n N_2[1] N_0^{n-1} + n (n-1) N_1[1]^2 N_0^{n-2} }.

For T write h g_e - sum alpha F = a - Y with a = h g_e - F_e, F_e = lean + w g_e and
Y = sum_{l != e} alpha_l (w g_l - F_e): E a^2 is elementary, E a Y and E Y^2 are
integrals of the same kind. This is slope-by-slope the same as slr-population (4.4) and
(4.7), rearranged.
"""

import math
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from sharp_attention.theory.single_location import rows, windows
from sharp_attention.theory.single_location.affordable import (
    check_affordable,
    check_representable,
)
from sharp_attention.theory.single_location.crowd import (
    LOG_DENSITY,
    LOG_HUGE,
    Crowd,
    CrowdSums,
    crowd_sums,
    gaussian_crowd,
    survival,
)
from sharp_attention.theory.single_location.heads import Head, Moments, ReadOut
from sharp_attention.theory.single_location.steep import (
    NUM_STEEP,
    OwnSums,
    is_steep,
    steep_crowd_sums,
    steep_own_sums,
)

__all__ = ["localisation", "moments"]

# Terms (levels times fields) that take about ten seconds.
DEAREST = 2.0**28

Levels = Float[Array, " levels"]


class _Row(NamedTuple):
    """What one integral needs; numbers, or arrays with a leading axis."""

    slope: float
    drift: float
    lean: float
    h: float
    w: float
    crowd: Crowd
    levels: windows.Levels
    low_field: float
    high_field: float


class _Sizes(NamedTuple):
    """Numbers of nodes, and how the crowd is summed; no `fields` where by `steep`."""

    levels: int
    fields: int
    is_huge: bool


def moments(activation: str, heads: Sequence[Head], refinement: float = 1.0) -> Moments:
    """Averages of normalised weights in the spiked task.

    Parameters
    ----------
    activation : "softmax" or "softplus"
    heads : finite overlaps, signals and lengths
    refinement : factor on the number of quadrature nodes

    Returns
    -------
    Moments with fields of shape (heads,)

    Raises
    ------
    ValueError
        If a signal or q_k is so large that the quadrature would not be affordable.
    """
    prepared = [_prepare(activation, head, refinement) for head in heads]
    values = rows.evaluate(
        _INTEGRALS[activation],
        [row for row, _ in prepared],
        [size for _, size in prepared],
        num_outputs=len(Moments._fields),
    )
    return Moments(*values.T).completed()


def _prepare(activation: str, head: Head, refinement: float) -> tuple[_Row, _Sizes]:
    check_representable(head)
    row, (num_levels, num_fields) = _window(activation, head)
    if num_levels * (num_fields or NUM_STEEP) > DEAREST:
        check_affordable(head, partial(_cost, activation))
    sizes = _Sizes(
        levels=rows.rung(refinement * num_levels),
        fields=rows.rung(refinement * num_fields) if num_fields else 0,
        is_huge=row.crowd.log_count > LOG_HUGE,
    )
    return row, sizes


def _cost(activation: str, head: Head) -> float:
    num_levels, num_fields = _window(activation, head)[1]
    return num_levels * (num_fields or NUM_STEEP) / DEAREST


def _window(activation: str, head: Head) -> tuple[_Row, tuple[float, float]]:
    """Ranges of levels and fields, and the numbers of nodes that they need."""
    crowd = Crowd.of(head.length - 1)
    read_out = ReadOut.in_spiked(head)
    slope, drift = head.slope, head.drift
    levels, num_levels = windows.level_window(activation, slope, drift, crowd)
    high = max(0.0, drift) + windows.REACH
    if activation == "softmax" and slope > 0:
        # Beyond it exp(-omega) is zero at every level.
        high = min(high, (levels.upper + windows.LARGEST_LOG) / slope)
    crowd_reach = math.sqrt(windows.REACH**2 + 2 * max(crowd.log_count, 0.0))
    fields = windows.field_window(
        slope, min(0.0, drift) - windows.REACH, max(high, crowd_reach)
    )
    lean = math.sqrt(head.signal) * read_out.lean
    row = _Row(
        *(slope, drift, lean, read_out.target_slope, read_out.value_slope, crowd),
        *(levels, fields.lower, fields.upper),
    )
    num_fields = fields.num_nodes
    is_large = rows.rung(num_levels) * rows.rung(num_fields) > rows.LARGEST_TABLE
    if activation == "softmax" and is_large and is_steep(slope, levels):
        num_fields = 0.0
    return row, (num_levels, num_fields)


def _integrate(activation: str, row: _Row, sizes: _Sizes) -> Float[Array, "5"]:
    level, steps = row.levels.nodes(sizes.levels)

    def on_chunk(chunk: tuple[Levels, Levels]) -> Float[Array, "5"]:
        return _on_levels(activation, row, sizes, *chunk)

    summed = rows.sum_over_levels(on_chunk, level, steps, sizes.fields or NUM_STEEP)
    elementary = (row.h - row.w) ** 2 + row.lean**2
    return summed.at[4].add(elementary)


def _on_levels(
    activation: str, row: _Row, sizes: _Sizes, level: Levels, steps: Levels
) -> Float[Array, "5"]:
    """Integrals over some of the levels; the last without its elementary part."""
    if sizes.fields == 0:
        sums = steep_crowd_sums(level, row.slope, row.crowd)
        own = steep_own_sums(level, row.slope, row.drift)
    else:
        g = jnp.linspace(row.low_field, row.high_field, sizes.fields)
        log_omega = windows.log_omega(activation, row.slope * g, level[:, None])
        sums = crowd_sums(log_omega, *gaussian_crowd(g, row.crowd), sizes.is_huge)
        own = _own_sums(log_omega, g - row.drift)
    survivors = tuple(
        survival(sums.killed, row.crowd, share)
        for share in (1.0, row.crowd.one_less, row.crowd.two_less)
    )
    crossed = _crossed(row, own.alive, sums, survivors)
    localised = localisation(own, sums, survivors, row.crowd) @ steps
    return jnp.append(localised, crossed @ steps)


def localisation(
    own: OwnSums,
    sums: CrowdSums,
    survivors: tuple[Levels, Levels, Levels],
    crowd: Crowd,
) -> Float[Array, "4 levels"]:
    """Integrands of the first four `Moments`.

    Parameters
    ----------
    own : of the relevant token
    sums : of the crowd
    survivors : N_0^n, N_0^{n-1} and N_0^{n-2}
    crowd : the n other tokens
    """
    all_others, one_less, two_less = survivors
    alive, one, two = own.alive[:, 0], sums.first[:, 0], sums.second[:, 0]
    kept = own.first * all_others
    lost = alive * one * one_less
    squares = own.second * all_others + alive * two * one_less
    pairs = crowd.one_less * one**2 * two_less
    misplaced = alive * (2 * two * one_less + pairs)
    return jnp.stack([kept, lost, squares, misplaced])


def _own_sums(
    log_omega: Float[Array, "levels fields"], own: Float[Array, " fields"]
) -> OwnSums:
    powers = jnp.stack([jnp.ones_like(own), own, own**2], axis=-1)
    density = jnp.exp(LOG_DENSITY - own**2 / 2) * (own[1] - own[0])
    omega = jnp.exp(log_omega)
    alive = jnp.exp(-omega)
    return OwnSums(
        alive=alive @ (density[:, None] * powers),
        first=(omega * alive) @ density,
        second=(omega**2 * alive) @ density,
    )


def _crossed(
    row: _Row,
    own: Float[Array, "levels 3"],
    sums: CrowdSums,
    survivors: tuple[Levels, Levels, Levels],
) -> Levels:
    """Integrand of E Y^2 - 2 E a Y (see the module's notation)."""
    w, lean, slope = row.w, row.lean, row.h - row.w
    s, s_g, s_gg = own.T
    one, one_g, _ = sums.first.T
    two, two_g, two_gg = sums.second.T
    _, one_less, two_less = survivors

    # Averages over the relevant token of a, F, a F and F^2; a = slope g - lean.
    s_a = slope * s_g - lean * s
    s_f = lean * s + w * s_g
    s_af = lean * s_a + w * (slope * s_gg - lean * s_g)
    s_ff = lean * s_f + w * (lean * s_g + w * s_gg)

    mixed = (w * s_a * one_g - s_af * one) * one_less
    same = (w**2 * s * two_gg - 2 * w * s_f * two_g + s_ff * two) * one_less
    pairs = w**2 * s * one_g**2 - 2 * w * s_f * one_g * one + s_ff * one**2
    return same + row.crowd.one_less * pairs * two_less - 2 * mixed


# One function object for each activation, so that compilations are shared.
_INTEGRALS = {name: partial(_integrate, name) for name in ("softmax", "softplus")}
