"""Names of library functions under figures become links to what drew them.

To the lines in the repository where its address is known, else to the reference.
"""

import importlib
import inspect
import os
import re
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from . import address

__all__ = ["locate", "setup"]

_NAMED = re.compile(r'<code data-source="([\w.]+)">([\w.]+)</code>')


def setup(app: Sphinx) -> None:
    """Look at each page before it is written."""
    app.connect("html-page-context", _link)


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


def _target(app: Sphinx, page: str, name: str) -> str | None:
    known = address.read()
    if known is not None:
        revision = os.environ.get("GITHUB_SHA", "main")
        return known.lines(revision, *locate(name))
    entry = app.env.get_domain("py").objects.get(name)  # type: ignore[attr-defined]
    if entry is None:
        return None
    return f"{app.builder.get_relative_uri(page, entry.docname)}#{entry.node_id}"


def _link(
    app: Sphinx,
    page: str,
    template: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    def linked(match: re.Match[str]) -> str:
        target = _target(app, page, match[1])
        code = f'<code data-source="{match[1]}">{match[2]}</code>'
        return code if target is None else f'<a href="{target}">{code}</a>'

    if "body" in context:
        context["body"] = _NAMED.sub(linked, context["body"])
