"""The chapters as they are committed: thin, without outputs, ready for other places."""

import ast
import re
from pathlib import Path

import nbformat
import pytest
import yaml

import build_book
from site_pages import TOP

CHAPTERS = sorted((TOP / "book").glob("*.ipynb"))

INSTALL = """\
import importlib.util

if importlib.util.find_spec("sharp_attention") is None:  # outside a clone, as on Colab
    %pip install --quiet "git+{repository}"
"""

LONGEST_FUNCTION = 5


@pytest.fixture(params=CHAPTERS, ids=lambda path: path.stem)
def chapter(request) -> Path:
    return request.param


@pytest.fixture
def notebook(chapter) -> nbformat.NotebookNode:
    return nbformat.read(chapter, as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def without_magics(source: str) -> str:
    return re.sub(r"^(\s*)[%!].*$", r"\1pass", source, flags=re.MULTILINE)


def functions(source: str):
    for node in ast.walk(ast.parse(without_magics(source))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield node


def test_book_has_chapters():
    assert CHAPTERS


def test_name_is_hyphenated(chapter):
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", chapter.stem)


def test_chapter_is_in_the_contents(chapter):
    toc = yaml.safe_load((TOP / "_toc.yml").read_text(encoding="utf-8"))
    assert f"book/{chapter.stem}" in list(build_book.pages(toc))


def test_no_outputs_are_committed(notebook):
    for cell in code_cells(notebook):
        assert cell.outputs == []
        assert cell.execution_count is None


def test_begins_with_its_title(notebook):
    first = notebook.cells[0]
    assert first.cell_type == "markdown"
    assert re.match(r"(\([\w-]+\)=\n)?# \S", first.source)


def test_first_code_cell_installs_the_library_elsewhere(notebook):
    first = code_cells(notebook)[0]
    assert first.source.strip() == INSTALL.strip()
    assert first.metadata.get("tags") == ["remove-cell"]


def test_kernel_is_python(notebook):
    assert notebook.metadata.kernelspec.name == "python3"
    assert notebook.metadata.language_info.name == "python"


def test_functions_are_short(notebook):
    long = [
        ast.unparse(node).splitlines()[0]
        for cell in code_cells(notebook)
        for node in functions(cell.source)
        if (node.end_lineno or 0) - node.lineno + 1 > LONGEST_FUNCTION
    ]
    assert long == []


def test_classes_live_in_the_library(notebook):
    for cell in code_cells(notebook):
        tree = ast.parse(without_magics(cell.source))
        assert not [n for n in ast.walk(tree) if isinstance(n, ast.ClassDef)]


def test_imports_public_names_only(notebook):
    for cell in code_cells(notebook):
        for node in ast.walk(ast.parse(without_magics(cell.source))):
            if isinstance(node, ast.ImportFrom):
                names = [*(node.module or "").split("."), *(a.name for a in node.names)]
                assert not [name for name in names if name.startswith("_")]


def sentences_end_within(line: str) -> bool:
    """Tell whether a line of Markdown goes on after the end of a sentence."""
    prose = re.sub(r"^(\*\*[^*]*\*\*\s*|\*[^*]*\*\s*|\d+\. |- )+", "", line.strip())
    prose = re.sub(r"\$[^$]*\$|`[^`]*`|\([^)]*\)|\{[^}]*\}", "x", prose)
    return bool(re.search(r"[a-z0-9%][.?!]['\"*]*\s+['\"*]*[A-Zx]", prose))


def test_one_sentence_on_a_line(notebook):
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for line in cell.source.splitlines():
                if not line.lstrip().startswith(("|", "#", ":", "$", "`")):
                    assert not sentences_end_within(line), line


@pytest.mark.parametrize("line", ["One. Two.", "At $x$. $y$ is next.", "It is 1. So."])
def test_two_sentences_on_a_line_would_be_found(line):
    assert sentences_end_within(line)
