"""Sums over softmax weights of long keys, at a cost that does not grow with the key.

The Gumbel factor of a score slope * g at a level u varies on the scale 1/slope of g,
so that equal steps of g would grow in number with the slope. Measured from the level,
t = slope * g - u, it has one shape for all levels::

    N_j[f](u)         = int dt / slope (f phi)((u + t) / slope) e^{j t - e^t},
    E f exp(-e^t)     = int dt e^{t - e^t} int_{g < (u + t) / slope} f phi,

the second by parts; its inner integral is elementary for f = 1, g and g^2. These are
the integrals of `crowd` and `spiked` in another variable: only what exp(-e^t) has made
zero, or e^t negligible, is left out.
"""

import math
from typing import NamedTuple

import jax.numpy as jnp
from jax.scipy import special
from jaxtyping import Array, Float

from sharp_attention.theory.single_location.crowd import (
    LOG_DENSITY,
    Crowd,
    CrowdSums,
    log_normal_below,
)
from sharp_attention.theory.single_location.windows import LARGEST_LOG, Levels

__all__ = ["NUM_STEEP", "OwnSums", "is_steep", "steep_crowd_sums", "steep_own_sums"]

STEP = 0.2

# Below a level the density of scores grows at most like e^{-2 t / 3} (`is_steep`), so
# that e^{t / 3} is left: 1e-19 here.
LOWEST = -130.0

NUM_STEEP = math.ceil((LARGEST_LOG - LOWEST) / STEP) + 1
"""Number of fields of each level."""

# A crowd is certain to beat a level long before e^300 of it are above.
LARGEST_EXPONENT = 300.0


class OwnSums(NamedTuple):
    """Averages over the relevant token at each level, as in `spiked`'s notation.

    alive holds S[1], S[g], S[g^2]; the others are E omega^j exp(-omega).
    """

    alive: Float[Array, "levels 3"]
    first: Float[Array, " levels"]
    second: Float[Array, " levels"]


def is_steep(slope: float, levels: Levels) -> bool:
    """Whether the sums here are right for softmax weights at all `levels`."""
    return slope > 0 and slope >= 1.5 * levels.upper / slope


def steep_crowd_sums(
    level: Float[Array, " levels"], slope: Float[Array, ""] | float, crowd: Crowd
) -> CrowdSums:
    """Sum over a crowd of softmax weights, with the powers 1, g, g^2."""
    g, t, log_gumbel = _fields(level, slope)
    log_density = crowd.log_count + LOG_DENSITY - g**2 / 2 - jnp.log(slope)
    first, second = _exp(log_density + log_gumbel), _exp(log_density + log_gumbel + t)
    killed = _exp(crowd.log_count + log_normal_below(-g) + log_gumbel)
    powers = jnp.stack([jnp.ones_like(g), g, g**2], axis=-1)
    return CrowdSums(
        killed=jnp.sum(killed, axis=-1),
        first=jnp.sum(first[..., None] * powers, axis=1),
        second=jnp.sum(second[..., None] * powers, axis=1),
    )


def steep_own_sums(
    level: Float[Array, " levels"],
    slope: Float[Array, ""] | float,
    drift: Float[Array, ""] | float,
) -> OwnSums:
    """Average over the relevant token, whose score is slope * (g + drift)."""
    scores, t, log_gumbel = _fields(level, slope)
    g = scores - drift
    density, below = jnp.exp(LOG_DENSITY - g**2 / 2), special.ndtr(g)
    gumbel = jnp.exp(log_gumbel)
    alive = jnp.stack([below, -density, below - g * density], axis=-1)
    return OwnSums(
        alive=jnp.einsum("ltp,t->lp", alive, gumbel),
        first=density @ gumbel / slope,
        second=density @ (gumbel * jnp.exp(t)) / slope,
    )


def _fields(
    level: Float[Array, " levels"], slope: Float[Array, ""] | float
) -> tuple[Float[Array, "levels t"], Float[Array, " t"], Float[Array, " t"]]:
    """Return g, t and the logarithm of e^{t - e^t} dt."""
    t = jnp.linspace(LOWEST, LARGEST_LOG, NUM_STEEP)
    return (level[:, None] + t) / slope, t, t - jnp.exp(t) + math.log(STEP)


def _exp(logarithm: Float[Array, "..."]) -> Float[Array, "..."]:
    return jnp.exp(jnp.minimum(logarithm, LARGEST_EXPONENT))
