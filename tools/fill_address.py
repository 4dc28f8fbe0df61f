"""Write the repository's address into the first cell of notebooks.

``SHARP_ATTENTION_REPOSITORY=owner/name python tools/fill_address.py NOTEBOOK ...``

Committed notebooks say ``{repository}`` there, so that no address is in the sources.
The publishing workflow runs this on a copy, which becomes the branch that Colab and
Binder open and the notebooks that readers download.
"""

import sys
from pathlib import Path

import nbformat

from sharp_book import address

PLACE = '"git+{repository}"'
"""What stands for the address in a notebook's install cell."""


def fill(notebook: nbformat.NotebookNode, repository: str) -> int:
    """Put the address in place; return how many cells changed."""
    changed = 0
    for cell in notebook.cells:
        if cell.cell_type == "code" and PLACE in cell.source:
            cell.source = cell.source.replace(PLACE, f'"git+{repository}"')
            changed += 1
    return changed


def main(paths: list[str]) -> int:
    """Fill each notebook in place; return 0 if each had exactly one cell to fill."""
    known = address.read()
    if known is None:
        print(f"set {address.SETTINGS[0]} to owner/name first", file=sys.stderr)
        return 1
    status = 0
    for path in map(Path, paths):
        notebook = nbformat.read(path, as_version=4)
        changed = fill(notebook, known.repository)
        if changed != 1:
            print(f"{path}: {changed} cells to fill instead of one", file=sys.stderr)
            status = 1
        nbformat.write(notebook, path)
    return status


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
