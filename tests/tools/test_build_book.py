"""A build that leaves a page out is a failed build."""

import pytest

import build_book

TOC = {
    "format": "jb-book",
    "root": "book/index",
    "parts": [
        {"caption": "One", "chapters": [{"file": "book/a"}]},
        {
            "caption": "Two",
            "chapters": [{"file": "book/b", "sections": [{"file": "book/b/c"}]}],
        },
    ],
}


def test_pages_of_a_table_of_contents():
    expected = ["book/index", "book/a", "book/b", "book/b/c"]
    assert list(build_book.pages(TOC)) == expected


def test_missing_pages_are_named(tmp_path):
    assert "book/notation" in build_book.missing_pages(tmp_path)
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "notation.html").touch()
    assert "book/notation" not in build_book.missing_pages(tmp_path)


def test_ledger_is_computed_before_what_reads_it():
    names = build_book.contents()
    order = build_book.in_order(names)
    assert sorted(order) == sorted(names)
    assert order.index("book/claims") < order.index("book/escapes")
    assert order.index("book/claims") < order.index("book/discrepancies")


@pytest.fixture(autouse=True)
def nothing_is_executed(monkeypatch):
    monkeypatch.setattr(build_book, "execute_chapters", lambda: None)


def test_failed_build_fails(monkeypatch, capsys):
    monkeypatch.setattr(build_book, "build", lambda: 3)
    assert build_book.main() == 3
    assert "was not built" in capsys.readouterr().err


def test_build_that_writes_nothing_fails(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(build_book, "build", lambda: 0)
    monkeypatch.setattr(build_book, "SITE", tmp_path)
    assert build_book.main() == 1
    assert "not built: book/index" in capsys.readouterr().err
