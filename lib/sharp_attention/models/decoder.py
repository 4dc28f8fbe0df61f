"""A small decoder that reads characters: rotary places, RMSNorm, attention by `attend`.

The model of the CLRS-Text experiment, trained from scratch: a stand-in for the
fine-tuned Gemma 2B of "Softmax is not Enough" (arXiv 2410.01104), with the same kind
of places and norms, four orders of magnitude smaller.
The rule of the attention weights is an argument of the call and no part of the
parameters, so that one set of weights can be read under either rule.

Notation
--------
x ← x + O concat_h attend(Q_h norm(x), K_h norm(x), V_h norm(x))      each block
x ← x + W2 gelu(W1 norm(x))
logits = U norm(x)
norm(x) = g · x / sqrt(mean(x²) + 1e-6)

Queries and keys are turned by angles that grow with the place of a character (RoPE).
Places are data, see `sharp_attention.models.places`.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from sharp_attention._checks import check_integer, require
from sharp_attention.attention import attend
from sharp_attention.attention.activations import softmax
from sharp_attention.attention.temperature import adaptive_softmax
from sharp_attention.models.positions import rotate_at

__all__ = ["Block", "Decoder", "HeadStatistics"]

_TINY = 1e-6

RULES: dict[str, Callable[..., Array]] = {
    "softmax": softmax,
    "adaptive": adaptive_softmax,
}
"""The maps from logits to weights, by the names that `attend` knows them by."""


class HeadStatistics(NamedTuple):
    """What the heads do, text by text and layer by layer.

    Attributes
    ----------
    entropy : nats, of the weights that were used
    spread : largest minus smallest visible logit, before any temperature
    top_weight : the largest of the weights that were used
    """

    entropy: Float[Array, "*layers batch heads queries"]
    spread: Float[Array, "*layers batch heads queries"]
    top_weight: Float[Array, "*layers batch heads queries"]


class Block(eqx.Module):
    """Attention and a feed-forward map, each behind a norm and beside a shortcut."""

    attention_norm: Float[Array, " dim"]
    query_map: Float[Array, "dim dim"]
    key_map: Float[Array, "dim dim"]
    value_map: Float[Array, "dim dim"]
    output_map: Float[Array, "dim dim"]
    hidden_norm: Float[Array, " dim"]
    inner: Float[Array, "dim hidden"]
    outer: Float[Array, "hidden dim"]
    num_heads: int = eqx.field(static=True)

    @classmethod
    def initialise(cls, rng_key: Array, dim: int, num_heads: int) -> "Block":
        """Draw the matrices normal with variance one over the fan-in."""
        keys = jax.random.split(rng_key, 6)
        hidden = 4 * dim
        return cls(
            attention_norm=jnp.ones(dim),
            query_map=_normal(keys[0], (dim, dim)),
            key_map=_normal(keys[1], (dim, dim)),
            value_map=_normal(keys[2], (dim, dim)),
            output_map=_normal(keys[3], (dim, dim)),
            hidden_norm=jnp.ones(dim),
            inner=_normal(keys[4], (dim, hidden)),
            outer=_normal(keys[5], (hidden, dim)),
            num_heads=num_heads,
        )

    def __call__(
        self,
        x: Float[Array, "batch length dim"],
        places: Float[Array, "batch length"],
        where: Bool[Array, "batch length"],
        num_queries: int,
        weights: str,
    ) -> Float[Array, "batch queries dim"]:
        """Return the stream at the last queries."""
        query, key, value = self.heads(x, places, num_queries)
        # Causal where all ask; an explicit mask of the last rows is dearer.
        is_whole = num_queries == x.shape[1]
        mask = where[:, None, None, :]
        attended = attend(
            query,
            key,
            value,
            weights=weights,
            is_causal=is_whole,
            mask=mask if is_whole else visible(where, num_queries),
        )
        assert isinstance(attended, jax.Array)  # no statistics were asked for
        stream = x[:, x.shape[1] - num_queries :]
        stream = stream + attended.reshape(stream.shape) @ self.output_map
        hidden = jax.nn.gelu(_norm(stream, self.hidden_norm) @ self.inner)
        return stream + hidden @ self.outer

    def watch(
        self,
        x: Float[Array, "batch length dim"],
        places: Float[Array, "batch length"],
        where: Bool[Array, "batch length"],
        num_queries: int,
        weights: str,
    ) -> HeadStatistics:
        """Say what each head does at the last queries: one layer, without its axis."""
        query, key, _ = self.heads(x, places, num_queries)
        logits = jnp.einsum("bqhd,bkhd->bhqk", query, key) / query.shape[-1] ** 0.5
        mask = jnp.broadcast_to(visible(where, num_queries), logits.shape)
        used = RULES[weights](logits, where=mask)
        surprise = -jnp.log(jnp.where(used > 0, used, 1.0))
        largest = jnp.max(logits, axis=-1, initial=-jnp.inf, where=mask)
        smallest = jnp.min(logits, axis=-1, initial=jnp.inf, where=mask)
        return HeadStatistics(
            entropy=jnp.sum(used * surprise, axis=-1),
            spread=largest - smallest,
            top_weight=jnp.max(used, axis=-1),
        )

    def heads(
        self,
        x: Float[Array, "batch length dim"],
        places: Float[Array, "batch length"],
        num_queries: int,
    ) -> tuple[Array, Array, Array]:
        """Give queries (of the last places), keys and values, head by head."""
        batch, length, dim = x.shape
        split = (batch, -1, self.num_heads, dim // self.num_heads)
        normed = _norm(x, self.attention_norm)
        asking = slice(length - num_queries, length)
        query = (normed[:, asking] @ self.query_map).reshape(split)
        key = (normed @ self.key_map).reshape(split)
        value = (normed @ self.value_map).reshape(split)
        return rotate_at(query, places[:, asking]), rotate_at(key, places), value


class Decoder(eqx.Module):
    """The model; call it for the logits of the next characters."""

    embedding: Float[Array, "characters dim"]
    blocks: tuple[Block, ...]
    norm: Float[Array, " dim"]
    readout: Float[Array, "dim characters"]

    @classmethod
    def initialise(
        cls,
        rng_key: Array,
        *,
        num_characters: int,
        dim: int = 64,
        num_layers: int = 2,
        num_heads: int = 4,
    ) -> "Decoder":
        """Draw a model.

        Raises
        ------
        TypeError, ValueError
            If a size is not an integer >= 1, or `dim` is not `num_heads` times an
            even number.
        """
        sizes = {
            "num_characters": num_characters,
            "dim": dim,
            "num_layers": num_layers,
            "num_heads": num_heads,
        }
        for name, size in sizes.items():
            check_integer(name, size, at_least=1)
        rule = f"a multiple of 2 · num_heads = {2 * num_heads}"
        require(dim % (2 * num_heads) == 0, "dim", rule, dim)
        keys = jax.random.split(rng_key, num_layers + 2)
        return cls(
            jax.random.normal(keys[0], (num_characters, dim)),
            tuple(Block.initialise(key, dim, num_heads) for key in keys[2:]),
            jnp.ones(dim),
            _normal(keys[1], (dim, num_characters)),
        )

    def __call__(
        self,
        characters: Int[Array, "batch length"],
        places: Float[Array, "batch length"],
        where: Bool[Array, "batch length"],
        *,
        num_queries: int,
        weights: str = "softmax",
    ) -> Float[Array, "batch queries characters"]:
        """Give the logits of what follows each of the last characters.

        Only the last block can be spared the other places, and is.

        Parameters
        ----------
        characters : numbers of the characters, right-aligned
        places : of the characters, growing along each row
        where : False for the padding on the left
        num_queries : for how many of the last places the logits are wanted
        weights : "softmax" or "adaptive", in every head
        """
        stream = self._embed(characters)
        for layer, block in enumerate(self.blocks):
            asking = self._asking(layer, characters.shape[1], num_queries)
            stream = block(stream, places, where, asking, weights)
        return _norm(stream, self.norm) @ self.readout

    def watch(
        self,
        characters: Int[Array, "batch length"],
        places: Float[Array, "batch length"],
        where: Bool[Array, "batch length"],
        *,
        num_queries: int,
        weights: str = "softmax",
    ) -> HeadStatistics:
        """Say what each head does at the last characters; arguments as of the call."""
        stream, seen = self._embed(characters), []
        for layer, block in enumerate(self.blocks):
            seen.append(block.watch(stream, places, where, num_queries, weights))
            asking = self._asking(layer, characters.shape[1], num_queries)
            stream = block(stream, places, where, asking, weights)
        return jax.tree.map(lambda *layers: jnp.stack(layers), *seen)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Give all parameters by name, ready to be written to a file."""
        leaves, _ = jax.tree_util.tree_flatten_with_path(self)
        return {
            jax.tree_util.keystr(path, simple=True, separator="."): np.asarray(leaf)
            for path, leaf in leaves
        }

    def from_arrays(self, arrays: Mapping[str, np.ndarray]) -> "Decoder":
        """Give a model of this architecture with the parameters of `to_arrays`.

        Raises
        ------
        ValueError
            If a parameter is missing, unknown or of another shape.
        """
        wanted = {name: array.shape for name, array in self.to_arrays().items()}
        found = {name: np.shape(array) for name, array in arrays.items()}
        require(found == wanted, "arrays", f"of shapes {wanted}", found)
        leaves = [jnp.asarray(arrays[name]) for name in wanted]
        return jax.tree_util.tree_unflatten(jax.tree_util.tree_structure(self), leaves)

    def _embed(
        self, characters: Int[Array, "batch length"]
    ) -> Float[Array, "batch length dim"]:
        # As a product, since the gradient of a look-up is slow on CPUs.
        return jax.nn.one_hot(characters, len(self.embedding)) @ self.embedding

    def _asking(self, layer: int, length: int, num_queries: int) -> int:
        return num_queries if layer == len(self.blocks) - 1 else length


def visible(
    where: Bool[Array, "batch length"], num_queries: int
) -> Bool[Array, "batch 1 queries length"]:
    """Say which characters each of the last ones sees: itself and those before it."""
    length = where.shape[1]
    query = jnp.arange(length - num_queries, length)[:, None]
    return (jnp.arange(length) <= query) & where[:, None, None, :]


def _norm(
    x: Float[Array, "... dim"], gain: Float[Array, " dim"]
) -> Float[Array, "... dim"]:
    mean_square = jnp.mean(x * x, axis=-1, keepdims=True)
    return gain * x * jax.lax.rsqrt(mean_square + _TINY)


def _normal(rng_key: Array, shape: tuple[int, int]) -> Array:
    return jax.random.normal(rng_key, shape) * shape[0] ** -0.5
