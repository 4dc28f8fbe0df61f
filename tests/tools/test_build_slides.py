"""Decks are made of Markdown, the book's figures and the book's numbers."""

import pytest

import build_slides

PAGE = """
<p>risk <b>0.250</b> &amp; more</p>
<figure class="sharp-figure" id="figure-wide"><svg viewBox="0 0 400 200"></svg></figure>
<figure class="sharp-figure" id="figure-tall"><svg viewBox="0 0 200 200"></svg></figure>
<figure class="sharp-figure" id="figure-live">
<sharp-lab-row><svg viewBox="0 0 300 200"></svg></sharp-lab-row></figure>
"""

DECK = """# A <title>

Note:
First.
---
## With $a<b$ and a number {{page|risk ([\\d.]+) &}}

![what to see](figure:wide)

Note:
Said *aloud*.
"""


@pytest.fixture
def book(tmp_path):
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    return build_slides.Book(tmp_path)


def draw(text, book):
    return build_slides.draw(build_slides.Slide(text, ""), book, 2, 3, "deck")


def test_slides_and_notes_are_told_apart():
    first, second = build_slides.slides(DECK)
    assert (first.text, first.notes) == ("# A <title>", "First.")
    assert second.text.startswith("## With")
    assert second.notes == "Said *aloud*."


def test_deck_has_title_figure_number_formula_and_notes(book):
    page = build_slides.write_deck(DECK, book)
    assert "<title>A &lt;title&gt; · Sharp Attention</title>" in page
    assert r"\(a&lt;b\)" in page
    assert "and a number 0.250" in page
    assert '<svg viewBox="0 0 400 200"></svg><figcaption>what to see' in page
    assert "Said <em>aloud</em>." in page
    assert 'class="slide title" id="1"' in page
    assert 'class="slide below" id="2"' in page


def test_number_is_rounded_where_asked(book):
    page = draw(
        "## a\n\n$x<{{page|risk ([\\d.]+)|2}}$ or {{page|risk ([\\d.]+)}}", book
    )
    assert r"\(x&lt;0.25\)" in page
    assert " or 0.250" in page


def test_narrow_figure_stands_beside_its_text(book):
    assert "slide beside" in draw("## a\n\ntext\n\n![](figure:tall)", book)
    assert "slide below" in draw("## a\n\n![](figure:tall)", book)
    assert "slide below" in draw("## a\n\ntext\n\n![](figure:wide)", book)
    assert "slide text" in draw("## a\n\ntext", book)


def test_interactive_figure_is_shown_as_its_picture(book):
    assert book.figure("live") == '<svg viewBox="0 0 300 200"></svg>'


def test_figure_that_no_page_shows(book):
    with pytest.raises(LookupError, match="shows the figure 'lost'"):
        draw("![](figure:lost)", book)


def test_number_that_the_page_does_not_print(book):
    with pytest.raises(LookupError, match="does not say"):
        draw("{{page|risk is (.*)}}", book)


def test_deck_without_title():
    with pytest.raises(ValueError, match="begins with"):
        build_slides.title("## too low")


def test_without_the_book_there_are_no_slides(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(build_slides, "PAGES", tmp_path)
    assert build_slides.main() == 1
    assert "make book first" in capsys.readouterr().out
