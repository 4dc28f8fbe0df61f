"""A chapter as students get it: without solutions, with cells to fill."""

import copy
import re

import nbformat

from sharp_attention.exercises import stub

__all__ = ["SOLUTION", "TO_FILL", "chapter", "split", "without_asides"]

SOLUTION = "solution"
"""Tag of the code cells that belong to a solution."""

TO_FILL = "to-fill"
"""Tag of the cells in which students write their answers."""

_SOLUTION = re.compile(
    r"^(?P<fence>`{3,}|:{3,})\{solution\}.*?^(?P=fence)[ \t]*$\n?",
    re.DOTALL | re.MULTILINE,
)
_ASIDE = re.compile(
    r"^% instructors: begin$.*?^% instructors: end$\n?", re.DOTALL | re.MULTILINE
)
_CHECK = re.compile(r"""^check\(\s*["']([\w/-]+)["']""", re.MULTILINE)


def without_asides(text: str) -> str:
    """Return Markdown without what stands between the marks for instructors."""
    return _ASIDE.sub("", text)


def split(notebook: nbformat.NotebookNode) -> list[tuple[nbformat.NotebookNode, bool]]:
    """Return each cell of a chapter and whether it is the code of a solution.

    Such code carries the tag, or follows a solution's text without text in between.
    """
    found, after = [], False
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            after = _SOLUTION.search(cell.source) is not None
        tagged = SOLUTION in cell.metadata.get("tags", [])
        found.append((cell, cell.cell_type == "code" and (after or tagged)))
    return found


def chapter(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Return a chapter without the text and the code of its solutions.

    A solution that is checked leaves behind the stub that its exercise has,
    unless the chapter shows it already.
    """
    notebook, kept = copy.deepcopy(notebook), []
    shown: set[str] = set()
    for cell, solves in split(notebook):
        if solves:
            names = [n for n in _CHECK.findall(cell.source) if n not in shown]
            for name in names:
                _point_below(kept, name)
                kept.append(_to_fill(name))
        elif cell.cell_type == "markdown":
            cell.source = _SOLUTION.sub("", without_asides(cell.source)).strip()
            kept += [cell] if cell.source else []
        else:
            names = _CHECK.findall(cell.source)
            kept.append(cell)
        shown.update(names if cell.cell_type == "code" else ())
    notebook.cells = kept
    return notebook


def _point_below(cells: list[nbformat.NotebookNode], name: str) -> None:
    """Let an exercise that shows its stub point to the cell that holds it instead."""
    block = f"```python\n{stub(name)}\n```"
    for cell in cells:
        if cell.cell_type == "markdown":
            cell.source = cell.source.replace(block, "Fill in the cell below.")


def _to_fill(name: str) -> nbformat.NotebookNode:
    cell = nbformat.v4.new_code_cell(stub(name), metadata={"tags": [TO_FILL]})
    cell.id = f"answer-{name.replace('/', '-')}"
    return cell
