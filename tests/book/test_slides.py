"""The decks: whole, offline, readable in 16:9, moved by keys."""

import re

import pytest

import build_slides
from site_pages import SITE

DECKS = sorted(path.stem for path in build_slides.DECKS.glob("*.md"))

TYPED = {
    "1-dispersion": {"quoted spreads": "5.69 14.78"},
    "3-adaptive-temperature": {
        "the rule as it is printed": "0.037 0.481 2.3 4.917 1.791 0.5",
    },
    "4-beyond": {
        "risks that a question names": "0.9 0.1",
        "a map's parameter and a gap": "1.5",
    },
}
"""Decimals that may stand in a deck, and why; all others are taken from the pages."""

UNREADABLE = """
() => [...document.querySelectorAll(".slide")].flatMap(slide => {
  const foot = slide.querySelector("footer").getBoundingClientRect();
  const words = slide.querySelector(".words").getBoundingClientRect();
  const said = [...slide.querySelectorAll(".words > *, .words mjx-math, figure")];
  const outside = said.filter(part => {
    const box = part.getBoundingClientRect(), inside = part.closest(".words");
    return box.bottom > foot.top + 1 || (inside && box.right > words.right + 1);
  });
  const svg = slide.querySelector("figure svg");
  const scale = svg === null ? 9 : svg.getScreenCTM().a;
  return outside.length || scale < 1.25 ? [[slide.id, outside.length, scale]] : [];
})
"""
"""Slides on which something is cut off, or a figure too small: its type is 9 high."""


@pytest.fixture(scope="module")
def decks(built, tmp_path_factory):
    folder = tmp_path_factory.mktemp("slides")
    build_slides.build(folder, SITE / "book")
    return folder


def test_there_is_a_deck_for_each_part():
    assert [re.match(r"(\d)-", name)[1] for name in DECKS] == ["1", "2", "3", "4"]


@pytest.mark.parametrize("name", DECKS)
def test_every_slide_is_spoken_for(name):
    deck = (build_slides.DECKS / f"{name}.md").read_text(encoding="utf-8")
    for slide in build_slides.slides(deck):
        assert len(slide.notes) >= 40, slide.text[:60]


def decimals(deck: str) -> set[str]:
    """Decimals of a deck, but those of the pages and the numbers of statements."""
    text = re.sub(r"\{\{.*?\}\}|\b(Lemma|Theorem) \d\.\d", "", deck)
    text = re.sub(r"\\[a-z]+", " ", text)  # commands, as in \pm0.3
    return set(re.findall(r"(?<![\w.])\d+\.\d+", text))


@pytest.mark.parametrize("name", DECKS)
def test_numbers_are_those_of_the_pages(name):
    deck = (build_slides.DECKS / f"{name}.md").read_text(encoding="utf-8")
    assert decimals(deck) == set(" ".join(TYPED.get(name, {}).values()).split())


def test_a_typed_number_would_be_found():
    deck = "## Lemma 2.1\n\nIt is $<0.42$ and {{page|3.7 is ([\\d.]+)|2}}\\pm0.3"
    assert decimals(deck) == {"0.42", "0.3"}


@pytest.mark.parametrize("name", DECKS)
def test_deck_names_no_other_host(decks, name):
    page = (decks / f"{name}.html").read_text(encoding="utf-8")
    loaded = re.findall(r'(?:src|href)="([^"#]+)"', re.sub(r"<a .*?</a>", "", page))
    assert [
        x for x in loaded if not x.startswith(("theme/", "mathjax/", "data:"))
    ] == []
    for part in loaded:
        assert part.startswith("data:") or (decks / part).is_file()


@pytest.fixture(scope="module")
def window(chromium):
    context = chromium.new_context(viewport={"width": 1280, "height": 720})
    page = context.new_page()
    page.seen = []
    page.on("pageerror", lambda e: page.seen.append(str(e)))
    page.on("console", lambda m: m.type == "error" and page.seen.append(m.text))
    page.on("requestfailed", lambda r: page.seen.append(r.url))
    page.on("request", lambda r: r.url.startswith("http") and page.seen.append(r.url))
    yield page
    context.close()


def open_deck(window, decks, name):
    window.seen.clear()
    window.goto((decks / f"{name}.html").as_uri(), wait_until="load")
    window.evaluate("MathJax.startup.promise")
    window.evaluate("document.fonts.ready.then(() => null)")


def here(window):
    return window.evaluate("document.querySelector('.slide.here').id")


@pytest.mark.browser
@pytest.mark.parametrize("name", DECKS)
def test_deck_in_the_browser(window, decks, name):
    open_deck(window, decks, name)
    assert window.seen == []
    assert window.locator("mjx-container").count() > 0
    assert window.locator("mjx-merror").count() == 0
    assert window.evaluate(UNREADABLE) == []


@pytest.mark.browser
def test_deck_is_moved_by_keys_and_remembers_its_place(window, decks):
    open_deck(window, decks, DECKS[0])
    count = window.locator(".slide").count()
    moves = {"ArrowRight": "2", " ": "3", "ArrowLeft": "2", "End": str(count)}
    for key, place in moves.items():
        window.keyboard.press(key)
        assert here(window) == place
    window.keyboard.press("ArrowRight")
    assert here(window) == str(count)
    window.reload()
    assert here(window) == str(count)
    window.keyboard.press("Home")
    assert here(window) == "1"
    window.keyboard.press("n")
    assert window.locator(".slide.here .notes").is_visible()
    window.keyboard.press("n")
    assert not window.locator(".slide.here .notes").is_visible()


@pytest.mark.browser
def test_speaker_has_a_window_that_follows(window, decks):
    open_deck(window, decks, DECKS[0])
    with window.expect_popup() as opened:
        window.keyboard.press("s")
    speaker = opened.value
    window.keyboard.press("ArrowRight")
    title = window.locator(".slide.here h2").inner_text()
    assert speaker.locator("#title").inner_text() == title
    assert speaker.locator("#place").inner_text().startswith("2 / ")
    assert "Guess first" in speaker.locator("#notes").inner_text()
    speaker.keyboard.press("ArrowRight")
    assert here(window) == "3"
    assert window.seen == []
    speaker.close()


@pytest.mark.browser
def test_print_has_a_page_a_slide(window, decks):
    open_deck(window, decks, DECKS[-1])
    document = window.pdf(prefer_css_page_size=True, print_background=True)
    count = window.locator(".slide").count()
    assert len(re.findall(rb"/Type\s*/Page\b", document)) == count
