"""Reference pages written from the docstrings of the library.

``.. library:: sharp_attention.attention`` documents every public name of every
module of a package, so that a new module appears without being listed anywhere.
"""

import importlib
import inspect
import pkgutil
import re
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import nested_parse_with_titles

__all__ = ["Library", "public_modules", "setup"]


def setup(app: Sphinx) -> None:
    """Load what reads docstrings, and the directive."""
    app.setup_extension("sphinx.ext.autodoc")
    app.setup_extension("sphinx.ext.napoleon")
    app.add_directive("library", Library)
    # Before napoleon (500), which adds markup of its own.
    app.connect("autodoc-process-docstring", _as_written, priority=400)
    app.connect("autodoc-skip-member", _skip_fields)


def public_modules(package_name: str) -> list[str]:
    """Return the modules of a package (itself included) that name something public."""
    package = importlib.import_module(package_name)
    found = [package_name]
    for module in pkgutil.iter_modules(getattr(package, "__path__", [])):
        name = f"{package_name}.{module.name}"
        if not module.name.startswith("_"):
            found += public_modules(name) if module.ispkg else [name]
    return [
        name for name in found if getattr(importlib.import_module(name), "__all__", [])
    ]


class Library(SphinxDirective):
    """One section for each module of a package, its public names in its own order."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Write the page as text and let Sphinx read it."""
        lines: list[str] = []
        for name in public_modules(self.arguments[0]):
            module = importlib.import_module(name)
            own = [n for n in module.__all__ if _is_own(module, n)]
            title = name.removeprefix("sharp_attention.")
            lines += [f"``{title}``", "=" * (len(title) + 4), ""]
            lines += [f".. automodule:: {name}", "   :no-members:", ""]
            for member in own:
                lines += [*_directive(f"{name}.{member}", getattr(module, member)), ""]
        container = nodes.section()
        container.document = self.state.document
        content = StringList(lines, source=self.get_source_info()[0])
        nested_parse_with_titles(self.state, content, container)
        return container.children


def _is_own(module: Any, name: str) -> bool:
    """Tell whether a name is defined in a module rather than passed on by it."""
    home = getattr(getattr(module, name), "__module__", module.__name__)
    return bool(home == module.__name__ or not home.startswith("sharp_attention"))


def _directive(name: str, thing: Any) -> list[str]:
    if inspect.isclass(thing):
        return [f".. autoclass:: {name}", "   :members:"]
    if callable(thing):
        return [f".. autofunction:: {name}"]
    # The value of a constant is shown where it can be read.
    hidden = [] if len(repr(thing)) <= 60 else ["   :no-value:"]
    return [f".. autodata:: {name}", *hidden]


def _skip_fields(
    app: Sphinx, what: str, name: str, obj: object, skip: bool, options: object
) -> bool | None:
    """Leave out the fields of named tuples, which the class's docstring lists."""
    return True if (obj.__doc__ or "").startswith("Alias for field number") else None


def _as_written(
    app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]
) -> None:
    """Let docstrings mean what they look like.

    They are plain text with `names` in backticks: a star is a product, a bar an
    absolute value, an underscore a part of a name, never markup.
    """
    if what == "data" and "\n".join(lines).strip() == inspect.getdoc(type(obj)):
        lines.clear()  # a constant without a docstring shows its type's, else
    literal_from: int | None = None  # the indentation above a block after "::"
    for number, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if literal_from is not None and line.strip() and indent <= literal_from:
            literal_from = None
        if literal_from is None and not line.lstrip().startswith(">>>"):
            lines[number] = _escape(line)
            if line.rstrip().endswith("::"):
                literal_from = indent


def _escape(line: str) -> str:
    bullet = re.match(r"\s*[-*] ", line)
    start = bullet.end() if bullet else 0
    pieces = re.split(r"(``.+?``|`.+?`)", line[start:])
    # Every second piece is between backticks.
    pieces[::2] = [re.sub(r"([*|]|_(?!\w))", r"\\\1", piece) for piece in pieces[::2]]
    return line[:start] + "".join(pieces)
