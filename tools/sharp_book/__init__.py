"""The book's own Sphinx extension: what the themes and Jupyter Book don't do.

One module per concern:

- `address`: the repository's address, the only setting that is not in a file
- `cache`: executed notebooks are kept under a key of everything they depend on
- `page`: header buttons, description and Open Graph of each page
- `source`: names of library functions become links to pages that show their code
- `lab`: modules of interactive figures
- `api`: reference pages written from docstrings
- `bibliography`: readable labels in the list of references
- `site`: redirects, sitemap, page for wrong addresses, robots
- `latex`: what the printed edition leaves out
"""

import hashlib
from pathlib import Path

from sphinx.application import Sphinx

from . import api, bibliography, cache, lab, latex, page, site, source

__all__ = ["setup"]


def _own_version() -> int:
    """Return a number that changes with this extension, so that pages follow it."""
    here = Path(__file__).parent
    parts = sorted([*here.glob("*.py"), *(here.parents[1] / lab.MODULES).iterdir()])
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in parts))
    return int(digest.hexdigest()[:8], 16)


def setup(app: Sphinx) -> dict[str, object]:
    """Connect every part of the extension."""
    for part in (cache, page, source, lab, api, site, bibliography, latex):
        part.setup(app)
    return {
        "version": "1",
        "env_version": _own_version(),
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
