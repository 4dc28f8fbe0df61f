"""Where a platform keeps what may be deleted at any time."""

import os
import sys
from pathlib import Path

__all__ = ["user_cache"]


def user_cache() -> Path:
    """Return the user's folder for caches of any program."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
