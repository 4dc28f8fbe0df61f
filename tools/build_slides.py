"""Make the slides, one deck a part, from the built book.

``python tools/build_slides.py`` after the book.
A deck is a Markdown file in ``slides``: slides are separated by ``---``, what follows
a line ``Note:`` is for the speaker.
A figure of the book is named like a picture, ``![what to see](figure:NAME)``, and a
number by its page and the words around it, ``{{PAGE|words (number) words}}``; with
``|2`` before the last braces it is rounded to so many decimals.
So slides show what the pages show, and the build fails if a page stops saying it.
The result in ``book/_build/slides`` needs no network and no other folder.
"""

import html
import re
import shutil
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

TOP = Path(__file__).resolve().parents[1]
DECKS = TOP / "slides"
PAGES = TOP / "book" / "_build" / "html" / "book"
SLIDES = TOP / "book" / "_build" / "slides"
SHARED = {
    "theme": DECKS / "theme",
    "fonts": TOP / "book" / "_static" / "fonts",
    "mathjax": TOP / "book" / "_assets" / "mathjax",
}
"""Folders that all decks use, and where they are copied from."""

NARROW = 1.3
"""A figure whose width over height is less stands beside its text, not below."""

_FIGURE = re.compile(
    r'<figure class="sharp-figure" id="figure-([\w-]+)">'
    # An interactive figure holds its picture for readers without scripts.
    r"\s*(?:<sharp-lab-[\w-]+>)?\s*(<svg.*?</svg>)",
    re.DOTALL,
)
_SHAPE = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')
_PLACE = re.compile(r"!\[([^\]]*)\]\(figure:([\w-]+)\)")
_NUMBER = re.compile(r"\{\{([\w-]+)\|(.+?)(?:\|(\d))?\}\}")


@dataclass(frozen=True)
class Slide:
    """Markdown of one slide and of what is said about it."""

    text: str
    notes: str


@dataclass(frozen=True)
class Book:
    """The pages of the built book, as far as slides use them."""

    folder: Path

    @cached_property
    def figures(self) -> dict[str, str]:
        """The pictures of all pages, by name, as inline SVG."""
        found: dict[str, str] = {}
        for path in sorted(self.folder.glob("*.html")):
            found |= _FIGURE.findall(path.read_text(encoding="utf-8"))
        return found

    def figure(self, name: str) -> str:
        """Return a picture.

        Raises
        ------
        LookupError
            If no page shows a figure of this name.
        """
        if name not in self.figures:
            raise LookupError(f"no page of {self.folder} shows the figure {name!r}")
        return self.figures[name]

    def number(self, page: str, words: str) -> str:
        """Return the group in the first place where the page has these words.

        Raises
        ------
        LookupError
            If the page has no such place.
        """
        text = (self.folder / f"{page}.html").read_text(encoding="utf-8")
        text = html.unescape(
            re.sub(r"<svg.*?</svg>|<[^>]*>", "", text, flags=re.DOTALL)
        )
        found = re.search(words, text)
        if found is None:
            raise LookupError(f"the page {page!r} does not say {words!r}")
        return found[1]


def slides(deck: str) -> list[Slide]:
    """Return the slides of a deck's Markdown."""
    found = []
    for part in re.split(r"^---$", deck, flags=re.MULTILINE):
        text, _, notes = part.partition("\nNote:")
        found.append(Slide(text.strip(), notes.strip()))
    return found


def _formula(source: str, settings: dict[str, object]) -> str:
    left, right = (r"\[", r"\]") if settings["display_mode"] else (r"\(", r"\)")
    return left + html.escape(source) + right


def _markdown() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"typographer": False}).enable("table")
    return reader.use(dollarmath_plugin, renderer=_formula, allow_labels=False)


def _rendered(source: str, book: Book) -> str:
    """Return HTML of some Markdown, with the numbers of the pages."""

    def found(match: re.Match[str]) -> str:
        number = book.number(match[1], match[2])
        return f"{float(number):.{match[3]}f}" if match[3] else number

    return _markdown().render(_NUMBER.sub(found, source))


def _picture(svg: str, caption: str) -> str:
    label = f"<figcaption>{html.escape(caption)}</figcaption>" if caption else ""
    return f"<figure>{svg}{label}</figure>"


def draw(slide: Slide, book: Book, place: int, count: int, source: str) -> str:
    """Return the HTML of one slide.

    Parameters
    ----------
    slide : with at most one figure, after its text
    book : where figures and numbers come from
    place, count : number of the slide and of all slides of the deck
    source : name of the deck, for the foot
    """
    text, figure, kind = slide.text, "", "title" if place == 1 else "text"
    match = _PLACE.search(text)
    if match is not None:
        svg = book.figure(match[2])
        width, height = map(float, _SHAPE.search(svg).groups())  # type: ignore[union-attr]
        text = text.replace(match[0], "")
        beside = width / height < NARROW and len(text.strip().splitlines()) > 1
        kind, figure = ("beside" if beside else "below"), _picture(svg, match[1])
    return (
        f'<section class="slide {kind}" id="{place}" tabindex="-1" '
        f'aria-label="Slide {place} of {count}">\n'
        f'<div class="words">\n{_rendered(text, book)}</div>\n{figure}\n'
        f"<footer><span>{html.escape(source)}</span>"
        f"<span>{place} / {count}</span></footer>\n"
        f'<aside class="notes">{_rendered(slide.notes, book)}</aside>\n</section>\n'
    )


def title(deck: str) -> str:
    """Return the first heading of a deck.

    Raises
    ------
    ValueError
        If the deck does not begin with a heading of the first level.
    """
    match = re.match(r"# (.+)", deck)
    if match is None:
        raise ValueError(f"a deck begins with '# its title'; got {deck[:40]!r}")
    return match[1]


def write_deck(deck: str, book: Book) -> str:
    """Return the whole page of a deck, from its Markdown."""
    name, all_slides = title(deck), slides(deck)
    drawn = [
        draw(slide, book, place, len(all_slides), name)
        for place, slide in enumerate(all_slides, start=1)
    ]
    frame = (SHARED["theme"] / "deck.html").read_text(encoding="utf-8")
    return frame.replace("TITLE", html.escape(name)).replace("SLIDES", "".join(drawn))


def write_index(names: dict[str, str]) -> str:
    """Return the page that leads to the decks, from file names and titles."""
    rows = "".join(
        f'<li><a href="{name}.html">{html.escape(text)}</a></li>\n'
        for name, text in names.items()
    )
    frame = (SHARED["theme"] / "index.html").read_text(encoding="utf-8")
    return frame.replace("DECKS", rows)


def build(folder: Path, pages: Path = PAGES) -> list[str]:
    """Write all decks into a folder of their own; return their names."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, source in SHARED.items():
        leave = shutil.ignore_patterns("*.html") if name == "theme" else None
        shutil.copytree(source, folder / name, ignore=leave)
    book, names = Book(pages), {}
    for path in sorted(DECKS.glob("*.md")):
        deck = path.read_text(encoding="utf-8")
        names[path.stem] = title(deck)
        page = write_deck(deck, book)
        (folder / f"{path.stem}.html").write_text(page, encoding="utf-8")
    (folder / "index.html").write_text(write_index(names), encoding="utf-8")
    return list(names)


def main() -> int:
    """Build the decks and say where they are; return 0 if all is well."""
    if not (PAGES / "index.html").is_file():
        print("The slides show the figures of the built book: make book first.")
        return 1
    try:
        names = build(SLIDES)
    except LookupError as error:
        print(f"The slides were not built: {error.args[0]}", file=sys.stderr)
        return 1
    print(f"{len(names)} decks are at {SLIDES.relative_to(TOP) / 'index.html'}.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
