"""What each page says about itself: buttons in its header, description, Open Graph."""

import re
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from . import address
from .site import site_address

__all__ = ["CARD", "description", "setup"]

CARD = "_static/card.png"
"""The picture that is shown when a page is shared."""

_CARD_ALT = "Sharp Attention: one tall bar among many small ones"
_LENGTH = 180


def setup(app: Sphinx) -> None:
    """Fill the context of each page."""
    app.connect("html-page-context", _describe)


def description(document: nodes.document) -> str:
    """Return the first paragraph's text, shortened at a word to 180 characters."""
    for paragraph in document.findall(nodes.paragraph):
        if isinstance(paragraph.parent, nodes.section):
            text = re.sub(r"\s+", " ", paragraph.astext()).strip()
            if len(text) <= _LENGTH:
                return text
            return text[:_LENGTH].rsplit(" ", 1)[0].rstrip(",;:") + " …"
    return ""


def _describe(
    app: Sphinx,
    page: str,
    template: str,
    context: dict[str, Any],
    document: nodes.document | None,
) -> None:
    context["site_links"] = _links(app, page)
    if "body" in context:
        context["body"] = _without_false_roles(context["body"])
    text = "" if document is None else description(document)
    text = text or "Sharp Attention, a book that computes."
    title = re.sub(r"<[^>]*>", "", context.get("title") or app.config.project)
    tags = {
        "og:type": "article",
        "og:site_name": app.config.project,
        "og:title": title,
        "og:description": text,
        "og:url": f"{site_address()}{page}.html",
        "og:image": f"{site_address()}{CARD}",
        "og:image:alt": _CARD_ALT,
    }
    metatags = [f'<meta name="description" content="{escape(text)}" />']
    metatags += [
        f'<meta property="{name}" content="{escape(value)}" />'
        for name, value in tags.items()
    ]
    metatags.append('<meta name="twitter:card" content="summary_large_image" />')
    context["metatags"] = context.get("metatags", "") + "\n".join(metatags)


def _without_false_roles(body: str) -> str:
    """Drop roles that docutils gives to the bibliography and that readers can't use.

    It says that a list holds entries, but the entries don't say that they are items.
    """
    body = body.replace('<div role="list" class="citation-list">', "<div>")
    return body.replace(' role="doc-biblioentry"', "")


def _links(app: Sphinx, page: str) -> dict[str, str]:
    """Addresses behind the buttons of a page's header; a missing one has no button."""
    links: dict[str, str] = {}
    is_page = page in app.env.found_docs
    is_notebook = is_page and app.env.doc2path(page, base=False).endswith(".ipynb")
    if is_notebook:
        links["notebook"] = f"_sources/{page}.ipynb"
    known = address.read()
    if known is None:
        return links
    links["repository"] = known.repository
    links["issue"] = f"{known.repository}/issues/new?title=On+the+page+{page}"
    if is_notebook:
        links["colab"] = known.colab(f"{page}.ipynb")
        links["binder"] = known.binder(f"{page}.ipynb")
    return links
