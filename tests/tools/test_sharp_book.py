"""The parts of the book's Sphinx extension, one by one."""

import importlib
import os
import pkgutil

import pytest
from docutils import nodes
from docutils.utils import new_document
from pybtex.database import Entry, Person

import sharp_attention
from sharp_book import api, bibliography, cache, page, site, source


def test_sitemap_names_each_page_once():
    text = site.sitemap("https://a.example/", ["book/index", "book/primer"])
    assert text.count("<loc>") == 2
    assert "<loc>https://a.example/book/primer.html</loc>" in text


def test_redirects_are_read():
    text = "# a remark\n\nold book/new\nbook/older  book/new\n"
    found = site.read_redirects(text)
    assert found == {"old": "book/new", "book/older": "book/new"}


@pytest.mark.parametrize("line", ["old", "old new newer", "old b\nold c"])
def test_a_redirect_that_is_none_is_named(line):
    with pytest.raises(ValueError, match=r"redirect.*old"):
        site.read_redirects(line)


def test_site_is_local_until_the_address_is_known(monkeypatch):
    for setting in site.address.SETTINGS:
        monkeypatch.delenv(setting, raising=False)
    assert site.site_address() == site.LOCAL_SITE
    monkeypatch.setenv("SHARP_ATTENTION_REPOSITORY", "owner/name")
    assert site.site_address() == "https://owner.github.io/name/"


def test_prune_keeps_what_was_used_last(tmp_path):

    used = {"newest": 5, "newer": 4, "new": 3, "old": 2, "oldest": 1}
    for name, stamp in used.items():
        folder = tmp_path / name
        folder.mkdir()
        (folder / "executed").touch()
        os.utime(folder, (stamp, stamp))
    cache.prune(tmp_path, keep=3)
    assert {folder.name for folder in tmp_path.iterdir()} == {"newest", "newer", "new"}


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["Ada Lovelace"], "Lovelace, 1843"),
        (["Ada Lovelace", "Charles Babbage"], "Lovelace and Babbage, 1843"),
        (["Ada Lovelace", "C. Babbage", "L. Menabrea"], "Lovelace et al., 1843"),
        (["Johannes van der Waals"], "Waals, 1843"),
    ],
)
def test_labels_of_references(names, expected):
    people = {"author": [Person(name) for name in names]}
    entry = Entry("article", fields={"year": "1843"}, persons=people)
    assert bibliography.label(entry) == expected


def paragraph(text: str) -> nodes.document:
    document, section = new_document("page"), nodes.section()
    section += nodes.paragraph("", text)
    document += section
    return document


def test_description_is_the_first_paragraph():
    assert page.description(paragraph("One\nsentence.")) == "One sentence."
    assert page.description(new_document("empty")) == ""


def test_long_description_ends_at_a_word():
    text = page.description(paragraph("word, " * 100))
    assert len(text) <= 182
    assert text.endswith("word …")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x**2 and |y|", r"x\*\*2 and \|y\|"),
        ("a `b**2` c*", r"a `b**2` c\*"),
        ("``a|b`` _ c_ d_e", r"``a|b`` \_ c\_ d_e"),
        ("* an item with a * b", r"* an item with a \* b"),
        ("- k* here", r"- k\* here"),
        ("plain", "plain"),
    ],
)
def test_docstrings_mean_what_they_look_like(line, expected):
    lines = [line]
    api._as_written(
        None, "function", "f", test_prune_keeps_what_was_used_last, {}, lines
    )
    assert lines == [expected]


def test_blocks_of_code_in_docstrings_are_left_alone():
    lines = ["Write::", "", "    a * b", "", "and c*"]
    api._as_written(None, "function", "f", page, {}, lines)
    assert lines == ["Write::", "", "    a * b", "", r"and c\*"]


def test_type_of_a_constant_is_not_its_documentation():
    lines = (dict.__doc__ or "").splitlines()
    api._as_written(None, "data", "TABLE", {}, {}, lines)
    assert lines == []


def test_reference_knows_every_public_module():
    packages = [m.name for m in pkgutil.iter_modules(sharp_attention.__path__)]
    public = [n for n in packages if not n.startswith("_")]
    found = {m for n in public for m in api.public_modules(f"sharp_attention.{n}")}
    assert {
        "sharp_attention.attention.temperature",
        "sharp_attention.theory.dispersion",
        "sharp_attention.claims.registry",
    } <= found
    for name in found:
        assert importlib.import_module(name).__all__


def test_source_of_a_figure_is_found():
    name = "sharp_attention.figures.style.label_line"
    path, first, last = source.locate(name)
    assert path == "lib/sharp_attention/figures/style.py"
    lines = (site.Path(source.__file__).parents[2] / path).read_text().splitlines()
    assert lines[first - 1].startswith("def label_line(")
    assert first < last <= len(lines)


def test_name_that_the_library_lacks():
    with pytest.raises(LookupError, match="no_such_function"):
        source.locate("sharp_attention.figures.style.no_such_function")
