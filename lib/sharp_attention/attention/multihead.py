"""Adaptive temperature in a model that uses equinox: wrap its attention layers.

``equinox.nn.MultiheadAttention`` stays as it is and keeps its parameters, so trained
weights can be wrapped, and unwrapped again.
"""

from collections.abc import Callable
from typing import cast

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from sharp_attention._checks import require
from sharp_attention.attention.dispatch import attend

__all__ = ["SharpMultiheadAttention"]


class SharpMultiheadAttention(eqx.Module):
    """A multi-head attention layer whose heads go through `attend`.

    Called like the layer that it wraps: ``(query, key_, value, mask)`` of shapes
    (queries, query_size), (keys, key_size), (keys, value_size), and (queries, keys) or
    (heads, queries, keys); returns (queries, output_size).

    Attributes
    ----------
    attention : the layer, with its projections
    weights : "adaptive" or "softmax", as for `attend`
    is_causal, implementation, through_entropy : as for `attend`
    """

    attention: eqx.nn.MultiheadAttention
    weights: str = eqx.field(static=True, default="adaptive")
    is_causal: bool = eqx.field(static=True, default=False)
    implementation: str | None = eqx.field(static=True, default=None)
    through_entropy: bool = eqx.field(static=True, default=False)

    def __call__(
        self,
        query: Float[Array, "queries query_size"],
        key_: Float[Array, "keys key_size"],
        value: Float[Array, "keys value_size"],
        mask: Bool[Array, "queries keys"]
        | Bool[Array, "heads queries keys"]
        | None = None,
        *,
        key: Array | None = None,
        inference: bool | None = None,
        process_heads: Callable[..., tuple[Array, Array, Array]] | None = None,
    ) -> Float[Array, "queries output_size"]:
        """Attend.

        Parameters
        ----------
        query, key_, value, mask : see the class
        key : for random numbers; unused, there is no dropout
        inference : True also where the wrapped layer would drop weights in training
        process_heads : changes the projected heads, for rotary embeddings

        Raises
        ------
        ValueError
            If the wrapped layer would drop weights here.
        """
        dropout = self.attention.dropout
        drops = dropout.p > 0 and not (
            dropout.inference if inference is None else inference
        )
        require(not drops, "attention.dropout", "0 outside inference", dropout.p)
        heads = (
            self._heads(self.attention.query_proj, query),
            self._heads(self.attention.key_proj, key_),
            self._heads(self.attention.value_proj, value),
        )
        if process_heads is not None:
            heads = process_heads(*heads)
        mixed = attend(
            *(array[None] for array in heads),
            mask=mask,
            weights=self.weights,
            is_causal=self.is_causal,
            implementation=self.implementation,
            through_entropy=self.through_entropy,
        )
        by_query = jnp.reshape(cast(Array, mixed), (len(query), -1))
        return jax.vmap(self.attention.output_proj)(by_query)

    def _heads(
        self, projection: eqx.nn.Linear, tokens: Float[Array, "length size"]
    ) -> Float[Array, "length heads head_size"]:
        projected = jax.vmap(projection)(tokens)
        return jnp.reshape(projected, (len(tokens), self.attention.num_heads, -1))
