"""Where the characters of a text stand, for the rotations of a decoder.

In training each text has a gap of its own between neighbours (`random_places`), at test
the gap that keeps a long text within the span of training (`fitted_places`), so that a
long text brings no place and no gap that training has not seen.
This has the purpose of the randomised positions of Ruoss et al. (2023) but not their
law, a sorted random choice of places, from which a model of this size learned nothing
in the steps that a CPU allows.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from sharp_attention._checks import check_integer

__all__ = ["fitted_places", "random_places"]

NARROWEST_GAP = 0.25
"""The smallest gap between neighbours in training; the largest is 1."""

PLAIN_SHARE = 0.85
"""The share of the texts in training whose gap is 1."""


def random_places(
    rng_key: Array, num_texts: int, length: int
) -> Float[Array, "num_texts length"]:
    """Give each text equal gaps of its own: 1 for most of them, else less.

    `PLAIN_SHARE` of the texts have gap 1.
    The rest are uniform between 1/4 and 1, so that a text of four times the length in
    training can be read without a place or a gap that training has not seen; see
    `fitted_places`.

    Parameters
    ----------
    rng_key : JAX random key
    num_texts, length : of the batch
    """
    choice_key, gap_key = jax.random.split(rng_key)
    shape = (num_texts, 1)
    is_plain = jax.random.bernoulli(choice_key, PLAIN_SHARE, shape)
    gaps = jax.random.uniform(gap_key, shape, minval=NARROWEST_GAP)
    return jnp.where(is_plain, 1.0, gaps) * jnp.arange(length)


def fitted_places(
    num_texts: int, length: int, span: int
) -> Float[Array, "num_texts length"]:
    """Give all texts gap 1, or where places would leave the span, the gap that fits.

    Parameters
    ----------
    num_texts, length : of the batch
    span : the length of the rows in training
    """
    check_integer("span", span, at_least=1)
    gap = min(1.0, span / length)
    return jnp.broadcast_to(gap * jnp.arange(length), (num_texts, length))
