"""Notebooks that are published know where the library is to be had."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

import fill_address
from site_pages import TOP

CHAPTER = sorted((TOP / "book").glob("*.ipynb"))[0]


@pytest.fixture
def copy(tmp_path):
    path = tmp_path / CHAPTER.name
    path.write_bytes(CHAPTER.read_bytes())
    return path


def test_address_is_filled_in(copy, monkeypatch):
    monkeypatch.setenv("SHARP_ATTENTION_REPOSITORY", "owner/name")
    before = nbformat.read(copy, as_version=4)
    assert fill_address.main([str(copy)]) == 0
    after = nbformat.read(copy, as_version=4)
    changed = [
        (old.source, new.source)
        for old, new in zip(before.cells, after.cells, strict=True)
        if old != new
    ]
    assert len(changed) == 1
    old, new = changed[0]
    assert old.replace("{repository}", "https://github.com/owner/name") == new
    assert after.metadata == before.metadata


def test_without_an_address_nothing_is_touched(copy, monkeypatch, capsys):
    for setting in fill_address.address.SETTINGS:
        monkeypatch.delenv(setting, raising=False)
    assert fill_address.main([str(copy)]) == 1
    assert copy.read_bytes() == CHAPTER.read_bytes()
    assert "SHARP_ATTENTION_REPOSITORY" in capsys.readouterr().err


def test_a_chapter_without_the_cell_is_reported(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SHARP_ATTENTION_REPOSITORY", "owner/name")
    path = tmp_path / "bare.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell("print(1)")]), path)
    assert fill_address.main([str(path)]) == 1
    assert "0 cells to fill" in capsys.readouterr().err


def test_prose_is_left_alone():
    text = f"We write {fill_address.PLACE} in the first cell."
    notebook = new_notebook(cells=[new_markdown_cell(text)])
    assert fill_address.fill(notebook, "https://github.com/owner/name") == 0
    assert notebook.cells[0].source == text
