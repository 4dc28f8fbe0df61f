"""Tokenizers, by the library ``tokenizers``, from what a checkpoint ships."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Int

from sharp_attention._checks import require
from sharp_attention.models.pretrained.packages import import_reader

__all__ = ["Tokenizer", "byte_level_json", "from_json", "read_json"]

_CONTROL = 3
"""Kind of the tokens in a GGUF file that stand for no text."""


@runtime_checkable
class Tokenizer(Protocol):
    """What a model needs of a tokenizer."""

    def encode(self, text: str) -> Int[np.ndarray, " length"]:
        """Return the tokens of a text, with those that the model adds around it."""
        ...

    def pieces(self, tokens: Int[np.ndarray, " length"]) -> list[str]:
        """Return the text of each token."""
        ...


class _Rust:
    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def encode(self, text: str) -> Int[np.ndarray, " length"]:
        return np.asarray(self._inner.encode(text).ids, dtype=np.int64)

    def pieces(self, tokens: Int[np.ndarray, " length"]) -> list[str]:
        decode = self._inner.decode
        return [decode([int(t)], skip_special_tokens=False) for t in tokens]


def from_json(text: str) -> Tokenizer:
    """Build a tokenizer from the content of a ``tokenizer.json``.

    Padding and truncation that it asks for are switched off.

    Raises
    ------
    ModuleNotFoundError
        If the package ``tokenizers`` is missing, with the line that installs it.
    """
    inner = import_reader("tokenizers").Tokenizer.from_str(text)
    inner.no_padding()
    inner.no_truncation()
    return _Rust(inner)


def read_json(path: Path) -> Tokenizer:
    """Build a tokenizer from a ``tokenizer.json``.

    Raises
    ------
    FileNotFoundError
        If it is not there.
    ValueError
        If it can't be read, naming it.
    """
    text = path.read_text(encoding="utf-8")
    try:
        return from_json(text)
    except ModuleNotFoundError:
        raise
    except Exception as error:  # the library raises nothing more special
        raise ValueError(f"{path} is not a whole tokenizer: {error}") from error


def byte_level_json(
    tokens: Sequence[str], kinds: Sequence[int], merges: Sequence[str]
) -> str:
    """Rebuild a byte-level BPE from the tables of a GGUF file, as tokenizer.json.

    Digits are split one by one before merging, as SmolLM was trained.

    Parameters
    ----------
    tokens : the vocabulary, in the order of the ids
    kinds : of each token
    merges : pairs "left right", the first merged first

    Raises
    ------
    ModuleNotFoundError
        If the package ``tokenizers`` is missing, with the line that installs it.
    ValueError
        If there is not one kind for each token.
    """
    require(len(kinds) == len(tokens), "kinds", f"of length {len(tokens)}", len(kinds))
    library = import_reader("tokenizers")
    pairs = [tuple(pair.split(" ", 1)) for pair in merges]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    inner = library.Tokenizer(library.models.BPE(vocab=vocabulary, merges=pairs))
    splits = library.pre_tokenizers
    inner.pre_tokenizer = splits.Sequence(
        [
            splits.Digits(individual_digits=True),
            splits.ByteLevel(add_prefix_space=False),
        ]
    )
    inner.decoder = library.decoders.ByteLevel()
    inner.add_special_tokens(
        [
            library.AddedToken(token, special=True, normalized=False)
            for token, kind in zip(tokens, kinds, strict=True)
            if kind == _CONTROL
        ]
    )
    return str(inner.to_str())
