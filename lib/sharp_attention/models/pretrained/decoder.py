"""A Llama-style decoder: RMS norms, rotary positions, grouped heads, gated MLP.

Each block is x + O attention(norm x), then x + down(silu(gate(norm x)) · up(norm x)).
"""

from collections.abc import Callable, Mapping
from typing import TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from sharp_attention._checks import require
from sharp_attention.models.positions import rotate
from sharp_attention.models.pretrained.layers import attended, rms_norm, split_heads
from sharp_attention.models.pretrained.vectors import HeadVectors

__all__ = ["Decoder", "DecoderSettings"]

Result = TypeVar("Result")

_BLOCK_ARRAYS = {
    "attention_norm": "attn_norm",
    "query": "attn_q",
    "key": "attn_k",
    "value": "attn_v",
    "output": "attn_output",
    "mlp_norm": "ffn_norm",
    "gate": "ffn_gate",
    "up": "ffn_up",
    "down": "ffn_down",
}
"""Our names and those of GGUF files."""


class DecoderSettings(eqx.Module):
    """The numbers that the weights don't tell."""

    num_layers: int = eqx.field(static=True)
    num_heads: int = eqx.field(static=True)
    num_kv_heads: int = eqx.field(static=True)
    rotary_base: float = eqx.field(static=True)
    epsilon: float = eqx.field(static=True)
    max_length: int = eqx.field(static=True)


class DecoderBlock(eqx.Module):
    """One layer."""

    attention_norm: Float[Array, " width"]
    query: Float[Array, "inner width"]
    key: Float[Array, "kv_inner width"]
    value: Float[Array, "kv_inner width"]
    output: Float[Array, "width inner"]
    mlp_norm: Float[Array, " width"]
    gate: Float[Array, "hidden width"]
    up: Float[Array, "hidden width"]
    down: Float[Array, "width hidden"]
    settings: DecoderSettings

    @eqx.filter_jit
    def __call__(
        self, features: Float[Array, "length width"], weights: str
    ) -> tuple[Float[Array, "length width"], HeadVectors]:
        """Return the next features and what the heads compared."""
        chosen = self.settings
        normal = rms_norm(features, self.attention_norm, chosen.epsilon)
        query = split_heads(normal @ self.query.T, chosen.num_heads)
        key = split_heads(normal @ self.key.T, chosen.num_kv_heads)
        value = split_heads(normal @ self.value.T, chosen.num_kv_heads)
        query, key = (rotate(rows, base=chosen.rotary_base) for rows in (query, key))
        vectors = HeadVectors(query / query.shape[-1] ** 0.5, key, is_causal=True)
        middle = features + attended(vectors, value, weights) @ self.output.T
        normal = rms_norm(middle, self.mlp_norm, chosen.epsilon)
        hidden = jax.nn.silu(normal @ self.gate.T) * (normal @ self.up.T)
        return middle + hidden @ self.down.T, vectors


class Decoder(eqx.Module):
    """Embedding, blocks, norm; the embedding also gives the next token's logits."""

    embedding: Float[Array, "vocabulary width"]
    blocks: tuple[DecoderBlock, ...]
    norm: Float[Array, " width"]
    settings: DecoderSettings

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, np.ndarray], settings: DecoderSettings
    ) -> "Decoder":
        """Build the decoder from float arrays under the names of GGUF files.

        Queries and keys are expected with the halves of a rotated pair
        head_dim / 2 apart, as `gguf_file` leaves them.

        Raises
        ------
        ValueError
            If an array is missing.
        """

        def take(name: str) -> Array:
            full = f"{name}.weight"
            require(full in arrays, "weights", f"with a tensor {full!r}", len(arrays))
            return jnp.asarray(arrays[full])

        def block(number: int) -> DecoderBlock:
            parts = {o: take(f"blk.{number}.{n}") for o, n in _BLOCK_ARRAYS.items()}
            return DecoderBlock(**parts, settings=settings)

        blocks = tuple(block(number) for number in range(settings.num_layers))
        return cls(take("token_embd"), blocks, take("output_norm"), settings)

    @property
    def vocabulary_size(self) -> int:
        """Number of tokens that it knows."""
        return len(self.embedding)

    @property
    def max_length(self) -> int:
        """Longest row of tokens that it was made for."""
        return self.settings.max_length

    def visit(
        self,
        tokens: Int[np.ndarray, " length"],
        watch: Callable[[HeadVectors], Result],
        weights: str = "softmax",
    ) -> tuple[Float[Array, "length width"], list[Result]]:
        """Run all blocks; return the final features and what `watch` made of each."""
        features, seen = self.embedding[tokens], []
        for block in self.blocks:
            features, vectors = block(features, weights)
            seen.append(watch(vectors))
        return rms_norm(features, self.norm, self.settings.epsilon), seen

    def next_token_logits(
        self, tokens: Int[np.ndarray, " length"], weights: str = "softmax"
    ) -> Float[Array, "length vocabulary"]:
        """Score every token of the vocabulary as the one after each place.

        Parameters
        ----------
        tokens : one row
        weights : of all heads, "softmax" or "adaptive"
        """
        features, _ = self.visit(tokens, lambda vectors: None, weights)
        return features @ self.embedding.T
