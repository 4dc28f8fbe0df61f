"""One short word that changes whenever a computed number may change.

It keys the cache of the ledger and the execution cache of the book, so that both
notice an edit of the library, of the pinned packages or of the shipped data.
``python -m sharp_attention.experiments.fingerprint`` prints it.
"""

import hashlib
import platform
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

from sharp_attention.experiments import places

__all__ = ["PACKAGES", "fingerprint", "library_fingerprint", "versions"]

PACKAGES = ("sharp-attention", "jax", "jaxlib", "numpy", "scipy")
"""The packages whose version can change a number."""


def fingerprint() -> str:
    """Return 16 hexadecimal digits for library, packages, requirements and data.

    Covers every Python file of the running library, the versions of Python and of
    `PACKAGES`, and in a clone ``requirements.txt`` and the files below
    ``book/results``. Hidden files and folders (unfinished work) don't count.
    """
    lines = [library_fingerprint(), *(f"{n} {v}" for n, v in versions().items())]
    top = places.clone()
    if top is not None:
        lines += _checksums(top, top.glob("requirements.txt"))
        lines += _checksums(top, _visible(top / "book" / "results", "*"))
    return _short_digest(lines)


def library_fingerprint() -> str:
    """Return 16 hexadecimal digits for the library's source alone."""
    package = places.package_folder()
    return _short_digest(_checksums(package, _visible(package, "*.py")))


def versions() -> dict[str, str]:
    """Return the versions of Python and of `PACKAGES`."""
    installed = {name: metadata.version(name) for name in PACKAGES}
    return {"python": platform.python_version()} | installed


def _visible(folder: Path, pattern: str) -> Iterator[Path]:
    for path in folder.rglob(pattern):
        inside = path.relative_to(folder).parts
        if path.is_file() and not any(part.startswith(".") for part in inside):
            yield path


def _checksums(base: Path, paths: Iterable[Path]) -> list[str]:
    return sorted(
        f"{path.relative_to(base).as_posix()} "
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}"
        for path in paths
    )


def _short_digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


if __name__ == "__main__":
    print(fingerprint())
