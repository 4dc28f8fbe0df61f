"""The ledger's filter as readers use it: from a folder, by keyboard, or not at all."""

import pytest
from playwright.sync_api import Page, expect

from site_pages import SITE

pytestmark = pytest.mark.browser

PAGE = SITE / "book" / "claims.html"
ROWS = "table.sharp-ledger tr[data-status]"
FORM = "form.sharp-ledger-filter"


@pytest.fixture
def page(chromium, built):
    """The page, opened from its folder: there is no server, and no network."""
    context = chromium.new_context()
    page, complaints = context.new_page(), []
    page.on("pageerror", lambda e: complaints.append(str(e)))
    page.on("console", lambda m: m.type == "error" and complaints.append(m.text))
    page.goto(PAGE.as_uri())
    yield page
    assert complaints == []
    context.close()


def shown(page: Page) -> int:
    return page.locator(f"{ROWS}:visible").count()


def state(page: Page) -> str:
    return str(page.evaluate("location.hash"))


def status(page: Page) -> str:
    return page.locator(f"{FORM} [role=status]").inner_text()


def test_without_scripts_the_whole_ledger_is_there(chromium):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(PAGE.as_uri())
    assert shown(page) == page.locator(ROWS).count() > 0
    assert not page.locator(FORM).is_visible()
    context.close()


def test_at_first_all_claims_are_shown(page):
    total = page.locator(ROWS).count()
    assert shown(page) == total
    assert status(page) == f"All {total} claims are shown."
    assert state(page) == ""


@pytest.mark.parametrize(
    ("field", "attribute", "value"),
    [
        ("Paper", "paper", "single-location"),
        ("Part", "part", "Dispersion"),
        ("Verdict", "status", "differs"),
    ],
)
def test_a_choice_leaves_its_rows(page, field, attribute, value):
    page.get_by_label(field, exact=True).select_option(value)
    chosen = page.locator(f'{ROWS}[data-{attribute}="{value}"]')
    assert shown(page) == chosen.count() > 0
    expect(chosen.first).to_be_visible()
    total = page.locator(ROWS).count()
    assert status(page) == f"{chosen.count()} of {total} claims are shown."
    assert state(page).startswith(f"#{field.lower()}=")


def test_words_are_typed_and_taken_back_with_the_keyboard_alone(page):
    total = page.locator(ROWS).count()
    page.get_by_label("Verdict", exact=True).focus()
    page.keyboard.press("Tab")
    page.keyboard.type("Corollary linear")
    texts = page.locator(f"{ROWS}:visible").all_inner_texts()
    assert 0 < len(texts) < total
    assert all("corollary" in t.lower() and "linear" in t.lower() for t in texts)
    assert state(page) == "#text=Corollary+linear"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # "Show all"
    expect(page.locator(f"{FORM} [role=status]")).to_have_text(
        f"All {total} claims are shown."
    )
    assert state(page) == ""


def test_tables_without_a_row_go_with_their_captions(page):
    page.get_by_label("Paper", exact=True).select_option("ours")
    captions = page.locator("table.sharp-ledger:has(tr[data-status]):visible caption")
    assert captions.count() > 0
    assert all(text.startswith("Beyond both") for text in captions.all_inner_texts())


def test_the_address_holds_the_state(page):
    address = f"{PAGE.as_uri()}#paper=single-location&verdict=differs&text=note"
    page.goto(address)
    page.reload()
    assert page.get_by_label("Paper", exact=True).input_value() == "single-location"
    assert page.get_by_label("Verdict", exact=True).input_value() == "differs"
    assert page.get_by_label("Words", exact=True).input_value() == "note"
    rows = page.locator(f'{ROWS}[data-paper="single-location"][data-status="differs"]')
    assert 0 < shown(page) <= rows.count()


@pytest.mark.parametrize("fragment", ["#linear-rate", "#paper=nobody", "#=&&"])
def test_other_fragments_hide_nothing(page, fragment):
    page.goto(PAGE.as_uri() + fragment)
    page.reload()
    assert shown(page) == page.locator(ROWS).count()
