"""Keys of infinite length along k*: hard-max and ReLU weights.

As k = m k* with m -> infinity, softmax puts all weight on the largest score x = chi*,
and softplus weights become relu(x_l) / sum relu(x), or the hard maximum where all
scores are negative. The risk may approach its infimum only there (slr-population 5.4).

ReLU weights are integrated as in `spiked` and `maximum`, over the positive scores: a
negative token has omega = 0 and counts in N_0 alone. The logarithm of the weight
diverges at x = 0, so the variable is v with x = log(1 + e^v): equal steps in v are
equal steps of log x near 0 and of x further up.
"""

import math
from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy import special
from jaxtyping import Array, Float
from scipy import special as scipy_special

from sharp_attention._typing import Float64
from sharp_attention.numerics import gaussian
from sharp_attention.theory.single_location import rows, selectors, windows
from sharp_attention.theory.single_location.affordable import (
    check_affordable,
    check_representable,
)
from sharp_attention.theory.single_location.crowd import (
    LOG_DENSITY,
    Crowd,
    CrowdSums,
    crowd_sums,
    log_normal_below,
    survival,
)
from sharp_attention.theory.single_location.hard_grids import (
    LOWEST,
    Row,
    Sizes,
    max_cost,
    prepare,
    spiked_cost,
    step_of,
)
from sharp_attention.theory.single_location.heads import Head, Moments
from sharp_attention.theory.single_location.spiked import localisation
from sharp_attention.theory.single_location.steep import OwnSums

__all__ = ["max_moments", "spiked_moments"]

CHUNK = 64


def spiked_moments(activation: str, signal: float, length: int) -> Moments:
    """Averages of softmax or softplus weights in the spiked task at m_k = infinity.

    Returns
    -------
    Moments of single numbers, with T = 0

    Raises
    ------
    ValueError
        If the signal is so large that the quadrature would not be affordable.
    """
    crowd, shift = Crowd.of(length - 1), math.sqrt(signal)
    if activation == "softmax":
        g, weights = gaussian.trapezoid(step=step_of(crowd))
        wrong = float(weights @ -np.expm1(_log_all_below(shift + g, crowd)))
        return _moments(1 - wrong, wrong, 1.0, 2 * wrong)
    _check(signal, length, lambda head: spiked_cost(head.signal, crowd))
    row, sizes = prepare(shift, crowd, is_max=False)
    found = rows.evaluate(_relu_spiked, [row], [sizes], num_outputs=4)
    kept, lost, squares, misplaced = found[0].tolist()
    right, wrong = _all_negative(shift, crowd)
    return _moments(
        kept + right, lost + wrong, squares + right + wrong, misplaced + 2 * wrong
    ).completed()


def max_moments(activation: str, signal: float, length: int) -> Moments:
    """Averages of softmax or softplus weights in the max task at m_k = infinity.

    Returns
    -------
    Moments of single numbers, with T = 0

    Raises
    ------
    ValueError
        If the signal is so large that the quadrature would not be affordable.
    """
    crowd = Crowd.of(length)
    _check(signal, length, lambda head: max_cost(activation, head.signal, crowd))
    row, sizes = prepare(signal, crowd, is_max=True)
    is_relu = activation == "softplus"
    right = math.exp(-length * math.log(2)) if is_relu else 1.0
    squares = right
    if math.isfinite(signal):
        top = 0.0 if is_relu else row.highest_score
        argmax_row = row._replace(highest_score=top)
        right = float(rows.evaluate(_argmax_chance, [argmax_row], [sizes], 1)[0, 0])
    if is_relu:
        kept, positive = rows.evaluate(_relu_max, [row], [sizes], 2)[0].tolist()
        right, squares = right + kept, squares + positive
    return _moments(right, 1 - right, squares, 1 - 2 * right + squares)


def _moments(kept: float, lost: float, squares: float, misplaced: float) -> Moments:
    return Moments(*(np.asarray(x) for x in (kept, lost, squares, misplaced, 0.0)))


def _log_all_below(scores: Float64, crowd: Crowd) -> Float64:
    """Logarithm of the chance that all tokens of the crowd lie below a score."""
    log_each = -scipy_special.log_ndtr(scores)
    return -np.exp(np.minimum(crowd.log_count + np.log(log_each), 300.0))


def _all_negative(shift: float, crowd: Crowd) -> tuple[float, float]:
    """Chances that all scores are negative and the relevant one is the largest or not.

    Spiked task; the relevant score has mean `shift`.
    """
    rule = gaussian.gauss_legendre(16)
    edges = np.linspace(-windows.REACH, 0.0, 49)
    width = edges[1] - edges[0]
    scores = (edges[:-1, None] + width * rule.nodes).ravel()
    density = np.exp(LOG_DENSITY - (scores - shift) ** 2 / 2)
    weights = np.tile(width * rule.weights, 48) * density
    below = np.exp(_log_all_below(scores, crowd))
    negative = np.exp(_log_all_below(np.zeros(1), crowd))
    return float(weights @ below), float(weights @ (negative - below))


def _check(signal: float, length: int, cost: Callable[[Head], float]) -> None:
    head = Head(signal, length, m_k=1.0, q_k=1.0)
    check_representable(head)
    check_affordable(head, cost)


def _relu_levels(row: Row, sizes: Sizes) -> Float[Array, " levels"]:
    return jnp.linspace(LOWEST, row.high_level, sizes.levels)


def _relu_sums(
    row: Row, level: Float[Array, " levels"], v: Float[Array, " scores"], is_huge: bool
) -> tuple[Float[Array, "levels scores"], CrowdSums]:
    """Log omega of positive scores, and the sums over those of the crowd."""
    x = jax.nn.softplus(v)
    log_omega = windows.log_omega("softplus", v, level[:, None])
    log_step = jnp.log(v[1] - v[0]) + jax.nn.log_sigmoid(v)
    log_density = row.crowd.log_count + LOG_DENSITY - x**2 / 2 + log_step
    ones = jnp.ones_like(v)[:, None]
    return log_omega, crowd_sums(log_omega, log_density, ones, is_huge)


def _relu_spiked(row: Row, sizes: Sizes) -> Float[Array, "4"]:
    """Moments of ReLU weights where a score is positive; row.signal is the shift."""
    level = _relu_levels(row, sizes)
    v = jnp.linspace(LOWEST, row.highest_score, sizes.scores)
    log_omega, sums = _relu_sums(row, level, v, sizes.is_huge)
    own_score = jax.nn.softplus(v) - row.signal
    own_density = jnp.exp(LOG_DENSITY - own_score**2 / 2) * jax.nn.sigmoid(v)
    own_density = own_density * (v[1] - v[0])
    omega = jnp.exp(log_omega)
    alive = jnp.exp(-omega)
    own = OwnSums(
        alive=(alive @ own_density + special.ndtr(-row.signal))[:, None],
        first=(omega * alive) @ own_density,
        second=(omega**2 * alive) @ own_density,
    )
    survivors = tuple(
        survival(sums.killed, row.crowd, share)
        for share in (1.0, row.crowd.one_less, row.crowd.two_less)
    )
    integrands = localisation(own, sums, survivors, row.crowd)
    return jnp.sum(integrands, axis=-1) * (level[1] - level[0])


def _relu_max(row: Row, sizes: Sizes) -> Float[Array, "2"]:
    """B and A of ReLU weights on texts with a positive score."""
    level = _relu_levels(row, sizes)
    v = jnp.linspace(LOWEST, row.highest_score, sizes.scores)
    _, sums = _relu_sums(row, level, v, is_huge=False)
    one_less = survival(sums.killed, row.crowd, row.crowd.one_less)
    spacing = level[1] - level[0]
    squares = spacing * jnp.sum(sums.second[:, 0] * one_less)

    if sizes.signal_levels == 0:
        kept = _relu_kept(row, level, *_sharp_positive(row, sizes.scores))
        return jnp.stack([kept, squares])
    signal_level, steps = row.signal_levels.nodes(sizes.signal_levels)
    everywhere = jnp.linspace(-windows.REACH, row.highest_score, sizes.all_scores)
    x, jacobian = jax.nn.softplus(v), jax.nn.sigmoid(v) * (v[1] - v[0])

    def on_chunk(chunk: Float[Array, " chunk"]) -> Float[Array, ""]:
        direct = partial(selectors.direct, jnp.asarray(row.signal), row.crowd, chunk)
        # All scores are rivals, but only positive ones get a weight.
        rivals = direct(everywhere, everywhere[1] - everywhere[0]).rivals
        selector = direct(x, jacobian)._replace(rivals=rivals)
        return _relu_kept(row, level, selector, v)

    chunks = jax.lax.map(on_chunk, signal_level.reshape(-1, CHUNK))
    kept = jnp.sum(chunks) * steps[0]
    return jnp.stack([kept, squares])


def _relu_kept(
    row: Row,
    level: Float[Array, " levels"],
    selector: selectors.Direct | selectors.Sharp,
    v: Float[Array, " scores"],
) -> Float[Array, ""]:
    """B of ReLU weights, as in `maximum`, summed over the levels of `selector`."""
    omega = jnp.exp(windows.log_omega("softplus", v, level[:, None]))
    killed = selector.rivals + selector.beaten(-jnp.expm1(-omega))
    weight = selector.spacing * survival(killed, row.crowd, row.crowd.one_less)
    chosen = selector.chosen(omega * jnp.exp(-omega))
    return jnp.sum(weight * chosen) * (level[1] - level[0])


def _sharp_positive(
    row: Row, num_scores: int
) -> tuple[selectors.Sharp, Float[Array, " scores"]]:
    """Selector on positive scores x = log(1 + e^v) at infinite signal, and v."""
    order = selectors.ORDER
    nodes, width = gaussian.panels(
        LOWEST, row.highest_score, num_scores // order, order
    )
    v = nodes.reshape(-1)
    x = jax.nn.softplus(v)
    quadrature = jnp.asarray(gaussian.gauss_legendre(order).weights)
    spacing = jnp.broadcast_to(width * quadrature, nodes.shape).reshape(-1)
    rivals = jnp.exp(row.crowd.log_count + log_normal_below(-x))
    density = selectors.crowd_density(x, row.crowd) * jax.nn.sigmoid(v)
    return selectors.Sharp(x, rivals, spacing, density, width, jnp.eye(order)), v


def _argmax_chance(row: Row, sizes: Sizes) -> Float[Array, "1"]:
    """Chance that the chosen token has the largest score, and one below a bound.

    L int Dx int du omega* exp(-omega*) [int_{x' < x} Dx' exp(-omega*')]^{L-1}.
    """
    level, steps = row.signal_levels.nodes(sizes.signal_levels)
    order = selectors.ORDER
    nodes, width = gaussian.panels(
        -windows.REACH, row.highest_score, sizes.all_scores // order, order
    )
    density = selectors.crowd_density(nodes, row.crowd)
    above = jnp.exp(row.crowd.log_count + log_normal_below(-nodes))
    quadrature = jnp.asarray(gaussian.gauss_legendre(order).weights) * width

    def at_level(one: Float[Array, ""]) -> Float[Array, ""]:
        omega = jnp.exp(windows.log_omega("softmax", row.signal * nodes, one))
        beaten = gaussian.accumulate(density * -jnp.expm1(-omega), width)
        survivors = survival(above + beaten, row.crowd, row.crowd.one_less)
        return jnp.sum(density * omega * jnp.exp(-omega) * survivors @ quadrature)

    return (jax.lax.map(at_level, level) @ steps)[None]
