"""How much each page loads: ``python tools/weigh_pages.py`` writes a table.

What a page loads by itself is its *own*, or *shared* by all pages: the theme with its
fonts (``_static``), MathJax and the index of the search. Shared files are loaded once,
and kept by the browser. ``page-weights.csv`` in the site has a row for each page:
requests and bytes of both kinds, as the page names them; fonts that MathJax or a style
sheet asks for on demand are not counted.
"""

import csv
import io
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup, SoupStrainer

TOP = Path(__file__).resolve().parents[1]
SITE = TOP / "book" / "_build" / "html"
TABLE = "page-weights.csv"
"""Name of the table in the site."""

LIMIT = 1_500_000
"""Bytes that a page may have of its own."""

SHARED = ("_static", "mathjax", "searchindex.js")
"""Folders and files of the site that all pages share."""

_LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src"}
_NEEDED = SoupStrainer([*_LOADED, "base"])
_RELATIONS = {"stylesheet", "icon", "preload", "modulepreload"}


@dataclass(frozen=True)
class Weight:
    """Requests and bytes (not compressed) of one page."""

    page: str
    own_requests: int
    own_bytes: int
    shared_requests: int
    shared_bytes: int


def weigh(site: Path, page: str) -> Weight:
    """Weigh one page, a path relative to the site.

    Raises
    ------
    FileNotFoundError
        If the page loads a file that the site lacks.
    """
    files = {site / page} | {(site / page).parent / link for link in _loads(site, page)}
    files = {path.resolve() for path in files}
    shared = {path for path in files if is_shared(path.relative_to(site.resolve()))}
    own = files - shared
    sizes = [sum(path.stat().st_size for path in part) for part in (own, shared)]
    return Weight(page, len(own), sizes[0], len(shared), sizes[1])


def is_shared(path: Path) -> bool:
    """Tell whether a file, relative to the site, belongs to all pages."""
    return path.parts[0] in SHARED


def table(site: Path) -> str:
    """Return the table of all pages as CSV, in order of their names."""
    pages = (path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    names = sorted(name for name in pages if not is_shared(Path(name)))
    buffer = io.StringIO()
    columns = [field.name for field in fields(Weight)]
    writer = csv.DictWriter(buffer, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(weigh(site, name)) for name in names)
    return buffer.getvalue()


def _loads(site: Path, page: str) -> Iterator[str]:
    text = (site / page).read_text(encoding="utf-8")
    soup = BeautifulSoup(text, "html.parser", parse_only=_NEEDED)
    # The page for wrong addresses has a base; its links start from the site's root.
    depth = len(Path(page).parts) - 1 if soup.find("base") else 0
    for tag, attribute in _LOADED.items():
        for element in soup.find_all(tag):
            link = element.get(attribute)
            is_loaded = tag != "link" or _RELATIONS & set(element.get("rel") or [])
            if link and is_loaded and not str(link).startswith(("data:", "#")):
                yield "../" * depth + unquote(urlsplit(str(link)).path)


def main() -> int:
    """Write the table; return 0 if no page is too heavy."""
    if not (SITE / "index.html").is_file():
        print("There is no site to weigh: run `make book` first.", file=sys.stderr)
        return 1
    text = table(SITE)
    (SITE / TABLE).write_text(text, encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(text)))
    heavy = max(rows, key=lambda row: int(row["own_bytes"]))
    size = int(heavy["own_bytes"])
    print(f"The heaviest of {len(rows)} pages is {heavy['page']}: {size / 1e6:.2f} MB.")
    return int(size > LIMIT)


if __name__ == "__main__":
    raise SystemExit(main())
