"""The book in a zip: unpacked, opened from a folder, with the network off."""

import re
import zipfile

import pytest

import build_offline
from site_pages import FORWARDING, SITE
from site_pages import page as parsed

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def unpacked(built, tmp_path_factory):
    folder = tmp_path_factory.mktemp("offline")
    build_offline.pack(SITE, folder / "book.zip")
    with zipfile.ZipFile(folder / "book.zip") as archive:
        archive.extractall(folder)
    return folder / "sharp-attention"


@pytest.fixture(scope="module")
def visitor(chromium):
    """An open page, what it asked for, and what it complained about."""
    page, requests, complaints = chromium.new_page(), [], []
    page.on("request", lambda r: requests.append(r.url))
    page.on("pageerror", lambda e: complaints.append(str(e)))
    page.on("console", lambda m: m.type == "error" and complaints.append(m.text))
    yield page, requests, complaints
    page.close()


def test_every_page_works(unpacked, visitor):
    page, requests, complaints = visitor
    interactive: list[str] = []
    for path in sorted(unpacked.rglob("*.html")):
        name = path.relative_to(unpacked).as_posix()
        if name.startswith("_static/") or name in {*FORWARDING, "search.html"}:
            continue
        page.goto(path.as_uri(), wait_until="load")
        page.evaluate("window.MathJax?.startup?.promise")
        formulas = len(parsed(name).select("span.math, div.math"))
        assert page.locator("mjx-container").count() >= formulas, name
        for figure in parsed(name).find_all(re.compile("^sharp-lab-")):
            # Its controls are made by the script, from the data in the page.
            assert page.locator(f"{figure.name} input").count() >= 1, name
            interactive.append(figure.name)
        assert complaints == [], name
    assert len(interactive) >= 4
    assert {url.split(":")[0] for url in requests} <= {"file", "data", "blob"}


def test_front_page_is_found(unpacked, visitor):
    page, _, complaints = visitor
    page.goto((unpacked / "index.html").as_uri())
    page.wait_for_url("**/book/index.html")
    assert complaints == []


def test_search_finds_pages(unpacked, visitor):
    page, *_ = visitor
    page.goto((unpacked / "search.html").as_uri() + "?q=dispersion")
    page.wait_for_selector("#search-results ul.search li a")
