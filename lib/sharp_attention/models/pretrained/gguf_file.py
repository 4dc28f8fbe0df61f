"""A Llama-style model from a GGUF file, as llama.cpp and its friends write them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sharp_attention._checks import require
from sharp_attention.models.pretrained import tokens
from sharp_attention.models.pretrained.decoder import DecoderSettings
from sharp_attention.models.pretrained.packages import import_reader

__all__ = ["Checkpoint", "read", "settings"]


_TABLES = ("tokens", "token_type", "merges")
_NEEDED = (
    "llama.block_count",
    "llama.attention.head_count",
    "llama.attention.head_count_kv",
    "llama.attention.layer_norm_rms_epsilon",
    "llama.context_length",
)


@dataclass(frozen=True)
class Checkpoint:
    """What a file holds, in plain form.

    Attributes
    ----------
    arrays : float32 weights by their names in the file
    facts : settings of the network by the file's own names, plain values
    tokenizer : content of a tokenizer.json
    """

    arrays: Mapping[str, np.ndarray]
    facts: Mapping[str, Any]
    tokenizer: str


def read(path: Path) -> Checkpoint:
    """Read and dequantise a whole file; takes a quarter of a minute.

    Raises
    ------
    ModuleNotFoundError
        If a package that reads it is missing, with the line that installs it.
    ValueError
        If the file is damaged or holds another kind of model, naming the file.
    """
    gguf = import_reader("gguf")
    with _named(path):
        reader = gguf.GGUFReader(path)
        facts = _facts(reader)
        tables = {name: _content(reader, f"tokenizer.ggml.{name}") for name in _TABLES}
    try:
        settings(facts)
    except ValueError as error:
        raise ValueError(f"{path} holds another kind of model: {error}") from error
    with _named(path):
        arrays = {
            entry.name: _dequantised(gguf, entry, facts) for entry in reader.tensors
        }
    tokenizer = tokens.byte_level_json(
        tables["tokens"], tables["token_type"], tables["merges"]
    )
    return Checkpoint(arrays, facts, tokenizer)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Name the file in errors: the reader trips over whatever comes first in it."""
    try:
        yield
    except (ValueError, IndexError, KeyError, OverflowError) as error:
        raise ValueError(f"{path} is not a whole GGUF file: {error}") from error


def settings(facts: Mapping[str, Any]) -> DecoderSettings:
    """Read the decoder's settings from the facts of a file.

    Raises
    ------
    ValueError
        If it is not a plain Llama: another architecture, stretched rotations, another
        tokenizer.
    """
    architecture = facts.get("general.architecture")
    require(architecture == "llama", "architecture", "'llama'", architecture)
    scaling = facts.get("llama.rope.scaling.type", "none")
    require(scaling == "none", "llama.rope.scaling.type", "'none'", scaling)
    tokenizer = facts.get("tokenizer.ggml.model")
    rule = "'gpt2', a byte-level BPE"
    require(tokenizer == "gpt2", "tokenizer.ggml.model", rule, tokenizer)
    for name in _NEEDED:
        require(name in facts, "file", f"one that tells {name}", None)
    return DecoderSettings(
        num_layers=int(facts["llama.block_count"]),
        num_heads=int(facts["llama.attention.head_count"]),
        num_kv_heads=int(facts["llama.attention.head_count_kv"]),
        rotary_base=float(facts.get("llama.rope.freq_base", 10_000.0)),
        epsilon=float(facts["llama.attention.layer_norm_rms_epsilon"]),
        max_length=int(facts["llama.context_length"]),
    )


def _facts(reader: Any) -> dict[str, Any]:
    """Return the fields that hold one value each."""
    plain = (bool, int, float, str)
    names = [name for name, field in reader.fields.items() if len(field.data) == 1]
    found = {name: reader.fields[name].contents() for name in names}
    return {name: value for name, value in found.items() if isinstance(value, plain)}


def _content(reader: Any, name: str) -> list[Any]:
    return list(reader.fields[name].contents())


def _dequantised(gguf: Any, entry: Any, facts: Mapping[str, Any]) -> np.ndarray:
    array = np.asarray(gguf.quants.dequantize(entry.data, entry.tensor_type))
    array = array.astype(np.float32)
    kind = entry.name.split(".")[-2]
    if kind == "attn_q":
        return _rotary_halves(array, int(facts["llama.attention.head_count"]))
    if kind == "attn_k":
        return _rotary_halves(array, int(facts["llama.attention.head_count_kv"]))
    return array


def _rotary_halves(weights: np.ndarray, num_heads: int) -> np.ndarray:
    """Put the two halves of each rotated pair head_dim / 2 apart; files interleave."""
    pairs = weights.reshape(num_heads, -1, 2, weights.shape[-1])
    return np.ascontiguousarray(pairs.swapaxes(1, 2)).reshape(weights.shape)
