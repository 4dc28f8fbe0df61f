"""The page on notation names what the library has, and the letters of the chapters."""

import ast
import re
from collections.abc import Iterator
from functools import cache

import nbformat
import pytest

from site_pages import TOP

TEXT = (TOP / "book" / "notation.md").read_text(encoding="utf-8")
LIBRARY = TOP / "lib" / "sharp_attention"

LETTERS = {
    r"\alpha",
    r"\beta",
    r"\delta",
    r"\theta",
    r"\chi",
    r"\sigma",
    r"\nu",
    r"\epsilon",
    r"\Delta",
    r"\mathcal E",
    r"\Phi",
    r"\varphi",
}
"""Letters that chapters may use with one meaning through the whole book."""


def tables() -> list[list[list[str]]]:
    """Every table of the page: rows of cells, the heads first."""
    blocks = re.findall(r"(?:^\|.*\|\n?)+", TEXT, flags=re.MULTILINE)
    return [
        [
            [cell.strip() for cell in line.strip().strip("|").split(" | ")]
            for line in block.strip().splitlines()
            if not re.fullmatch(r"[|\- ]+", line)
        ]
        for block in blocks
    ]


def code_cells() -> list[tuple[str, str]]:
    """What each row calls its thing in code, beside the words for it."""
    return [
        (row[0], row[-1])
        for heads, *rows in tables()
        if heads[-1] == "in code"
        for row in rows
    ]


@cache
def known() -> frozenset[str]:
    """Functions, arguments, classes, fields and constants of the library."""
    found: set[str] = set()
    for path in LIBRARY.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            found.update(_named(node))
    return frozenset(found)


def _named(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.arg(arg=name):
            yield name
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name


def names() -> list[str]:
    """Every name in code, a call as its function's name and its argument's."""
    spans = [span for _, cell in code_cells() for span in re.findall("`(.*?)`", cell)]
    return sorted({name for span in spans for name in re.findall(r"\w+", span)})


def test_page_has_its_tables():
    assert len(tables()) == 3
    assert len(code_cells()) > 30


def test_every_row_names_its_code():
    assert [what for what, cell in code_cells() if "`" not in cell] == []


@pytest.mark.parametrize("name", names())
def test_name_is_in_the_library(name):
    assert name in known()


def test_rows_are_whole():
    for heads, *rows in tables():
        assert [row for row in rows if len(row) != len(heads)] == []


def test_nothing_is_explained_twice():
    said = [row[0] for _, *rows in tables() for row in rows]
    assert len(said) == len(set(said))


@cache
def chapters() -> str:
    """All prose of the chapters that are notebooks."""
    cells = (
        cell.source
        for path in sorted((TOP / "book").glob("*.ipynb"))
        for cell in nbformat.read(path, as_version=4).cells
        if cell.cell_type == "markdown"
    )
    return "\n".join(cells)


@pytest.mark.parametrize("letter", sorted(LETTERS))
def test_letter_of_the_chapters_is_explained(letter):
    whole = re.escape(letter) + r"(?![A-Za-z])"
    assert re.search(whole, chapters())
    assert re.search(whole, TEXT.replace(r"\mathcal{E}", r"\mathcal E"))


def _symbols(tex: str) -> Iterator[str]:
    """Letters with an index k, v or a pair, such as m_k, in one writing."""
    for letter, index in re.findall(
        r"(?<![A-Za-z\\])([a-zA-Z])_\{?([kv]{1,2})\}?", tex
    ):
        yield f"{letter}_{index}"


def test_indexed_letters_of_definitions_are_explained():
    blocks = re.findall(r"```\{prf:definition\}.*?```", chapters(), flags=re.DOTALL)
    assert blocks
    explained = set(_symbols(TEXT))
    used = {name for block in blocks for name in _symbols(block)}
    assert sorted(used - explained) == []
