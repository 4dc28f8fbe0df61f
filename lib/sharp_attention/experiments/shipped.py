"""All shipped artefacts in one table: what made each, what it cost, is it intact."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from sharp_attention.experiments import artefacts, catalogue, places

__all__ = ["names", "table"]


def names() -> list[str]:
    """Return the names of the shipped artefacts: of experiments, then of benchmarks."""
    # Any experiment's folder will do: all lie side by side.
    beside = places.shipped_folder(catalogue.names()[0]).parent
    found = {path.parent.name for path in beside.glob(f"*/{artefacts.MANIFEST}")}
    experiments = [name for name in catalogue.names() if name in found]
    return experiments + sorted(found.difference(experiments))


def table() -> pd.DataFrame:
    """Return one row for each shipped artefact.

    Returns
    -------
    columns ``name``; ``command``, ``device``, ``seconds``, ``python`` and ``jax`` of
    its manifest; ``seeds``, their number; ``files`` and ``bytes`` of its data;
    ``is_intact``, whether every file has the checksum of the manifest; ``checksum``,
    the SHA-256 of the manifest, which holds those of the files
    """
    return pd.DataFrame([_row(name) for name in names()])


def _row(name: str) -> dict[str, object]:
    folder = places.shipped_folder(name)
    manifest = artefacts.read_manifest(name, folder)
    content = (folder / artefacts.MANIFEST).read_bytes()
    return {
        "name": name,
        "command": manifest["command"],
        "seeds": len(manifest["seeds"]),
        "seconds": manifest["seconds"],
        "device": manifest["device"],
        "python": manifest["versions"]["python"],
        "jax": manifest["versions"]["jax"],
        "files": len(manifest["files"]),
        "bytes": sum(_sizes(folder, manifest["files"])),
        "is_intact": not artefacts.damaged_files(folder),
        "checksum": hashlib.sha256(content).hexdigest(),
    }


def _sizes(folder: Path, files: dict[str, object]) -> Iterator[int]:
    for name in files:
        path = folder / name
        yield path.stat().st_size if path.is_file() else 0
