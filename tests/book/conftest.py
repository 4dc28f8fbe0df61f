"""Tests over the built site need it to be built, and some a browser."""

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from browser import FLAGS, find_chromium
from site_pages import SITE, page_names


@pytest.fixture(scope="session")
def built() -> list[str]:
    """The pages of the built site."""
    if not (SITE / "index.html").is_file():
        pytest.fail(f"{SITE} has no index.html: run `make book` first")
    return page_names()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A headless browser; where there is none, CI fails and others skip."""
    program = find_chromium()
    if program is None:
        missing = "no Chromium found (set SHARP_ATTENTION_CHROMIUM to its path)"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()
