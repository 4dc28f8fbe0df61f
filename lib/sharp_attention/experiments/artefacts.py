"""Data files with their manifest: written by a sweep, read by chapters and tests.

``manifest.json`` holds the command, the seeds, the versions, the device, the seconds
(of all cells together, each from its last start) and the SHA-256 checksum of each
data file by its path relative to the folder.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from sharp_attention.experiments import devices, places
from sharp_attention.experiments.files import json_bytes, write_atomically
from sharp_attention.experiments.fingerprint import versions
from sharp_attention.experiments.records import CellResult, Plan

__all__ = ["damaged_files", "read_manifest", "read_table", "write"]

MANIFEST = "manifest.json"


def write(plan: Plan, results: Sequence[CellResult]) -> Path:
    """Write the data files of a finished run, then its manifest; return its path."""
    contents = plan.experiment.collect(results)
    for name, content in contents.items():
        write_atomically(plan.output / name, content)
    manifest = {
        "command": plan.command,
        "seeds": plan.seeds,
        "versions": versions(),
        "device": devices.describe(plan.device),
        "seconds": round(sum(result.seconds for result in results), 3),
        "files": {
            name: {"sha256": hashlib.sha256(content).hexdigest()}
            for name, content in sorted(contents.items())
        },
    }
    write_atomically(plan.output / MANIFEST, json_bytes(manifest))
    return plan.output / MANIFEST


def read_table(name: str, file: str, folder: Path | None = None) -> pd.DataFrame:
    """Read one CSV file of an artefact.

    Parameters
    ----------
    name : of the experiment
    file : path relative to the artefact's folder
    folder : of the artefact; by default where ``reproduce`` writes it

    Raises
    ------
    FileNotFoundError
        With the command that makes it.
    """
    return pd.read_csv(_existing(name, file, folder))


def read_manifest(name: str, folder: Path | None = None) -> dict[str, Any]:
    """Read the manifest of an artefact.

    Raises
    ------
    FileNotFoundError
        With the command that makes it.
    """
    path = _existing(name, MANIFEST, folder)
    return json.loads(path.read_text(encoding="utf-8"))


def damaged_files(folder: Path) -> list[str]:
    """Return the data files that are missing or differ from the manifest's checksum."""
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    return [
        name
        for name, entry in manifest["files"].items()
        if _sha256(folder / name) != entry["sha256"]
    ]


def _existing(name: str, file: str, folder: Path | None) -> Path:
    path = (folder or places.shipped_folder(name)) / file
    if not path.is_file():
        command = f"sharp-attention reproduce {name}"
        raise FileNotFoundError(f"{path} is missing; it is made by: {command}")
    return path


def _sha256(path: Path) -> str | None:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None
