"""Make the student edition, the book without solutions, from the executed book.

``python tools/build_student.py`` after the book.
Nothing is executed: the outputs of the cells that stay are those of the book.
The pages go to ``book/_build/student/html``, the notebooks, with cells to fill, to
``book/_build/student/notebooks``.
"""

import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import nbformat
import yaml
from jupyter_cache import get_cache

import build_book
import student
from sharp_book import cache

TOP = Path(__file__).resolve().parents[1]
STUDENT = TOP / "book" / "_build" / "student"
SOURCE = TOP / ".cache" / "student"
LEFT_OUT = ("book/for-instructors", "book/execution")
"""Pages that are not for students, or, as nothing is executed, would be empty."""

_NOT_COPIED = shutil.ignore_patterns("_build", "results", ".ipynb_checkpoints")


def contents(toc: Any) -> Any:
    """Return a table of contents without the pages that are left out."""
    if isinstance(toc, dict):
        return {key: contents(value) for key, value in toc.items()}
    if isinstance(toc, list):
        kept = [item for item in toc if item.get("file") not in LEFT_OUT]
        return [contents(item) for item in kept]
    return toc


def settings(config: dict[str, Any]) -> dict[str, Any]:
    """Return the book's settings, without execution, with paths that hold anywhere."""
    extensions = config["sphinx"]["local_extensions"]
    elsewhere = {name: str(TOP / path) for name, path in extensions.items()}
    config["execute"]["execute_notebooks"] = "off"
    config["sphinx"]["local_extensions"] = elsewhere
    config["title"] += ", student edition"
    return config


def with_outputs(notebook: nbformat.NotebookNode, kept: Any) -> nbformat.NotebookNode:
    """Return a chapter with the outputs that a cache of executed notebooks has of it.

    Raises
    ------
    KeyError
        If the chapter, as it is now, has not been executed.
    """
    _, executed = kept.merge_match_into_notebook(notebook)
    for cell, done in zip(notebook.cells, executed.cells, strict=True):
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = done.outputs, done.execution_count
    return notebook


def write_sources(folder: Path, kept: Any) -> None:
    """Write everything that Jupyter Book needs, solutions removed."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(TOP / "book", folder / "book", ignore=_NOT_COPIED)
    shutil.copy(TOP / "CHANGELOG.md", folder)
    for name, changed in {"_config.yml": settings, "_toc.yml": contents}.items():
        found = yaml.safe_load((TOP / name).read_text(encoding="utf-8"))
        text = yaml.safe_dump(changed(found), sort_keys=False)
        (folder / name).write_text(text, encoding="utf-8")
    for page in pages():
        path = TOP / f"{page}.ipynb"
        if path.is_file():
            notebook = with_outputs(nbformat.read(path, as_version=4), kept)
            nbformat.write(student.chapter(notebook), folder / f"{page}.ipynb")
    for path in (folder / "book").glob("*.md"):
        text = student.without_asides(path.read_text(encoding="utf-8"))
        path.write_text(text, encoding="utf-8")


def write_notebooks(folder: Path) -> None:
    """Write the chapters as notebooks without outputs, to work in."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for page in pages():
        path = TOP / f"{page}.ipynb"
        if path.is_file():
            notebook = student.chapter(nbformat.read(path, as_version=4))
            nbformat.write(notebook, folder / path.name)


def pages() -> list[str]:
    """Return the pages of the student edition."""
    toc = yaml.safe_load((TOP / "_toc.yml").read_text(encoding="utf-8"))
    return list(build_book.pages(contents(toc)))


def build_site(source: Path, site: Path) -> int:
    """Run Jupyter Book on the sources; return its exit status."""
    options = ["--path-output", ".", "-W", "-n", "--keep-going", "--quiet"]
    program = "from jupyter_book.cli.main import main; main()"
    command = [sys.executable, "-c", program, "build", ".", *options]
    status = subprocess.run(command, cwd=source, check=False).returncode
    shutil.rmtree(site, ignore_errors=True)
    if status == 0:
        shutil.move(source / "_build" / "html", site)
    return status


def main() -> int:
    """Build the notebooks and the site; return 0 if all is well."""
    start = time.perf_counter()
    write_notebooks(STUDENT / "notebooks")
    executed = get_cache(cache.choose(TOP))
    try:
        write_sources(SOURCE, executed)
    except KeyError:
        print("A chapter has changed since it was executed: make book first.")
        return 1
    finally:
        executed.db.dispose()
    site = STUDENT / "html"
    if status := build_site(SOURCE, site):
        print("The student edition was not built.", file=sys.stderr)
        return status
    # What the download buttons give has no outputs either.
    for path in (STUDENT / "notebooks").glob("*.ipynb"):
        shutil.copy(path, site / "_sources" / "book" / path.name)
    seconds = time.perf_counter() - start
    index = (site / "index.html").relative_to(TOP)
    print(f"The student edition is at {index} ({seconds:.0f} s).")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
