"""A BERT encoder: learned positions, every token sees every token, norms after.

Each block is norm(x + O attention(x)), then norm(x + outer(gelu(inner(x)))).
"""

from collections.abc import Callable, Mapping
from typing import TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from sharp_attention._checks import require
from sharp_attention.models.pretrained.layers import (
    Affine,
    attended,
    layer_norm,
    split_heads,
)
from sharp_attention.models.pretrained.vectors import HeadVectors

__all__ = ["Encoder", "EncoderSettings"]

Result = TypeVar("Result")


class EncoderSettings(eqx.Module):
    """The numbers that the weights don't tell."""

    num_layers: int = eqx.field(static=True)
    num_heads: int = eqx.field(static=True)
    epsilon: float = eqx.field(static=True)


class Norm(eqx.Module):
    """A layer norm with its gain and bias."""

    gain: Float[Array, " width"]
    bias: Float[Array, " width"]
    epsilon: float = eqx.field(static=True)

    def __call__(self, features: Float[Array, "length width"]) -> Array:
        """Normalise each row."""
        return layer_norm(features, self.gain, self.bias, self.epsilon)


class EncoderBlock(eqx.Module):
    """One layer."""

    query: Affine
    key: Affine
    value: Affine
    output: Affine
    inner: Affine
    outer: Affine
    attention_norm: Norm
    mlp_norm: Norm
    num_heads: int = eqx.field(static=True)

    @eqx.filter_jit
    def __call__(
        self, features: Float[Array, "length width"], weights: str
    ) -> tuple[Float[Array, "length width"], HeadVectors]:
        """Return the next features and what the heads compared."""
        query, key, value = (
            split_heads(project(features), self.num_heads)
            for project in (self.query, self.key, self.value)
        )
        vectors = HeadVectors(query / query.shape[-1] ** 0.5, key, is_causal=False)
        answer = self.output(attended(vectors, value, weights))
        middle = self.attention_norm(features + answer)
        hidden = jax.nn.gelu(self.inner(middle), approximate=False)
        return self.mlp_norm(middle + self.outer(hidden)), vectors


class Encoder(eqx.Module):
    """Embeddings of tokens and places, blocks."""

    tokens: Float[Array, "vocabulary width"]
    places: Float[Array, "max_length width"]
    norm: Norm
    blocks: tuple[EncoderBlock, ...]

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, np.ndarray], settings: EncoderSettings
    ) -> "Encoder":
        """Build the encoder from float arrays under the names of BERT checkpoints.

        Raises
        ------
        ValueError
            If an array is missing.
        """

        def take(name: str) -> Array:
            require(name in arrays, "weights", f"with a tensor {name!r}", len(arrays))
            return jnp.asarray(arrays[name])

        def norm(name: str) -> Norm:
            return Norm(take(f"{name}.weight"), take(f"{name}.bias"), settings.epsilon)

        def block(prefix: str) -> EncoderBlock:
            def affine(name: str) -> Affine:
                full = f"{prefix}.{name}"
                return Affine(take(f"{full}.weight"), take(f"{full}.bias"))

            return EncoderBlock(
                query=affine("attention.self.query"),
                key=affine("attention.self.key"),
                value=affine("attention.self.value"),
                output=affine("attention.output.dense"),
                inner=affine("intermediate.dense"),
                outer=affine("output.dense"),
                attention_norm=norm(f"{prefix}.attention.output.LayerNorm"),
                mlp_norm=norm(f"{prefix}.output.LayerNorm"),
                num_heads=settings.num_heads,
            )

        kinds = take("embeddings.token_type_embeddings.weight")
        return cls(
            tokens=take("embeddings.word_embeddings.weight"),
            # A single text is of kind 0 throughout.
            places=take("embeddings.position_embeddings.weight") + kinds[0],
            norm=norm("embeddings.LayerNorm"),
            blocks=tuple(
                block(f"encoder.layer.{n}") for n in range(settings.num_layers)
            ),
        )

    @property
    def vocabulary_size(self) -> int:
        """Number of tokens that it knows."""
        return len(self.tokens)

    @property
    def max_length(self) -> int:
        """Longest row of tokens that it has places for."""
        return len(self.places)

    def visit(
        self,
        tokens: Int[np.ndarray, " length"],
        watch: Callable[[HeadVectors], Result],
        weights: str = "softmax",
    ) -> tuple[Float[Array, "length width"], list[Result]]:
        """Run all blocks; return the final features and what `watch` made of each."""
        features = self.norm(self.tokens[tokens] + self.places[: len(tokens)])
        seen = []
        for block in self.blocks:
            features, vectors = block(features, weights)
            seen.append(watch(vectors))
        return features, seen
