"""What XLA compiled for a chapter is kept, and found again when the chapter reruns.

Half of a chapter's time is compilation, and the tests run each chapter again after the
book has.
JAX finds a kept program by what it computes, by versions and by flags, so nothing old
is used after an edit.
"""

from pathlib import Path

ONE_THREAD = "--xla_cpu_multi_thread_eigen=false"
"""For processes that run side by side: each keeps to its core."""


def settings() -> dict[str, str]:
    """Return the environment in which every chapter is executed."""
    top = Path(__file__).resolve().parents[1]
    return {
        "JAX_COMPILATION_CACHE_DIR": str(top / ".cache" / "compiled"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.3",
        # With a limit (bytes) JAX locks the folder when it reads and writes.
        "JAX_COMPILATION_CACHE_MAX_SIZE": str(2 * 10**9),
        "XLA_FLAGS": ONE_THREAD,
    }
