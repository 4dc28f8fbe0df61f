"""The site as it is published, when the repository's address is known.

A small book of three pages is built for this, without running its chapter.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from bs4 import BeautifulSoup

from sharp_book import address
from site_pages import SITE, TOP

CHAPTER = sorted(path.stem for path in (TOP / "book").glob("*.ipynb"))[0]

pytestmark = pytest.mark.medium

TOC = {
    "format": "jb-book",
    "root": "book/index",
    "chapters": [{"file": "book/notation"}, {"file": f"book/{CHAPTER}"}],
}


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("published")
    config = yaml.safe_load((TOP / "_config.yml").read_text(encoding="utf-8"))
    config["execute"]["execute_notebooks"] = "off"
    # Paths in a configuration are relative to its folder.
    config["sphinx"]["local_extensions"] = {"sharp_book": str(TOP / "tools")}
    (folder / "config.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    (folder / "toc.yml").write_text(yaml.safe_dump(TOC), encoding="utf-8")
    files = ["--config", "config.yml", "--toc", "toc.yml", "--path-output", "."]
    options = [str(folder / x) if not x.startswith("--") else x for x in files]
    program = "from jupyter_book.cli.main import main; main()"
    subprocess.run(
        [sys.executable, "-c", program, "build", str(TOP), *options, "--quiet"],
        env={**os.environ, "SHARP_ATTENTION_REPOSITORY": "owner/name"},
        check=True,
        capture_output=True,
    )
    return folder / "_build" / "html"


def soup(site: Path, name: str) -> BeautifulSoup:
    return BeautifulSoup((site / name).read_text(encoding="utf-8"), "html.parser")


def buttons(site: Path, name: str) -> dict[str, str]:
    found = soup(site, name).select("a.sharp-button")
    return {
        button["class"][-1].removeprefix("sharp-button-"): button for button in found
    }


def test_chapter_has_all_buttons(site):
    found = buttons(site, f"book/{CHAPTER}.html")
    links = {kind: button["href"] for kind, button in found.items()}
    assert links == {
        "colab": "https://colab.research.google.com/github/owner/name/blob/notebooks"
        f"/book/{CHAPTER}.ipynb",
        "binder": "https://mybinder.org/v2/gh/owner/name/notebooks"
        f"?urlpath=lab/tree/book/{CHAPTER}.ipynb",
        "notebook": f"../_sources/book/{CHAPTER}.ipynb",
        "repository": "https://github.com/owner/name",
        "issue": "https://github.com/owner/name/issues/new"
        f"?title=On+the+page+book/{CHAPTER}",
    }


def test_page_of_prose_has_no_launch_buttons(site):
    assert set(buttons(site, "book/notation.html")) == {"repository", "issue"}


def test_every_button_has_words(site):
    for button in buttons(site, f"book/{CHAPTER}.html").values():
        assert button.get_text(strip=True)


def test_the_page_knows_its_own_address(site):
    tag = soup(site, "book/notation.html").find("meta", property="og:url")
    assert tag["content"] == "https://owner.github.io/name/book/notation.html"
    assert "https://owner.github.io/name/book/index.html" in (
        site / "sitemap.xml"
    ).read_text(encoding="utf-8")


def test_links_of_the_404_page_start_from_the_sites_root(site):
    assert soup(site, "404.html").find("base")["href"] == "/name/"


def test_pictures_of_buttons_are_local(site):
    for image in soup(site, f"book/{CHAPTER}.html").select("a.sharp-button img"):
        assert (site / "book" / image["src"]).is_file()


@pytest.mark.skipif(
    address.read() is not None, reason="the environment names an address"
)
def test_without_the_address_there_are_no_such_buttons(built):
    # The ordinary build.
    assert set(buttons(SITE, f"book/{CHAPTER}.html")) == {"notebook"}
