"""A BERT encoder from a folder with safetensors, as ``transformers`` saves them."""

import json
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from sharp_attention._checks import require
from sharp_attention.models.pretrained import tokens
from sharp_attention.models.pretrained.encoder import Encoder, EncoderSettings
from sharp_attention.models.pretrained.tokens import Tokenizer

__all__ = ["read", "read_facts"]


def read(folder: Path) -> tuple[Encoder, Tokenizer]:
    """Read ``config.json``, ``model.safetensors`` and ``tokenizer.json``.

    Raises
    ------
    FileNotFoundError
        If one of the files is missing.
    ModuleNotFoundError
        If a package that reads them is missing, with the line that installs it.
    ValueError
        If a file is damaged or the model is another than a plain BERT, naming it.
    """
    settings = _settings(folder / "config.json")
    path = folder / "model.safetensors"
    try:
        with safe_open(path, framework="np") as file:
            # Checkpoints of larger models put the encoder below this name.
            arrays = {
                name.removeprefix("bert."): file.get_tensor(name)
                for name in file.keys()  # noqa: SIM118
            }
    except SafetensorError as error:
        raise ValueError(f"{path} is not a whole safetensors file: {error}") from error
    encoder = Encoder.from_arrays(arrays, settings)
    return encoder, tokens.read_json(folder / "tokenizer.json")


def read_facts(path: Path) -> dict[str, Any]:
    """Read a ``config.json``.

    Raises
    ------
    FileNotFoundError
        If it is not there.
    ValueError
        If it does not hold a JSON object, naming it.
    """
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    # Text in another encoding, what is no JSON, and brackets in thousands.
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not JSON: {error}") from error
    if not isinstance(facts, dict):
        found = type(facts).__name__
        raise ValueError(f"{path} must hold a JSON object; received a {found}")
    return facts


def _settings(path: Path) -> EncoderSettings:
    facts = read_facts(path)
    wanted = {
        "model_type": "bert",
        "hidden_act": "gelu",
        "position_embedding_type": "absolute",
    }
    for name, value in wanted.items():
        found = facts.get(name, value)
        require(found == value, f"{name} in {path}", repr(value), found)
    for name in ("num_hidden_layers", "num_attention_heads", "layer_norm_eps"):
        require(name in facts, str(path), f"a file that tells {name}", None)
        is_number = isinstance(facts[name], int | float)
        require(is_number, f"{name} in {path}", "a number", facts[name])
    return EncoderSettings(
        num_layers=int(facts["num_hidden_layers"]),
        num_heads=int(facts["num_attention_heads"]),
        epsilon=float(facts["layer_norm_eps"]),
    )
