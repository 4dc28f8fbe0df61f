"""A network with its tokenizer: text in, attention logits out."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from sharp_attention._checks import check_integer, require
from sharp_attention._typing import ArrayLike
from sharp_attention.models.pretrained.decoder import Decoder
from sharp_attention.models.pretrained.encoder import Encoder
from sharp_attention.models.pretrained.tokens import Tokenizer
from sharp_attention.models.pretrained.vectors import HeadVectors

__all__ = ["PretrainedModel", "Watchable", "cut"]

Result = TypeVar("Result")


@runtime_checkable
class Watchable(Protocol):
    """A model whose heads can be watched while it reads."""

    @property
    def name(self) -> str:
        """Short name, or path of the weights."""
        ...

    @property
    def is_causal(self) -> bool:
        """Whether a token sees only itself and those before it."""
        ...

    @property
    def max_length(self) -> int:
        """Longest row of tokens."""
        ...

    def encode(
        self, text: str, length: int | None = None
    ) -> Int[np.ndarray, " length"]:
        """Return the tokens of a text, cut to a length."""
        ...

    def visit(
        self, tokens: ArrayLike, watch: Callable[[HeadVectors], Result]
    ) -> list[Result]:
        """Run the model and return what `watch` makes of each layer."""
        ...


@dataclass(frozen=True)
class PretrainedModel:
    """A decoder or an encoder with real weights.

    Attributes
    ----------
    name : short name, or path of the weights
    network : the weights, as an equinox module
    tokenizer : text to tokens
    """

    name: str
    network: Decoder | Encoder
    tokenizer: Tokenizer

    @property
    def is_causal(self) -> bool:
        """Whether a token sees only itself and those before it."""
        return isinstance(self.network, Decoder)

    @property
    def max_length(self) -> int:
        """Longest row of tokens that the network was made for."""
        return self.network.max_length

    def encode(
        self, text: str, length: int | None = None
    ) -> Int[np.ndarray, " length"]:
        """Return the tokens of a text, with those that the model adds around it.

        Parameters
        ----------
        text : any
        length : how many tokens to keep; an encoder keeps the last one, which ends
            every text

        Raises
        ------
        ValueError
            If the text is shorter than `length`.
        """
        return cut(self.tokenizer.encode(text), length, keep_last=not self.is_causal)

    def visit(
        self, tokens: ArrayLike, watch: Callable[[HeadVectors], Result]
    ) -> list[Result]:
        """Run the network and return what `watch` makes of each layer.

        Raises
        ------
        ValueError
            If `tokens` are not one row of known tokens, or too many.
        """
        return self.network.visit(self._checked(tokens), watch)[1]

    def attention_logits(
        self, tokens: ArrayLike
    ) -> Float[Array, "layers heads length length"]:
        """Return the logits of every head before softmax, −inf for unseen keys.

        Takes 4 · layers · heads · length² bytes: 1.1 GB for SmolLM2 at 1024 tokens,
        where `visit` needs a layer at a time.

        Raises
        ------
        ValueError
            If `tokens` are not one row of known tokens, or too many.
        """
        return jnp.stack(self.visit(tokens, HeadVectors.logits))

    def next_token_logits(
        self, tokens: ArrayLike, weights: str = "softmax"
    ) -> Float[Array, "length vocabulary"]:
        """Score every token as the one after each place; decoders only.

        Parameters
        ----------
        tokens : one row
        weights : of all heads, "softmax" or "adaptive"

        Raises
        ------
        ValueError
            If the model is an encoder, or `tokens` are not one row of known tokens.
        """
        rule = "a decoder, which predicts tokens"
        if not isinstance(self.network, Decoder):
            raise ValueError(f"model must be {rule}; received {self.name!r}")
        return self.network.next_token_logits(self._checked(tokens), weights)

    def _checked(self, tokens: ArrayLike) -> Int[np.ndarray, " length"]:
        row = np.asarray(tokens)
        is_row = row.ndim == 1 and row.size >= 1 and row.dtype.kind in "iu"
        require(is_row, "tokens", "one row of integers", tokens)
        known = self.network.vocabulary_size
        fits = bool(row.min() >= 0 and row.max() < known)
        require(fits, "tokens", f"from 0 to {known - 1}", tokens)
        rule = f"at most {self.max_length} for {self.name}"
        require(row.size <= self.max_length, "number of tokens", rule, row.size)
        return row


def cut(
    tokens: Int[np.ndarray, " all"], length: int | None, *, keep_last: bool
) -> Int[np.ndarray, " length"]:
    """Keep the first tokens of a text.

    Parameters
    ----------
    tokens : of the whole text
    length : how many to keep; all if None
    keep_last : whether the last of them is the last of the text

    Raises
    ------
    TypeError, ValueError
        If `length` is not an integer >= 1, or the text is shorter.
    """
    if length is None:
        return tokens
    check_integer("length", length, at_least=1)
    if len(tokens) < length:
        raise ValueError(
            f"text must have at least {length} tokens; received {len(tokens)}"
        )
    short = tokens[:length].copy()
    if keep_last:
        short[-1] = tokens[-1]
    return short
