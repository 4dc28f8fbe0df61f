"""What the rows of real heads look like, from their queries and keys.

Statistics of a row are taken over the keys that its query sees, once with all of them
and once without the first token, on which many heads rest when they have nothing to
say.  Everything is computed from logits: exp(spread) overflows float32 beyond 88.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from sharp_attention.attention.entropy import (
    entropy_from_statistics,
    log_normaliser,
    partial_statistics,
)
from sharp_attention.models.pretrained import HeadVectors

__all__ = ["RowStatistics", "row_statistics"]


class RowStatistics(NamedTuple):
    """Statistics of each row of weights; a row is a query.

    Attributes
    ----------
    largest, smallest : logits
    max_weight : largest weight
    entropy : of the weights, nats
    first_weight : weight of the first token
    spread_rest, max_weight_rest, entropy_rest : without the first token, the weights
        of the others scaled to add up to 1
    """

    largest: Float[Array, "heads rows"]
    smallest: Float[Array, "heads rows"]
    max_weight: Float[Array, "heads rows"]
    entropy: Float[Array, "heads rows"]
    first_weight: Float[Array, "heads rows"]
    spread_rest: Float[Array, "heads rows"]
    max_weight_rest: Float[Array, "heads rows"]
    entropy_rest: Float[Array, "heads rows"]


@jax.jit
def row_statistics(vectors: HeadVectors) -> RowStatistics:
    """Watch every row of every head of a layer, a head at a time.

    A row that sees no token but the first has NaN where the others are described.
    """
    visible = vectors.visible()
    group = len(vectors.query) // len(vectors.key)

    def watch(head: Array) -> RowStatistics:
        logits = vectors.query[head] @ vectors.key[head // group].T
        rest = visible.at[:, 0].set(False)
        everything = partial_statistics(logits, where=visible)
        others = partial_statistics(logits, where=rest)
        has_others = others.normaliser > 0
        smallest_rest = jnp.min(logits, axis=-1, where=rest, initial=jnp.inf)
        return RowStatistics(
            largest=everything.maximum,
            smallest=jnp.min(logits, axis=-1, where=visible, initial=jnp.inf),
            max_weight=1 / everything.normaliser,
            entropy=entropy_from_statistics(everything),
            first_weight=jnp.exp(logits[:, 0] - log_normaliser(everything)),
            spread_rest=jnp.where(has_others, others.maximum - smallest_rest, jnp.nan),
            max_weight_rest=jnp.where(has_others, 1 / others.normaliser, jnp.nan),
            entropy_rest=jnp.where(
                has_others, entropy_from_statistics(others), jnp.nan
            ),
        )

    return jax.lax.map(watch, jnp.arange(len(vectors.query)))
