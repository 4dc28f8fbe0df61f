"""Which of a few independent Gaussian variables is the largest.

All have the same variance s^2; only their means differ. With scaled means a / s:

* two: P(first is larger) = Phi(h), h = (a_0 - a_1) / (sqrt(2) s);
* three: P(first is largest) = Phi2(h, k; 1/2), the bivariate normal distribution of its
  two differences, as Phi(h) Phi(k) plus the integral of the density over the
  correlation (Plackett, 1954), in which every term is positive;
* more: the integral over the largest value, of the density of one variable times the
  probabilities that the others are below.
"""

import math
from functools import reduce
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from sharp_attention.numerics.gaussian import gauss_legendre, trapezoid
from sharp_attention.numerics.linalg import Rows

__all__ = ["shares", "ties"]

# Nodes over the angle asin(correlation) from 0 to pi/6: errors below 1e-12.
_ANGLES = 10
# Where the largest value may lie around the largest mean, in units of s: shares down
# to 1e-16 are right. Steps of a half resolve the product of tails to 1e-11.
_REACH, _STEP = 7.0, 0.5


def shares(means: Rows, scale: Float[Array, ""]) -> Rows:
    """Probability of each variable to be the largest.

    Parameters
    ----------
    means : one row for each variable
    scale : their common standard deviation s > 0
    """
    if len(means) == 1:
        return (jnp.ones_like(means[0]),)
    if len(means) == 2:
        first, second = means
        gap = (first - second) / scale
        return _below(gap / math.sqrt(2)), _below(-gap / math.sqrt(2))
    if len(means) == 3:
        return tuple(
            _largest_of_three(means[e], means[e - 1], means[e - 2], scale)
            for e in range(3)
        )
    levels = _levels(means, scale)
    return tuple(
        _STEP * jnp.sum(density * levels.all_below / below, axis=0)
        for density, below in zip(levels.density, levels.below, strict=True)
    )


def ties(means: Rows, scale: Float[Array, ""]) -> dict[tuple[int, int], Array]:
    """Density of a tie at the top of each pair (e, m), e > m.

    It is minus the derivative of the share of e with respect to the mean of m, and by
    symmetry of the share of m with respect to the mean of e.
    """
    pairs = [(e, m) for e in range(len(means)) for m in range(e)]
    if len(means) <= 3:
        return {pair: _tie_of_three(*pair, means, scale) for pair in pairs}
    levels = _levels(means, scale)
    found = {}
    for e, m in pairs:
        others = levels.all_below / (levels.below[e] * levels.below[m])
        density = levels.density[e] * levels.density[m] * others
        found[e, m] = _STEP * jnp.sum(density, axis=0) / scale
    return found


class _Levels(NamedTuple):
    """Values at possible levels of the largest variable, (levels, points) for each.

    Attributes
    ----------
    density : of each variable, times s
    below : probability that it is below the level
    all_below : product of these over the variables
    """

    density: tuple[Float[Array, "levels points"], ...]
    below: tuple[Float[Array, "levels points"], ...]
    all_below: Float[Array, "levels points"]


def _levels(means: Rows, scale: Float[Array, ""]) -> _Levels:
    scaled = [row / scale for row in means]
    # The integral does not depend on where its range is laid.
    largest = lax.stop_gradient(reduce(jnp.maximum, scaled))
    nodes = jnp.asarray(trapezoid(-_REACH, _REACH, _STEP).nodes, largest.dtype)
    level = largest + nodes[:, None]
    below = tuple(_below(level - row) for row in scaled)
    density = tuple(_density(level - row) for row in scaled)
    return _Levels(density, below, reduce(jnp.multiply, below))


def _largest_of_three(
    mean: Float[Array, " points"],
    one: Float[Array, " points"],
    other: Float[Array, " points"],
    scale: Float[Array, ""],
) -> Float[Array, " points"]:
    h, k = ((mean - row) / (math.sqrt(2) * scale) for row in (one, other))
    nodes, weights = gauss_legendre(_ANGLES)
    integral = jnp.zeros_like(mean)
    for node, weight in zip(nodes, weights, strict=True):
        angle = node * math.pi / 6
        square = h**2 + k**2 - 2 * math.sin(angle) * h * k
        integral += weight * jnp.exp(-square / (2 * math.cos(angle) ** 2))
    return _below(h) * _below(k) + integral / 12


def _tie_of_three(
    e: int, m: int, means: Rows, scale: Float[Array, ""]
) -> Float[Array, " points"]:
    """Tie of two among at most three variables."""
    width = math.sqrt(2) * scale
    density = _density((means[e] - means[m]) / width) / width
    for j in {0, 1, 2}.intersection(range(len(means))) - {e, m}:
        gap = (means[e] + means[m]) / 2 - means[j]
        density = density * _below(gap / (math.sqrt(1.5) * scale))
    return density


def _density(x: Array) -> Array:
    return jnp.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)


def _below(x: Array) -> Array:
    return jax.scipy.special.erfc(-x / math.sqrt(2)) / 2
