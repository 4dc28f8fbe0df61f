"""The parts that transformers share: norms and attention over several heads."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from sharp_attention.attention import attend
from sharp_attention.models.pretrained.vectors import HeadVectors

__all__ = ["Affine", "attended", "layer_norm", "rms_norm", "split_heads"]


class Affine(eqx.Module):
    """x -> W x + b, the weights as checkpoints hold them."""

    weight: Float[Array, "out into"]
    bias: Float[Array, " out"]

    def __call__(self, features: Float[Array, "length into"]) -> Array:
        """Map each row."""
        return features @ self.weight.T + self.bias


def rms_norm(
    features: Float[Array, "length width"], gain: Float[Array, " width"], epsilon: float
) -> Float[Array, "length width"]:
    """Divide each row by its root mean square, then multiply by the gain."""
    mean_square = jnp.mean(features**2, axis=-1, keepdims=True)
    return gain * features / jnp.sqrt(mean_square + epsilon)


def layer_norm(
    features: Float[Array, "length width"],
    gain: Float[Array, " width"],
    bias: Float[Array, " width"],
    epsilon: float,
) -> Float[Array, "length width"]:
    """Bring each row to mean 0 and variance 1, then apply gain and bias."""
    centred = features - jnp.mean(features, axis=-1, keepdims=True)
    variance = jnp.mean(centred**2, axis=-1, keepdims=True)
    return gain * centred / jnp.sqrt(variance + epsilon) + bias


def split_heads(
    features: Float[Array, "length width"], num_heads: int
) -> Float[Array, "heads length head_dim"]:
    """Cut each row into the parts that belong to the heads."""
    return jnp.moveaxis(features.reshape(len(features), num_heads, -1), 1, 0)


def attended(
    vectors: HeadVectors, value: Float[Array, "kv_heads length head_dim"], weights: str
) -> Float[Array, "length width"]:
    """Average the values by the heads' weights and put the heads side by side.

    Parameters
    ----------
    vectors : queries and keys
    value : of the key heads
    weights : "softmax" or "adaptive"
    """
    query, key, values = (
        jnp.moveaxis(array, 0, 1)[None] for array in (vectors.query, vectors.key, value)
    )
    output = attend(
        query, key, values, weights=weights, is_causal=vectors.is_causal, scale=1.0
    )
    assert isinstance(output, jax.Array)  # no statistics were asked for
    return output.reshape(output.shape[1], -1)
