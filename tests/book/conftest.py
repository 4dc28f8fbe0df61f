"""Tests over the built site need it to be built."""

import pytest

from site_pages import SITE, page_names


@pytest.fixture(scope="session")
def built() -> list[str]:
    """The pages of the built site."""
    if not (SITE / "index.html").is_file():
        pytest.fail(f"{SITE} has no index.html: run `make book` first")
    return page_names()
