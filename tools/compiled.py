"""What XLA compiled for a chapter is kept, and found again when the chapter reruns.

More than half of a chapter's time is compilation, and the tests run each chapter again
after the book has.
JAX finds a kept program by what it computes, by versions and by flags, so nothing old
is used after an edit.
"""

from importlib.metadata import version
from pathlib import Path

KEPT = Path(__file__).resolve().parents[1] / ".cache" / "compiled"
"""Folder of the chapters' programs."""

ONE_THREAD = "--xla_cpu_multi_thread_eigen=false"
"""For processes that run side by side: each keeps to its core."""

SIMPLE_CODE = "--xla_cpu_use_fusion_emitters=false --xla_backend_optimization_level=1"
"""Half the time of compilation, and chapters run as fast: their programs run once.

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
    """Return the environment in which every chapter is executed."""
    return {
        "JAX_COMPILATION_CACHE_DIR": str(folder),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.1",
        # With a limit (bytes) JAX locks the folder when it reads and writes. It also
        # looks at each file before it writes one: programs of a moment cost too much.
        "JAX_COMPILATION_CACHE_MAX_SIZE": str(2 * 10**9),
        "XLA_FLAGS": quick_flags(),
    }
