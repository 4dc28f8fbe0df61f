"""Texts of single-location regression with their labels, and how to draw them.

What the two tasks of `single_location` have in common once their numbers are known:
tokens N(0, I) in R^{L x D}, one position that counts, and the label
y = X_position . v* / sqrt(D) + noise * xi with xi ~ N(0, 1).
"""

import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

__all__ = ["Samples", "draw_max", "draw_spiked", "draw_teachers"]


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Samples:
    """A batch of texts with their labels.

    Attributes
    ----------
    tokens : (samples, length, dim); 0 beyond the length of a text
    target : (samples,), with the label noise
    position : (samples,), of the token that counts, from 0
    length : (samples,), number of tokens of each text
    key, value : (dim,), the teachers k* and v*
    """

    tokens: Float[Array, "samples tokens dim"]
    target: Float[Array, " samples"]
    position: Int[Array, " samples"]
    length: Int[Array, " samples"]
    key: Float[Array, " dim"]
    value: Float[Array, " dim"]

    @property
    def mask(self) -> Bool[Array, "samples tokens"]:
        """Whether a place holds a token."""
        return jnp.arange(self.tokens.shape[1]) < self.length[:, None]


def draw_teachers(rng_key: Array, dim: int) -> tuple[Array, Array]:
    """Draw k* and v*: uniform directions, orthogonal, of norm sqrt(dim) to rounding.

    Parameters
    ----------
    rng_key : JAX random key
    dim : >= 2
    """
    key, value = jax.random.normal(rng_key, (2, dim))
    key = key / jnp.linalg.norm(key)
    # Once more: a single projection leaves the rounding of a large overlap behind.
    for _ in range(2):
        value = value - key * (key @ value)
        value = value / jnp.linalg.norm(value)
    return key * math.sqrt(dim), value * math.sqrt(dim)


@jax.jit(static_argnames="num_tokens")
def draw_spiked(
    rng_key: Array,
    signal: Float[Array, ""],
    noise: Float[Array, ""],
    length: Int[Array, " samples"],
    key: Float[Array, " dim"],
    value: Float[Array, " dim"],
    num_tokens: int,
) -> Samples:
    """Draw texts whose token at a uniform position is shifted along the key.

    Parameters
    ----------
    rng_key : JAX random key
    signal, noise : of the task; the signal is finite
    length : number of tokens of each text, at most `num_tokens`
    key, value : the teachers k* and v*
    num_tokens : places for tokens
    """
    token_key, position_key, label_key = jax.random.split(rng_key, 3)
    tokens = _draw_tokens(token_key, length, key, num_tokens)
    position = jax.random.randint(position_key, length.shape, 0, length)
    shift = jnp.sqrt(signal / key.size) * key
    tokens = tokens.at[jnp.arange(length.size), position].add(shift)
    return _label(label_key, tokens, position, length, key, value, noise)


@jax.jit(static_argnames="num_tokens")
def draw_max(
    rng_key: Array,
    signal: Float[Array, ""],
    noise: Float[Array, ""],
    length: Int[Array, " samples"],
    key: Float[Array, " dim"],
    value: Float[Array, " dim"],
    num_tokens: int,
) -> Samples:
    """Draw texts whose position is drawn from softmax(signal * score).

    Parameters are those of `draw_spiked`; the signal may be infinite.
    """
    token_key, position_key, label_key = jax.random.split(rng_key, 3)
    tokens = _draw_tokens(token_key, length, key, num_tokens)
    scores = tokens @ key / math.sqrt(key.size)
    # The largest of score + Gumbel / nu is a draw from softmax(nu * score); at
    # nu = 0 only the Gumbel variable counts.
    gumbel = jax.random.gumbel(position_key, scores.shape, scores.dtype)
    finite = jnp.where(jnp.isinf(signal), 1.0, signal)
    logits = jnp.where(jnp.isinf(signal), scores, finite * scores + gumbel)
    is_token = jnp.arange(num_tokens) < length[:, None]
    position = jnp.argmax(jnp.where(is_token, logits, -jnp.inf), axis=-1)
    return _label(label_key, tokens, position, length, key, value, noise)


def _draw_tokens(
    rng_key: Array,
    length: Int[Array, " samples"],
    key: Float[Array, " dim"],
    num_tokens: int,
) -> Float[Array, "samples tokens dim"]:
    shape = (length.size, num_tokens, key.size)
    tokens = jax.random.normal(rng_key, shape, key.dtype)
    is_token = jnp.arange(num_tokens) < length[:, None]
    return jnp.where(is_token[..., None], tokens, 0)


def _label(
    rng_key: Array,
    tokens: Float[Array, "samples tokens dim"],
    position: Int[Array, " samples"],
    length: Int[Array, " samples"],
    key: Float[Array, " dim"],
    value: Float[Array, " dim"],
    noise: Float[Array, ""],
) -> Samples:
    chosen = jnp.take_along_axis(tokens, position[:, None, None], axis=1)[:, 0]
    error = noise * jax.random.normal(rng_key, position.shape, value.dtype)
    target = chosen @ value / math.sqrt(value.size) + error
    position, length = position.astype(int), length.astype(int)
    return Samples(tokens, target, position, length, key, value)
