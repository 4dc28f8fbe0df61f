"""A headless Chromium that can reach nothing but this machine, and a local server."""

import functools
import http.server
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["FLAGS", "find_chromium", "serve"]

NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    # The network is off: every name but the local server's is unknown.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]


def find_chromium() -> str | None:
    """Return the path of Chromium (or of ``SHARP_ATTENTION_CHROMIUM``), or None."""
    chosen = os.environ.get("SHARP_ATTENTION_CHROMIUM")
    found = (shutil.which(name) for name in ([chosen] if chosen else NAMES))
    return next((path for path in found if path), None)


class _Quiet(http.server.SimpleHTTPRequestHandler):
    prefix = "/"

    def translate_path(self, path: str) -> str:
        """Find the file of an address below the prefix; nothing is outside of it."""
        inside = path.startswith(self.prefix)
        return super().translate_path(path[len(self.prefix) - 1 :] if inside else "/-")

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: pytest shows what failed."""


@contextmanager
def serve(folder: Path, prefix: str = "/") -> Iterator[str]:
    """Serve a folder at a free port of this machine; yield the address.

    A site that is published below its host's root is served below `prefix`, which
    starts and ends with a slash.
    """
    handler = type("Handler", (_Quiet,), {"prefix": prefix})
    make = functools.partial(handler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), make) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}{prefix.rstrip('/')}"
        server.shutdown()
        thread.join()
