"""Where results and caches lie: inside a clone, or beside a reader without one.

A *clone* is the working copy that the current folder belongs to, else the one that
this package is installed from (``pip install --editable .``).
Without either, results go to ``./results`` and caches to the user's cache folder, and
the results that the book ships are read from the installed package.
"""

import os
from pathlib import Path

from sharp_attention._caches import user_cache

__all__ = [
    "cache_folder",
    "clone",
    "package_folder",
    "results_folder",
    "shipped_folder",
]


def package_folder() -> Path:
    """Return the folder of the library's source that is running now."""
    return Path(__file__).resolve().parents[1]


def clone() -> Path | None:
    """Return the top of the clone, or None outside one."""
    here, package = Path.cwd().resolve(), package_folder()
    candidates = [here, *here.parents, *package.parents[1:2]]
    return next((folder for folder in candidates if _is_clone(folder)), None)


def results_folder(name: str) -> Path:
    """Return where the artefact of the experiment `name` lies.

    ``book/results/NAME`` in a clone, else ``./results/NAME``.
    """
    top = clone()
    base = Path("results") if top is None else top / "book" / "results"
    return base / name


def shipped_folder(name: str) -> Path:
    """Return from where the artefact of the experiment `name` is read.

    `results_folder`, unless that does not exist and the installed package brought the
    artefact along (a wheel does).
    """
    own, shipped = results_folder(name), package_folder() / "results" / name
    return shipped if shipped.is_dir() and not own.is_dir() else own


def cache_folder() -> Path:
    """Return the folder of everything that may be deleted at any time.

    The environment variable ``SHARP_ATTENTION_CACHE`` if set; ``.cache`` in a
    clone; else the platform's folder for caches.
    """
    chosen = os.environ.get("SHARP_ATTENTION_CACHE")
    if chosen:
        return Path(chosen)
    top = clone()
    return user_cache() / "sharp-attention" if top is None else top / ".cache"


def _is_clone(folder: Path) -> bool:
    markers = ("pyproject.toml", "lib/sharp_attention/__init__.py")
    return all((folder / marker).is_file() for marker in markers)
