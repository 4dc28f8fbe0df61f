"""Names of library functions under figures become links to what drew them.

To the line in a page of the book that shows the module's code, so that the link works
everywhere and without a network; where the repository's address is known there is a
second link, to the lines in the repository.
"""

import html
import importlib
import inspect
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from . import address
from .api import public_modules

__all__ = ["PACKAGE", "locate", "setup", "source_page"]

PACKAGE = "sharp_attention.figures"
"""The package whose functions draw; each of its modules has a page."""

_NAMED = re.compile(r'<code data-source="([\w.]+)">([\w.]+)</code>')


def setup(app: Sphinx) -> None:
    """Look at each page before it is written, and write those of the code."""
    app.connect("html-page-context", _link)
    app.connect("html-collect-pages", _pages)


@cache
def locate(name: str) -> tuple[str, int, int]:
    """Return file (relative to the repository), first and last line of a function.

    Raises
    ------
    LookupError
        If the library has no function of this dotted name.
    """
    module_name, _, function_name = name.rpartition(".")
    function = getattr(importlib.import_module(module_name), function_name, None)
    if function is None:
        raise LookupError(f"the library has no {name}")
    function = inspect.unwrap(function)
    lines, first = inspect.getsourcelines(function)
    file = Path(inspect.getsourcefile(function) or "").resolve()
    top = next(p for p in file.parents if (p / "pyproject.toml").exists())
    return file.relative_to(top).as_posix(), first, first + len(lines) - 1


def source_page(module: str) -> str:
    """Return the page (without ending) that shows the code of a module of `PACKAGE`.

    Raises
    ------
    LookupError
        If the module is not in `PACKAGE`, and has no page.
    """
    if not module.startswith(f"{PACKAGE}."):
        raise LookupError(f"figures are drawn by {PACKAGE}; received {module}")
    return "source/" + module.removeprefix("sharp_attention.").replace(".", "/")


def _link(
    app: Sphinx,
    page: str,
    template: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    def linked(match: re.Match[str]) -> str:
        name = match[1]
        path, first, last = locate(name)
        target = source_page(name.rpartition(".")[0])
        local = f"{app.builder.get_relative_uri(page, target)}#line-{first}"
        code = f'<code data-source="{name}">{match[2]}</code>'
        return f'<a href="{local}">{code}</a>' + _remote(path, first, last)

    if "body" in context:
        context["body"] = _NAMED.sub(linked, context["body"])


def _remote(path: str, first: int, last: int) -> str:
    """Return a link to lines in the repository, or nothing where it is unknown."""
    known = address.read()
    if known is None:
        return ""
    revision = os.environ.get("GITHUB_SHA", "main")
    return f' (<a href="{known.lines(revision, path, first, last)}">repository</a>)'


def _pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    highlighter = app.builder.highlighter  # type: ignore[attr-defined]
    for name in public_modules(PACKAGE):
        module = importlib.import_module(name)
        if hasattr(module, "__path__"):
            continue  # the package itself draws nothing
        code = inspect.getsource(module)
        block = highlighter.highlight_block(code, "python", linespans="line")
        words = html.escape((inspect.getdoc(module) or "").partition("\n")[0])
        body = f"<h1><code>{name}</code></h1><p>{words}</p>{block}"
        context = {"title": name, "body": f'<div class="sharp-source">{body}</div>'}
        yield source_page(name), context, "page.html"
