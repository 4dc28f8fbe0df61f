"""Files of the whole site: its root, redirects, the page for wrong addresses, sitemap.

The usual extension for sitemaps lists the pages written in this run, so that a
second build would empty it; this one lists the pages that the book has.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from . import address

__all__ = ["LOCAL_SITE", "read_redirects", "setup", "site_address", "sitemap"]

LOCAL_SITE = "http://localhost:8000/"
"""Where ``make serve`` shows the book; stands in until the address is known."""

REDIRECTS = Path("book") / "redirects.txt"
"""Old and new names of pages, relative to the top of the repository."""


def setup(app: Sphinx) -> None:
    """Write the files with each build."""
    app.connect("html-collect-pages", _pages)
    app.connect("build-finished", _write)


def site_address() -> str:
    """Return the address of the published site, or of the local one."""
    known = address.read()
    return LOCAL_SITE if known is None else known.site


def sitemap(site: str, pages: list[str]) -> str:
    """Return the sitemap of these pages (names without ending)."""
    rows = "".join(f"  <url><loc>{site}{page}.html</loc></url>\n" for page in pages)
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        f"{rows}</urlset>\n"
    )


def read_redirects(text: str) -> dict[str, str]:
    """Return the target of each old name; lines that begin with # are remarks.

    Raises
    ------
    ValueError
        If a line is not two names, or an old name has two targets.
    """
    found: dict[str, str] = {}
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        old, *new = line.split()
        if len(new) != 1 or old in found:
            raise ValueError(f"a redirect is an old and a new name; received {line!r}")
        found[old] = new[0]
    return found


def _pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    title = {"title": app.config.project}
    yield "index", title | {"target": app.config.root_doc}, "forward.html"
    text = (Path(app.srcdir) / REDIRECTS).read_text(encoding="utf-8")
    for old, new in read_redirects(text).items():
        # An edition may lack the page.
        if new in app.env.found_docs:
            yield old, title | {"target": new}, "forward.html"
    # 404 is served for any address, so its links need a base that doesn't depend on it.
    known = address.read()
    base = "/" if known is None else "/" + known.site.split("/", 3)[3]
    yield "404", {"title": "Page not found", "base": base}, "404.html"


def _write(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or app.builder.format != "html":
        return
    site, folder = site_address(), Path(app.outdir)
    pages = sorted(app.env.found_docs)
    (folder / "sitemap.xml").write_text(sitemap(site, pages), encoding="utf-8")
    robots = f"User-agent: *\nAllow: /\nSitemap: {site}sitemap.xml\n"
    (folder / "robots.txt").write_text(robots, encoding="utf-8")
    # Pages tells its own generator to leave folders with an underscore alone.
    (folder / ".nojekyll").touch()
