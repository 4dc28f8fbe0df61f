"""Executed notebooks are kept, and used again only if nothing they read has changed.

Jupyter Book's own cache looks at a notebook's cells alone, so a change in the
library would leave old numbers on the page.
Here the folder of the cache is named after a fingerprint of the library, the pinned
requirements and the data: another fingerprint, another folder, every chapter runs
again.
"""

import shutil
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config

from sharp_attention.experiments.fingerprint import fingerprint

__all__ = ["CACHE", "KEPT", "choose", "prune", "setup"]

CACHE = Path(".cache") / "execution"
"""Where executed notebooks lie, relative to the top of the repository."""

KEPT = 3
"""How many fingerprints are kept: enough to go back and forth between branches."""


def setup(app: Sphinx) -> None:
    """Set the cache's folder for each build."""
    app.connect("config-inited", _choose_folder)


def prune(cache: Path, keep: int = KEPT) -> None:
    """Remove all but the folders used last."""
    folders = [folder for folder in cache.iterdir() if folder.is_dir()]
    folders.sort(key=lambda folder: folder.stat().st_mtime, reverse=True)
    for folder in folders[keep:]:
        shutil.rmtree(folder)


def choose(top: Path) -> Path:
    """Make the folder for the present fingerprint, and prune the others.

    Parameters
    ----------
    top : of the repository
    """
    cache = top / CACHE
    folder = cache / fingerprint()
    folder.mkdir(parents=True, exist_ok=True)
    folder.touch()
    prune(cache)
    return folder


def _choose_folder(app: Sphinx, config: Config) -> None:
    config["nb_execution_cache_path"] = str(choose(Path(app.srcdir)))
