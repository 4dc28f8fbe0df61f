"""Interactive figures: their modules are put into the pages that show one.

They are ES modules, but a browser that shows a folder loads no module from a file, so
the modules that a page needs are joined and stand in the page itself.
"""

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

__all__ = ["MODULES", "bundle", "setup"]

MODULES = Path("book") / "_assets" / "lab"
"""Where the modules lie, relative to the top of the repository."""

_NAMED = re.compile(r"<sharp-lab-([a-z-]+)>")
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([\w-]+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:function|class|const) (\w+))", re.MULTILINE)


def setup(app: Sphinx) -> None:
    """Look at each page before it is written."""
    app.connect("html-page-context", _add)


def bundle(folder: Path, names: list[str]) -> str:
    """Join modules and all that they import into one that imports nothing.

    Each becomes a function of its own that returns what the module exports.

    Parameters
    ----------
    folder : of the modules
    names : of the modules, without ending

    Raises
    ------
    ValueError
        If a module has an import or export of another form, or can't stand in a page.
    """
    ordered: list[str] = []
    for name in names:
        _visit(folder, name, ordered)
    return "\n".join(_joined(folder / f"{name}.js") for name in ordered)


def _visit(folder: Path, name: str, ordered: list[str]) -> None:
    """Append what a module imports, then the module."""
    for other in _IMPORT.findall((folder / f"{name}.js").read_text(encoding="utf-8")):
        _visit(folder, other, ordered)
    if name not in ordered:
        ordered.append(name)


def _joined(path: Path) -> str:
    text = _IMPORT.sub("", path.read_text(encoding="utf-8"))
    exported = ", ".join(_EXPORT.findall(text))
    text = _EXPORT.sub("", text)
    for rest in ("import ", "export "):
        if re.search(rf"^{rest}", text, re.MULTILINE):
            raise ValueError(f"{path.name} has an {rest}that the bundle doesn't know")
    if "</script" in text:
        raise ValueError(f"{path.name} would end the script that it stands in")
    opening = f"const {{ {exported} }} = " if exported else ""
    return f"{opening}(() => {{\n{text}return {{ {exported} }};\n}})();"


def _add(
    app: Sphinx,
    page: str,
    template: str,
    context: dict[str, Any],
    document: nodes.document | None,
) -> None:
    names = sorted(set(_NAMED.findall(context.get("body", ""))))
    if not names:
        return
    folder = Path(app.srcdir) / MODULES
    style = (folder / "lab.css").read_text(encoding="utf-8")
    context["metatags"] = (
        f"{context.get('metatags', '')}\n<style>\n{style}</style>\n"
        f'<script type="module">\n{bundle(folder, names)}\n</script>'
    )
