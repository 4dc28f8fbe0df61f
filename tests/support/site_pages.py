"""The built site as tests see it: pages, their links and what they load."""

import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from bs4 import BeautifulSoup

from sharp_book.site import read_redirects

__all__ = [
    "CODE",
    "FORWARDING",
    "REDIRECTS",
    "SITE",
    "TOP",
    "anchors",
    "loads",
    "opened_pages",
    "page",
    "page_names",
    "resolve",
]

TOP = Path(__file__).resolve().parents[2]
SITE = Path(os.environ.get("SHARP_ATTENTION_SITE", TOP / "book" / "_build" / "html"))
"""Another folder can be tested: the published one, before it is published."""

REDIRECTS = read_redirects((TOP / "book" / "redirects.txt").read_text("utf-8"))
"""The page behind each old address."""

FORWARDING = {"index.html", *(f"{old}.html" for old in REDIRECTS)}
"""Pages that only lead on to another one."""

CODE = "source/"
"""Folder of the pages that show the code of a module."""

_LOADED = {
    "script": "src",
    "img": "src",
    "source": "src",
    "iframe": "src",
    "embed": "src",
    "object": "data",
    "video": "src",
    "audio": "src",
    "image": "href",
}
_LINKED = {"stylesheet", "icon", "preload", "prefetch", "modulepreload", "preconnect"}


def page_names() -> list[str]:
    """Return every page, as a path relative to the site."""
    found = (path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))
    return sorted(name for name in found if not name.startswith("_static/"))


def opened_pages() -> list[str]:
    """Return what a browser is shown: all but pages that lead on at once.

    Of those that show code, which are alike, one stands for all.
    """
    found = [name for name in page_names() if name not in FORWARDING]
    code = [name for name in found if name.startswith(CODE)]
    return [name for name in found if name not in code[1:]] or ["404.html"]


@cache
def page(name: str) -> BeautifulSoup:
    """Return a page, parsed."""
    return BeautifulSoup((SITE / name).read_text(encoding="utf-8"), "html.parser")


@cache
def anchors(name: str) -> frozenset[str]:
    """Return the identifiers of a page."""
    return frozenset(str(tag["id"]) for tag in page(name).find_all(id=True))


@cache
def loads(name: str) -> tuple[str, ...]:
    """Return the addresses from which a page loads something by itself."""
    found: list[str] = []
    for element in page(name).find_all(True):
        source = element.get(_LOADED.get(element.name, ""))
        if source:
            found.append(str(source))
        elif element.name == "link" and _LINKED & set(element.get("rel") or []):
            found.append(str(element["href"]))
        elif element.name == "style":
            found += _urls(element.get_text())
        found += _urls(str(element.get("style", "")))
    return tuple(found)


def style_sheet_loads(path: Path) -> Iterator[str]:
    """Yield the addresses from which a style sheet loads fonts and pictures."""
    yield from _urls(path.read_text(encoding="utf-8"))


def resolve(name: str, link: str) -> tuple[str, str]:
    """Return the file (relative to the site) and the anchor that a link leads to."""
    start = "http://site/" if _has_base(name) else f"http://site/{name}"
    address, anchor = urldefrag(urljoin(start, link))
    path = unquote(urlsplit(address).path).lstrip("/")
    if path == "" or path.endswith("/"):
        path += "index.html"
    return path, unquote(anchor)


@cache
def _has_base(name: str) -> bool:
    """Tell whether a page names an address that its links start from."""
    return page(name).find("base") is not None


def _urls(style: str) -> Iterator[str]:
    yield from re.findall(r"url\(\s*['\"]?([^'\")]+)", style)
    yield from re.findall(r"@import\s+['\"]([^'\"]+)", style)
