"""What a head can know about places: rotations, distance penalties, windows.

Schemes, as in `Positions`:

none      nothing: permuting the items permutes the outputs
rotary    queries and keys are turned by angles that grow with the place (RoPE)
alibi     head h of H subtracts 2^(−8h/H) · distance from the logit (ALiBi)
window    items further away than a fixed number of places are not seen
"""

from typing import Literal

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

__all__ = [
    "EVERYWHERE",
    "Positions",
    "View",
    "alibi_slopes",
    "rotate",
    "rotate_at",
]

Positions = Literal["none", "rotary", "alibi", "window"]

EVERYWHERE = int(np.iinfo(np.int32).max)
"""A distance that no item exceeds."""

_ROTARY_BASE = 10_000.0


class View(eqx.Module):
    """Which items a query sees, and how their distance enters the logits.

    Numbers are data, not part of the program: heads of every style share one
    compilation unless they rotate.

    Attributes
    ----------
    behind, ahead : how many places back and ahead an item is still seen
    slopes : for each head, what the logit loses with each place of distance
    is_rotary : whether queries and keys are rotated
    """

    behind: Int[Array, ""]
    ahead: Int[Array, ""]
    slopes: Float[Array, " heads"]
    is_rotary: bool = eqx.field(static=True)

    def sees(self, distance: Int[Array, "*places"]) -> Bool[Array, "*places"]:
        """Whether an item is seen `distance` places before the query (< 0: after)."""
        return (distance <= self.behind) & (distance >= -self.ahead)

    def penalty(self, distance: Int[Array, "*places"]) -> Float[Array, "heads *places"]:
        """Return what each head's logit loses at a distance."""
        return jnp.multiply.outer(self.slopes, jnp.abs(distance))


def alibi_slopes(num_heads: int) -> Float[Array, " heads"]:
    """Return 2^(−8h/H) for heads h = 1 … H: 1/16 and 1/256 for two."""
    return 2.0 ** (-8.0 * jnp.arange(1, num_heads + 1) / num_heads)


def rotate(
    vectors: Float[Array, "... length dim"], *, base: float = _ROTARY_BASE
) -> Float[Array, "... length dim"]:
    """Turn pair p of dim/2 pairs by the angle place / base^(2p/dim).

    Lengths are kept, and the product of a query and a key depends on their distance.

    Parameters
    ----------
    vectors : (..., length, dim), dim even; places count from 0
    base : > 1, what the slowest pair's period grows with
    """
    length, dim = vectors.shape[-2:]
    frequencies = base ** (-jnp.arange(0, dim, 2) / dim)
    angles = jnp.arange(length)[:, None] * frequencies
    return _turn(vectors, angles)


def rotate_at(
    vectors: Float[Array, "batch length heads dim"],
    places: Float[Array, "batch length"],
    *,
    base: float = _ROTARY_BASE,
) -> Float[Array, "batch length heads dim"]:
    """Turn as `rotate` does, by places that are given: gaps between them may differ.

    Parameters
    ----------
    vectors : (batch, length, heads, dim), dim even
    places : of the items, whole or not
    base : > 1, what the slowest pair's period grows with
    """
    dim = vectors.shape[-1]
    frequencies = base ** (-jnp.arange(0, dim, 2) / dim)
    angles = (places[..., None] * frequencies)[:, :, None, :]
    return _turn(vectors, angles)


def _turn(
    vectors: Float[Array, "... dim"], angles: Float[Array, "... pairs"]
) -> Float[Array, "... dim"]:
    """Turn the pairs: p of the first half with p of the second."""
    cosine, sine = jnp.cos(angles), jnp.sin(angles)
    first, second = jnp.split(vectors, 2, axis=-1)
    turned = [first * cosine - second * sine, first * sine + second * cosine]
    return jnp.concatenate(turned, axis=-1)
