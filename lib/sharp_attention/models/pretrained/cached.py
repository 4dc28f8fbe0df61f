"""Weights that take long to read, kept as float32 once they have been read.

One folder per source file, named by its checksum, so that a changed source is read
again.  Everything here may be deleted at any time.
"""

import json
import os
import shutil
import tempfile
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from sharp_attention._caches import user_cache
from sharp_attention.models.pretrained import gguf_file
from sharp_attention.models.pretrained.gguf_file import Checkpoint

__all__ = ["default_folder", "read_gguf"]

_WEIGHTS, _TOKENIZER = "weights.safetensors", "tokenizer.json"


def default_folder() -> Path:
    """Return ``$SHARP_ATTENTION_CACHE/models``, or a folder in the user's cache."""
    chosen = os.environ.get("SHARP_ATTENTION_CACHE")
    return (Path(chosen) if chosen else user_cache() / "sharp-attention") / "models"


def read_gguf(path: Path, checksum: str, folder: Path | None = None) -> Checkpoint:
    """Read a GGUF file, or what an earlier call has kept of it.

    Parameters
    ----------
    path : of the GGUF file
    checksum : its SHA-256
    folder : of all kept models; `default_folder` if None

    Raises
    ------
    ModuleNotFoundError
        If a package that reads it is missing, with the line that installs it.
    ValueError
        If the file, or what was kept of it, is damaged, naming that file.
    """
    place = (folder or default_folder()) / checksum[:16]
    if not place.is_dir():
        _keep(gguf_file.read(path), place)
    weights = place / _WEIGHTS
    try:
        with safe_open(weights, framework="np") as file:
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            facts = json.loads(file.metadata()["facts"])
    except (SafetensorError, OSError) as error:
        message = f"{weights} is not whole ({error}); delete the folder {place}"
        raise ValueError(message) from error
    return Checkpoint(arrays, facts, (place / _TOKENIZER).read_text(encoding="utf-8"))


def _keep(checkpoint: Checkpoint, place: Path) -> None:
    """Write all files beside `place`, then give them its name at once."""
    place.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=".", dir=place.parent))
    try:
        facts = {"facts": json.dumps(dict(checkpoint.facts))}
        save_file(dict(checkpoint.arrays), temporary / _WEIGHTS, metadata=facts)
        (temporary / _TOKENIZER).write_text(checkpoint.tokenizer, encoding="utf-8")
        try:
            temporary.replace(place)
        except OSError:  # another process was faster
            if not place.is_dir():
                raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
