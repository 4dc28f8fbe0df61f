"""One door for all models: short names, paths, and what transformers knows."""

from pathlib import Path

from sharp_attention._checks import check_choice, require
from sharp_attention.models.pretrained import (
    bert_folder,
    cached,
    foreign,
    gguf_file,
    packages,
)
from sharp_attention.models.pretrained.decoder import Decoder
from sharp_attention.models.pretrained.model import PretrainedModel
from sharp_attention.models.pretrained.tokens import from_json

__all__ = ["load", "load_packaged"]


def load(
    name_or_path: str | Path, *, cache: Path | None = None
) -> PretrainedModel | foreign.ForeignModel:
    """Load a model with real weights.

    Parameters
    ----------
    name_or_path : "smollm2" or "minilm", whose weights come as packages; the path of
        a GGUF file with a Llama-style model, or of a folder with a BERT encoder
        (``config.json``, ``model.safetensors``, ``tokenizer.json``); anything else,
        such as "google/gemma-2b" or the folder of another model, is left to
        ``transformers``
    cache : folder in which dequantised weights are kept, 0.5 GB for SmolLM2; by
        default ``$SHARP_ATTENTION_CACHE/models`` or a folder in the user's cache.
        The first load of a GGUF file takes a quarter of a minute, later ones seconds

    Raises
    ------
    FileNotFoundError
        If there is no such name or path.
    ModuleNotFoundError
        If a package is missing, with the line that installs it.
    ValueError
        If a file is damaged or holds another kind of model, naming it.
    """
    name = str(name_or_path)
    if name in packages.PACKAGED:
        return load_packaged(name, cache=cache)
    path = Path(name_or_path)
    if path.is_dir() and not _is_bert(path):
        return foreign.load(name)
    if path.is_dir() or path.suffix == ".safetensors":
        folder = path if path.is_dir() else path.parent
        return PretrainedModel(name, *bert_folder.read(folder))
    if path.suffix == ".gguf":
        return _from_gguf(name, path, cache)
    rule = "a folder, or a file that ends with .gguf or .safetensors"
    require(not path.exists(), "model", rule, name)
    return foreign.load(name)


def load_packaged(name: str, *, cache: Path | None = None) -> PretrainedModel:
    """Load "smollm2" or "minilm"; `cache` and errors are those of `load`."""
    check_choice("name", name, packages.PACKAGED)
    path = packages.locate(name)
    if path.suffix == ".gguf":
        return _from_gguf(name, path, cache)
    return PretrainedModel(name, *bert_folder.read(path.parent))


def _from_gguf(name: str, path: Path, cache: Path | None) -> PretrainedModel:
    if not path.is_file():
        raise FileNotFoundError(f"no such model: {path}")
    checkpoint = cached.read_gguf(path, packages.sha256(path), cache)
    settings = gguf_file.settings(checkpoint.facts)
    decoder = Decoder.from_arrays(checkpoint.arrays, settings)
    return PretrainedModel(name, decoder, from_json(checkpoint.tokenizer))


def _is_bert(folder: Path) -> bool:
    try:
        facts = bert_folder.read_facts(folder / "config.json")
    except FileNotFoundError as error:
        message = f"{folder} holds no model: it has no config.json"
        raise FileNotFoundError(message) from error
    return bool(facts.get("model_type") == "bert")
