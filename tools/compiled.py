"""What XLA compiled for a chapter is kept, and found again when the chapter reruns.

More than half of a chapter's time is compilation, and the tests run each chapter again
after the book has.
JAX finds a kept program by what it computes, by versions and by flags, so nothing old
is used after an edit.
"""

import shutil
from importlib.metadata import version
from pathlib import Path

KEPT = Path(__file__).resolve().parents[1] / ".cache" / "compiled"
"""Folder of the chapters' programs."""

LIMIT = 2e9
"""Bytes of all programs that are kept."""

ONE_THREAD = "--xla_cpu_multi_thread_eigen=false"
"""For processes that run side by side: each keeps to its core."""

SIMPLE_CODE = "--xla_cpu_use_fusion_emitters=false --xla_backend_optimization_level=1"
"""A third less time of compilation, or better.

What comes out may take half as long again, which counts less in what runs once.
Only JAX 0.10, that of requirements.txt, knows both flags; a newer one would stop at
the first.
"""


def quick_flags(jax: str = version("jax")) -> str:
    """Return XLA's flags for programs that are run once.

    Parameters
    ----------
    jax : its version
    """
    return f"{ONE_THREAD} {SIMPLE_CODE}" if jax.startswith("0.10.") else ONE_THREAD


def settings(folder: Path = KEPT) -> dict[str, str]:
    """Return the environment in which every chapter is executed.

    JAX can hold the folder to a size, but then looks at each file in it whenever it
    writes one, which costs more than most compilations; `make_room` does it once.
    Nor does it lock the folder then: a file that another chapter has half written is
    an error that JAX answers with a warning and a compilation.
    """
    return {
        "JAX_COMPILATION_CACHE_DIR": str(folder),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "PYTHONWARNINGS": "ignore:Error reading persistent compilation cache",
        "XLA_FLAGS": quick_flags(),
    }


def make_room(folder: Path = KEPT, limit: float = LIMIT) -> None:
    """Remove every program if together they are larger than the limit (bytes)."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    if sum(path.stat().st_size for path in files) > limit:
        shutil.rmtree(folder)
