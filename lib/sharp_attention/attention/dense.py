"""Attention as the formula says it, with the whole matrix of weights in memory.

The reference that the other implementations are held against, in any float type:
O(n²) memory, gradients by automatic differentiation.
"""

import functools

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from sharp_attention.attention import _rows
from sharp_attention.attention import entropy as entropies
from sharp_attention.attention.interface import (
    Settings,
    Statistics,
    pick_inverse_temperature,
    working_type,
)

__all__ = ["attend"]


@functools.partial(jax.jit, static_argnames="settings")
def attend(
    query: Float[Array, "batch queries heads dim"],
    key: Float[Array, "batch keys kv_heads dim"],
    value: Float[Array, "batch keys kv_heads value_dim"],
    mask: Bool[Array, "#batch #heads #queries #keys"] | None,
    settings: Settings,
) -> tuple[Float[Array, "batch queries heads value_dim"], Statistics | None]:
    """Attend with the whole matrix of weights; see `interface` for the contract."""
    logits = _logits(query, key, settings.scale)
    rows = _rows.prepare(logits, _visible(mask, logits.shape, settings.is_causal))
    sums = entropies.partial_statistics(rows.values, where=rows.mask)
    entropy = entropies.entropy_from_statistics(sums)
    beta = pick_inverse_temperature(entropy, settings)
    weights = _rows.normalise(beta[..., None] * rows.shifted, rows.mask)
    output = _mix(weights, value).astype(query.dtype)
    if not settings.return_statistics:
        return output, None
    return output, Statistics(entropy, beta, entropies.log_normaliser(sums))


def _logits(
    query: Float[Array, "batch queries heads dim"],
    key: Float[Array, "batch keys kv_heads dim"],
    scale: float,
) -> Float[Array, "batch heads queries keys"]:
    batch, queries, heads, dim = query.shape
    keys, kv_heads = key.shape[1:3]
    wide = working_type(query.dtype)
    products = jnp.einsum(
        "bqhgd,bkhd->bhgqk",
        query.reshape(batch, queries, kv_heads, heads // kv_heads, dim).astype(wide),
        key.astype(wide),
        precision=jax.lax.Precision.HIGHEST,
    )
    return scale * products.reshape(batch, heads, queries, keys)


def _visible(
    mask: Bool[Array, "#batch #heads #queries #keys"] | None,
    shape: tuple[int, ...],
    is_causal: bool,
) -> Bool[Array, "..."] | None:
    if not is_causal:
        return mask
    causal = jnp.tril(jnp.ones(shape[-2:], dtype=bool))
    return causal if mask is None else mask & causal


def _mix(
    weights: Float[Array, "batch heads queries keys"],
    value: Float[Array, "batch keys kv_heads value_dim"],
) -> Float[Array, "batch queries heads value_dim"]:
    batch, heads, queries, keys = weights.shape
    kv_heads, value_dim = value.shape[2:]
    output = jnp.einsum(
        "bhgqk,bkhd->bqhgd",
        weights.reshape(batch, kv_heads, heads // kv_heads, queries, keys),
        value.astype(weights.dtype),
        precision=jax.lax.Precision.HIGHEST,
    )
    return output.reshape(batch, queries, heads, value_dim)
