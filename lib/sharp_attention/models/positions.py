"""What a head can know about places: rotations, distance penalties, windows.

Schemes, as in `Positions`:

none      nothing: permuting the items permutes the outputs
rotary    queries and keys are turned by angles that grow with the place (RoPE)
alibi     head h of H subtracts 2^(−8h/H) · distance from the logit (ALiBi)
window    items further away than a fixed number of places are not seen
"""

from typing import Literal

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

__all__ = ["Positions", "distance_penalty", "in_sight", "rotate"]

Positions = Literal["none", "rotary", "alibi", "window"]

_ROTARY_BASE = 10_000.0


def rotate(vectors: Float[Array, "... length dim"]) -> Float[Array, "... length dim"]:
    """Turn pair p of dim/2 pairs by the angle place / 10,000^(2p/dim).

    Lengths are kept, and the product of a query and a key depends on their distance.

    Parameters
    ----------
    vectors : (..., length, dim), dim even; places count from 0
    """
    length, dim = vectors.shape[-2:]
    frequencies = _ROTARY_BASE ** (-jnp.arange(0, dim, 2) / dim)
    angles = jnp.arange(length)[:, None] * frequencies
    cosine, sine = jnp.cos(angles), jnp.sin(angles)
    first, second = jnp.split(vectors, 2, axis=-1)
    turned = [first * cosine - second * sine, first * sine + second * cosine]
    return jnp.concatenate(turned, axis=-1)


def distance_penalty(
    distance: Int[Array, "*places"], num_heads: int
) -> Float[Array, "heads *places"]:
    """Return what ALiBi subtracts: 2^(−8h/H) · |distance| for heads h = 1 … H."""
    slopes = 2.0 ** (-8.0 * jnp.arange(1, num_heads + 1) / num_heads)
    return jnp.multiply.outer(slopes, jnp.abs(distance))


def in_sight(
    distance: Int[Array, "*places"], *, is_causal: bool, window: int | None
) -> Bool[Array, "*places"]:
    """Whether a query sees an item `distance` places before it (< 0: after it)."""
    seen = distance >= 0 if is_causal else jnp.ones(distance.shape, dtype=bool)
    return seen if window is None else seen & (jnp.abs(distance) <= window)
