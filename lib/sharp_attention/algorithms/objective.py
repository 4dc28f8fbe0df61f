"""The regularised empirical risk of a head on given texts, and its gradient.

    E(k, v) = sum over samples of (y - sigma(x.k / sqrt(D)).(x.v / sqrt(D)))^2 / 2
              + r_k |k|^2 / 2 + r_v |v|^2 / 2.

The texts may be single precision; a head, its sums and its gradient are double. Texts
are read once per evaluation, block by block: each block is multiplied forwards and
backwards while it lies in the cache.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float

from sharp_attention._checks import check_choice
from sharp_attention.attention import activations

__all__ = [
    "ACTIVATIONS",
    "Data",
    "Head",
    "Penalty",
    "attention_weights",
    "loss_and_gradient",
    "objective",
]

ACTIVATIONS = ("softmax", "linear", "erf", "softplus")

# Bytes of texts in a block: half of a typical second-level cache.
_BLOCK_BYTES = 2**19


class Head(NamedTuple):
    """Key k and value v, each (dim,)."""

    key: Float[Array, " dim"]
    value: Float[Array, " dim"]


class Data(NamedTuple):
    """Texts with their labels, see `tasks.single_location.Samples`."""

    tokens: Float[Array, "samples tokens dim"]
    target: Float[Array, " samples"]
    mask: Bool[Array, "samples tokens"]


class Penalty(NamedTuple):
    """Ridges r_k and r_v."""

    key: Float[Array, ""]
    value: Float[Array, ""]


def attention_weights(
    activation: str,
    logits: Float[Array, "samples tokens"],
    mask: Bool[Array, "samples tokens"] | None,
    offset: float = 0.0,
) -> Float[Array, "samples tokens"]:
    """Weights of the named activation; `offset` is added to the logits of erf.

    Raises
    ------
    ValueError
        If the name is unknown.
    """
    check_choice("activation", activation, ACTIVATIONS)
    if activation == "erf":
        return activations.erf(logits, offset=offset, where=mask)
    return getattr(activations, activation)(logits, where=mask)


def loss_and_gradient(
    head: Head, data: Data, *, activation: str, offset: float
) -> tuple[Float[Array, ""], Head]:
    """Half the sum of the squared errors, and its gradient; reads the texts once."""
    num_samples, length, dim = data.tokens.shape
    scale = dim**-0.5
    vectors = jnp.stack(head).astype(data.tokens.dtype)
    block = _block_size(data.tokens)

    def read(index: Array, total: tuple) -> tuple:
        # The last block starts early to be full; what was read before counts 0.
        first = jnp.minimum(index * block, num_samples - block)
        tokens, target, mask = (lax.dynamic_slice_in_dim(x, first, block) for x in data)
        is_new = first + jnp.arange(block) >= index * block
        rows = tokens.reshape(-1, dim)
        fields = (rows @ vectors.T).astype(head.key.dtype) * scale

        def loss(fields: Float[Array, "rows 2"]) -> Float[Array, ""]:
            logits, values = fields.T.reshape(2, block, length)
            weights = attention_weights(activation, logits, mask, offset)
            error = target - jnp.sum(weights * values, axis=-1)
            return jnp.sum(jnp.where(is_new, error**2, 0)) / 2

        value, slope = jax.value_and_grad(loss)(fields)
        gradient = (slope.T.astype(tokens.dtype) @ rows).astype(head.key.dtype) * scale
        return total[0] + value, total[1] + gradient

    zero = jnp.zeros((), head.key.dtype), jnp.zeros((2, dim), head.key.dtype)
    num_blocks = -(-num_samples // block)
    value, gradient = lax.fori_loop(0, num_blocks, read, zero)
    return value, Head(*gradient)


@partial(jax.custom_vjp, nondiff_argnums=(3, 4))
def objective(
    head: Head, data: Data, penalty: Penalty, activation: str, offset: float
) -> Float[Array, ""]:
    """E(k, v); its gradient comes out of the same pass over the texts."""
    return _forward(head, data, penalty, activation, offset)[0]


def _forward(
    head: Head, data: Data, penalty: Penalty, activation: str, offset: float
) -> tuple[Float[Array, ""], Head]:
    loss, gradient = loss_and_gradient(head, data, activation=activation, offset=offset)
    for vector, ridge in zip(head, penalty, strict=True):
        loss += ridge * (vector @ vector) / 2
    pairs = zip(gradient, head, penalty, strict=True)
    return loss, Head(*(slope + ridge * vector for slope, vector, ridge in pairs))


def _backward(activation: str, offset: float, gradient: Head, factor: Array) -> tuple:
    return Head(*(factor * vector for vector in gradient)), None, None


objective.defvjp(_forward, _backward)


def _block_size(tokens: Float[Array, "samples tokens dim"]) -> int:
    num_samples, length, dim = tokens.shape
    if tokens.size and jax.default_backend() != "cpu":
        return num_samples
    return max(1, min(num_samples, _BLOCK_BYTES // (length * dim * tokens.itemsize)))
