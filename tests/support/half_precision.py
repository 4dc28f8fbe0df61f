"""Attention in half precision: inputs, and a library's attention for CPUs."""

import jax
import jax.numpy as jnp
import numpy as np

from sharp_attention.attention import dense
from sharp_attention.attention.interface import Settings

__all__ = ["OUTPUT_GATE", "double_precision", "draw", "library_attention", "settings"]

# What bfloat16 may do to an output; half a unit in the last place of 4 is 8e-3.
OUTPUT_GATE = 2e-2


def draw(
    queries, keys=None, *, heads=1, kv_heads=1, dim=64, query_scale=4, dtype="bfloat16"
):
    """Gaussian queries times a scale, keys and values, rounded to `dtype`."""
    keys = keys or queries
    rng = np.random.default_rng(queries + keys)
    shapes = (queries, heads), (keys, kv_heads), (keys, kv_heads)
    query, key, value = (rng.standard_normal((1, *shape, dim)) for shape in shapes)
    return [jnp.asarray(x, dtype) for x in (query_scale * query, key, value)]


def settings(dim, **changes):
    """Adaptive attention with statistics, through the entropy, but for `changes`."""
    usual = {"is_adaptive": True, "return_statistics": True, "through_entropy": True}
    return Settings(scale=dim**-0.5, **(usual | changes))


def library_attention(query, key, value, *, scale, is_causal=False):
    """What cuDNN computes: weights rounded to the type of the input, sums not."""
    group = query.shape[2] // key.shape[2]
    key, value = (jnp.repeat(x, group, axis=2) for x in (key, value))
    wide = (x.astype(jnp.float32) for x in (query, key))
    logits = scale * jnp.einsum("bqhd,bkhd->bhqk", *wide)
    if is_causal:
        logits = jnp.where(jnp.tri(*logits.shape[2:], dtype=bool), logits, -jnp.inf)
    maximum = jax.lax.stop_gradient(logits.max(axis=-1, keepdims=True))
    weights = jnp.exp(logits - maximum)
    rounded, value = (x.astype(query.dtype).astype("float32") for x in (weights, value))
    output = jnp.einsum("bhqk,bkhd->bqhd", rounded, value)
    sums = jnp.swapaxes(weights.sum(axis=-1), 1, 2)[..., None]
    return (output / sums).astype(query.dtype)


def double_precision(inputs, chosen):
    """Output and statistics of the dense implementation on the same rounded inputs."""
    with jax.enable_x64(True):
        wide = [x.astype(jnp.float64) for x in inputs]
        return jax.tree.map(np.asarray, dense.attend(*wide, None, chosen))
