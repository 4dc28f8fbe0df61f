"""The pages as Chromium shows them: light and dark, at a desk and on a phone.

One browser for all, with the network off; each page is loaded once.
"""

import itertools
from dataclasses import dataclass, field

import pytest
from axe_playwright_python.base import AXE_FILE_PATH
from playwright.sync_api import Page

from browser import serve
from site_pages import SITE, opened_pages, page_names
from site_pages import page as parsed

pytestmark = pytest.mark.browser

WIDTHS = {"phone": (390, 844), "desktop": (1280, 900)}

SERIOUS = {"serious", "critical"}

COLOUR_RULES = ["color-contrast", "link-in-text-block"]
"""The rules whose answer depends on the colour mode, and by far the slowest."""

AXE = """
async ([rules, others]) => {
  const options = {resultTypes: ["violations"], preload: false};
  if (others) options.rules = Object.fromEntries(rules.map(r => [r, {enabled: false}]));
  else options.runOnly = {type: "rule", values: rules};
  const {violations} = await axe.run(document, options);
  return violations.map(v => [v.impact, v.id, v.nodes.slice(0, 3).map(n => n.html)]);
}
"""

EMPTY = """
selector => {
  for (const formula of document.querySelectorAll(selector))
    formula.replaceChildren("x");
  const pictures = document.querySelectorAll("figure.sharp-figure svg");
  pictures.forEach(picture => picture.replaceChildren());
}
"""
"""Takes away the inside of formulas and pictures, most of the elements of a page.

The inside of a picture is no text, and a formula has its paragraph's colour.
"""

FORMULAS = "mjx-container"
FORMULAS_IN_TEXT = "mjx-container:not([display])"
"""Those in a line of their own may scroll, which is to be checked."""

THIN = """
() => {
  const seen = new Map();
  for (const element of document.querySelectorAll("body *")) {
    const texts = [...element.childNodes].filter(node => node.nodeType === 3);
    if (!texts.some(text => text.data.trim())) continue;
    let kind = "";
    for (let e = element; e; e = e.parentElement) kind += e.tagName + e.className;
    seen.set(kind, (seen.get(kind) ?? 0) + 1);
    element.style.visibility = seen.get(kind) > 2 ? "hidden" : "visible";
  }
}
"""
"""Lets two texts of each kind be seen: same element, classes and surroundings.

Only the check of colours sees the page like that. Two texts of one kind have the same
colours, and to check all of a long chapter takes ten seconds.
"""


@pytest.fixture(scope="module")
def address(built):
    prefix = parsed("404.html").find("base")["href"]
    with serve(SITE, prefix) as address:
        yield address


@dataclass
class Visit:
    """A page that is open, and what happened while it was loaded."""

    page: Page
    address: str
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def open(self, name: str) -> None:
        """Load a page and wait until formulas are set."""
        self.complaints.clear()
        self.requests.clear()
        self.page.goto(f"{self.address}/{name}", wait_until="load")
        self.page.evaluate("window.MathJax?.startup?.promise")

    def note_failure(self, url: str, reason: str | None) -> None:
        """Note a request that failed, but not one that the next page cut short."""
        if reason != "net::ERR_ABORTED":
            self.complaints.append(f"{url}: {reason}")

    def resize(self, width: str) -> None:
        """Make the window as wide as a desk's or a phone's."""
        columns, rows = WIDTHS[width]
        self.page.set_viewport_size({"width": columns, "height": rows})

    def overflow(self) -> int:
        """Return by how many pixels the page is wider than the window."""
        script = "document.documentElement.scrollWidth - window.innerWidth"
        return int(self.page.evaluate(script))

    def switch(self, mode: str) -> None:
        """Change the colour mode as the button does, without the wait of a fade."""
        script = "mode => document.documentElement.dataset.theme = mode"
        self.page.evaluate(script, mode)

    def violations(self, *, of_colour: bool) -> list[object]:
        """Return what axe-core finds serious, in the colours or in all the rest."""
        if not self.page.evaluate("typeof axe === 'object'"):
            self.page.evaluate(AXE_FILE_PATH.read_text(encoding="utf-8"))
        found = self.page.evaluate(AXE, [COLOUR_RULES, not of_colour])
        return [violation for violation in found if violation[0] in SERIOUS]


@pytest.fixture(scope="module")
def visit(chromium, address):
    context = chromium.new_context(color_scheme="light", reduced_motion="reduce")
    page = context.new_page()
    visit = Visit(page, address)
    page.on("request", lambda r: visit.requests.append(r.url))
    page.on("pageerror", lambda e: visit.complaints.append(str(e)))
    page.on("requestfailed", lambda r: visit.note_failure(r.url, r.failure))
    page.on("console", lambda m: m.type == "error" and visit.complaints.append(m.text))
    yield visit
    context.close()


@dataclass
class Sights:
    """At which widths a page is read, and in which modes its colours are seen.

    To see all takes long: with --run-medium each page has it, else one of two and one
    of four in turn, so that every mode is seen at every width on a quarter of them.
    What is inside of pictures and of formulas in a text is then not read either.
    """

    widths: list[str]
    colours: list[tuple[str, str]]
    inside: bool


@pytest.fixture
def sights(request):
    widths = list(WIDTHS)
    colours = list(itertools.product(WIDTHS, ("light", "dark")))
    if request.config.getoption("--run-medium"):
        return Sights(widths, colours, inside=True)
    turn = opened_pages().index(request.getfixturevalue("name"))
    return Sights([widths[turn % 2]], [colours[turn % 4]], inside=False)


@pytest.mark.parametrize("name", opened_pages())
def test_page_in_the_browser(visit, name, sights):
    visit.open(name)
    assert visit.complaints == []
    here = (visit.address, "data:")
    assert [url for url in visit.requests if not url.startswith(here)] == []
    for width in WIDTHS:
        visit.resize(width)
        assert visit.overflow() <= 0, width
    if not sights.inside:
        visit.page.evaluate(EMPTY, FORMULAS_IN_TEXT)
    for width in sights.widths:
        visit.resize(width)
        assert visit.violations(of_colour=False) == [], width
    visit.page.evaluate(EMPTY, FORMULAS)
    visit.page.evaluate(THIN)
    for width, mode in sights.colours:
        visit.resize(width)
        visit.switch(mode)
        assert visit.violations(of_colour=True) == [], (width, mode)


def test_colour_mode_follows_the_system_and_can_be_chosen(chromium, address):
    context = chromium.new_context(color_scheme="dark")
    page = context.new_page()
    theme = "document.documentElement.dataset.theme"
    page.goto(f"{address}/book/index.html")
    assert page.evaluate(theme) == "dark"
    shades = set()
    for _ in range(3):
        page.click("button.theme-switch-button")
        shades.add(page.evaluate(theme))
    assert shades == {"light", "dark"}
    page.click("button.theme-switch-button")
    chosen = page.evaluate("document.documentElement.dataset.mode")
    page.reload()
    assert page.evaluate("document.documentElement.dataset.mode") == chosen
    context.close()


def test_figures_follow_the_text_colour(visit):
    script = """() => {
      const text = getComputedStyle(document.body).color;
      const used = document.querySelectorAll("figure.sharp-figure svg *");
      const fills = [...used].map(e => getComputedStyle(e).fill);
      return [text, fills.includes(text), used.length];
    }"""
    seen = set()
    for name in page_names():
        if "sharp-figure" not in (SITE / name).read_text(encoding="utf-8"):
            continue
        visit.open(name)
        for mode in ("light", "dark"):
            visit.switch(mode)
            text, follows, marks = visit.page.evaluate(script)
            assert follows, f"{name}, {mode}: none of {marks} marks"
            seen.add(text)
        break
    assert len(seen) in {0, 2}


def focus_search(page: Page) -> None:
    """Go to the search button with the tabulator alone."""
    for _ in range(12):
        page.keyboard.press("Tab")
        classes = page.evaluate("document.activeElement.className")
        if "search-button__button" in str(classes):
            return
    pytest.fail("the search button is not among the first twelve stops")


@pytest.mark.parametrize("width", WIDTHS)
def test_search_works_from_the_keyboard(visit, width):
    visit.resize(width)
    visit.open("book/how-to-use.html")
    focus_search(visit.page)
    visit.page.keyboard.press("Enter")
    visit.page.keyboard.type("dispersion")
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector("#search-results ul.search li a")
    assert visit.page.locator("#search-results ul.search li").count() >= 1
    assert visit.complaints == []


def test_book_opens_from_a_folder(chromium, built):
    # A memory stick has no server.
    context = chromium.new_context()
    page, complaints = context.new_page(), []
    page.on("pageerror", lambda e: complaints.append(str(e)))
    page.on("console", lambda m: m.type == "error" and complaints.append(m.text))
    page.goto((SITE / "index.html").as_uri())
    page.wait_for_url("**/book/index.html")
    page.goto((SITE / "book" / "notation.html").as_uri())
    page.wait_for_selector("mjx-container")
    family = "document.fonts.check('16px \"Source Serif 4\"')"
    assert page.evaluate(family)
    assert complaints == []
    # Search finds pages; only the excerpts need a server.
    page.goto((SITE / "search.html").as_uri() + "?q=dispersion")
    page.wait_for_selector("#search-results ul.search li a")
    context.close()


def test_wrong_address_leads_back_from_anywhere(visit):
    # A server shows this page for any address; its links start from the site's root.
    visit.open("404.html")
    visit.page.locator("article a").first.click()
    visit.page.wait_for_url(f"{visit.address}/book/index.html")
