"""What the logits of a layer's heads are made of."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

__all__ = ["HeadVectors"]


class HeadVectors(eqx.Module):
    """Queries and keys of one layer: logits[h, i, j] = query[h, i]·key[h // g, j].

    They are kept instead of the logits, which take length / head_dim times the
    memory. g is the number of query heads that share a key head.

    Attributes
    ----------
    query : already rotated and divided by the square root of head_dim
    key : already rotated
    is_causal : whether query i sees only keys 0..i
    """

    query: Float[Array, "heads length head_dim"]
    key: Float[Array, "kv_heads length head_dim"]
    is_causal: bool = eqx.field(static=True)

    def visible(self) -> Bool[Array, "length length"]:
        """Which key (column) each query (row) sees."""
        square = jnp.ones((self.query.shape[1],) * 2, dtype=bool)
        return jnp.tril(square) if self.is_causal else square

    def logits(self) -> Float[Array, "heads length length"]:
        """Return the logits before softmax, −inf where a key is not seen."""
        kv_heads, length, head_dim = self.key.shape
        grouped = self.query.reshape(kv_heads, -1, length, head_dim)
        logits = jnp.einsum("kgqd,knd->kgqn", grouped, self.key)
        flat = logits.reshape(-1, length, length)
        return jnp.where(self.visible(), flat, -jnp.inf)
