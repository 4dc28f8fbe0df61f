"""The built pages: what they load, where they lead, what they say of themselves."""

import base64
import copy
import io
import itertools
import json
import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest
import yaml

import build_book
from site_pages import (
    CODE,
    FORWARDING,
    REDIRECTS,
    SITE,
    TOP,
    anchors,
    loads,
    page,
    page_names,
    resolve,
    style_sheet_loads,
)

UNLISTED = {*FORWARDING, "404.html", "search.html"}
"""Pages that no table of contents names."""

_FOREIGN = re.compile(r"(?:https?:)?//")


def content_pages() -> list[str]:
    listed = [name for name in page_names() if name not in UNLISTED]
    return [name for name in listed if not name.startswith(CODE)]


def every_page() -> list[str]:
    # Without a site there is one failing test with a clear sentence, not none.
    return page_names() or ["index.html"]


@pytest.fixture(autouse=True)
def _needs_site(built):
    """Every test here fails with one sentence if the site is missing."""


@pytest.mark.parametrize("name", every_page())
def test_page_loads_nothing_from_another_host(name):
    foreign = [address for address in loads(name) if _FOREIGN.match(address)]
    assert foreign == []


def test_style_sheets_load_nothing_from_another_host():
    for path in SITE.rglob("*.css"):
        foreign = [u for u in style_sheet_loads(path) if _FOREIGN.match(u)]
        assert foreign == [], path


@pytest.mark.parametrize("name", every_page())
def test_what_a_page_loads_is_there(name):
    inside = [a for a in loads(name) if not a.startswith(("data:", "#"))]
    missing = [a for a in inside if not (SITE / resolve(name, a)[0]).is_file()]
    assert missing == []


@pytest.mark.parametrize("name", every_page())
def test_links_inside_the_site_resolve(name):
    broken = []
    for element in page(name).find_all("a", href=True):
        link = element["href"]
        if re.match(r"[a-z]+:", link):
            continue
        path, anchor = resolve(name, link)
        known = not anchor or not path.endswith(".html") or anchor in anchors(path)
        if not (SITE / path).is_file() or not known:
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("name", every_page())
def test_links_to_other_hosts_are_encrypted(name):
    links = [element["href"] for element in page(name).find_all("a", href=True)]
    assert [link for link in links if link.startswith("http:")] == []


@pytest.mark.parametrize("name", every_page())
def test_pictures_are_described(name):
    for image in page(name).find_all("img"):
        assert image.has_attr("alt"), image
        decoration = image.find_parent("a") is not None and image["alt"] == ""
        # By default a notebook's picture is described by the hash of its content.
        a_hash = re.search(r"[0-9a-f]{16}", image["alt"]) is not None
        assert decoration or (len(image["alt"]) >= 20 and not a_hash), image


@pytest.mark.parametrize("name", every_page())
def test_figures_are_whole(name):
    for figure in page(name).find_all("figure", class_="sharp-figure"):
        picture, caption = figure.find("svg"), figure.find("figcaption")
        assert len(picture["aria-label"]) >= 20
        assert len(caption.get_text(strip=True)) >= 20
        data = figure.find("a", download=True)
        head, _, content = data["href"].partition(",")
        text = base64.b64decode(content).decode()
        if head == "data:application/json;base64":
            columns = json.loads(text)["columns"].values()
            assert {len(column) > 0 for column in columns} == {True}
        else:
            assert head == "data:text/csv;base64"
            assert len(pd.read_csv(io.StringIO(text))) > 0


def test_figures_have_one_name_each():
    names = Counter(
        figure["id"]
        for name in content_pages()
        for figure in page(name).find_all("figure", class_="sharp-figure")
    )
    assert [name for name, times in names.items() if times > 1] == []


@pytest.mark.parametrize("name", every_page())
def test_source_of_each_figure_is_linked(name):
    for figure in page(name).find_all("figure", class_="sharp-figure"):
        code = figure.find("code", attrs={"data-source": True})
        assert code.parent.name == "a"
        path, anchor = resolve(name, code.parent["href"])
        line = page(path).find(id=anchor).get_text()
        function = code["data-source"].rpartition(".")[2]
        assert re.match(rf"(def {function}\(|@)", line), line


@pytest.mark.parametrize("name", every_page())
def test_identifiers_of_figures_are_unique_in_a_page(name):
    # Two marks with one name would draw the wrong one in the second picture.
    marks = Counter(
        str(tag["id"])
        for svg in page(name).find_all("svg")
        for tag in svg.find_all(id=True)
    )
    assert [mark for mark, times in marks.items() if times > 1] == []


@pytest.mark.parametrize("name", every_page())
def test_no_cell_failed_or_complained(name):
    found = page(name).select(".output.traceback, .output.stderr, .system-message")
    assert [element.get_text()[:200] for element in found] == []


@pytest.mark.parametrize("name", content_pages() or ["index.html"])
def test_page_says_what_it_is(name):
    soup = page(name)
    assert soup.title.get_text().endswith("Sharp Attention")
    assert len(soup.find_all("h1")) == 1 + len(soup.select("#jb-print-docs-body h1"))
    tags = {
        tag["property"]: tag["content"] for tag in soup.find_all("meta", property=True)
    }
    for part in ("title", "description", "url", "image", "image:alt", "site_name"):
        assert tags[f"og:{part}"], part
    assert tags["og:url"].endswith(f"/{name}")
    assert soup.find("meta", attrs={"name": "description"})["content"]


@pytest.mark.parametrize("name", content_pages() or ["index.html"])
def test_headings_do_not_skip_a_level(name):
    article = page(name).find("article")
    levels = [int(tag.name[1]) for tag in article.find_all(re.compile(r"^h[1-6]$"))]
    assert levels[0] == 1
    skipped = [(a, b) for a, b in itertools.pairwise(levels) if b > a + 1]
    assert skipped == []


@pytest.mark.parametrize("name", content_pages() or ["index.html"])
def test_no_markup_is_left_over(name):
    article = copy.copy(page(name).find("article"))
    for element in article.select("pre, code, .math, .sharp-figure"):
        element.extract()
    text = article.get_text()
    assert re.findall(r"\{[a-z:]+\}`|:::|\$\$|```|\[\]\(", text) == []


def test_root_forwards_to_the_front_page():
    refresh = page("index.html").find("meta", attrs={"http-equiv": "Refresh"})
    assert refresh["content"].endswith("url=book/index.html")


@pytest.mark.parametrize(("old", "new"), REDIRECTS.items())
def test_old_addresses_lead_to_their_page(old, new):
    refresh = page(f"{old}.html").find("meta", attrs={"http-equiv": "Refresh"})
    target = refresh["content"].split("url=")[1]
    assert resolve(f"{old}.html", target)[0] == f"{new}.html"


def test_every_page_of_the_contents_is_built():
    assert build_book.missing_pages(SITE) == []


def test_no_page_is_outside_the_contents():
    toc = yaml.safe_load((TOP / "_toc.yml").read_text(encoding="utf-8"))
    listed = {f"{name}.html" for name in build_book.pages(toc)}
    assert set(content_pages()) == listed


def test_sitemap_lists_the_pages():
    space = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
    root = ElementTree.parse(SITE / "sitemap.xml").getroot()
    listed = [element.text or "" for element in root.iter(f"{space}loc")]
    assert len(listed) == len(set(listed))
    start = {address.split("/book/")[0] for address in listed}
    assert len(start) == 1
    assert {f"book/{a.split('/book/')[1]}" for a in listed} == set(content_pages())
    assert "Sitemap: " + start.pop() in (SITE / "robots.txt").read_text()


def test_wrong_addresses_have_a_page():
    soup = page("404.html")
    assert soup.find("base")["href"].startswith("/")
    assert soup.h1.get_text() == "This page is not here"


def test_search_knows_the_words_of_the_book():
    text = (SITE / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text[text.index("{") : text.rindex("}") + 1])
    assert "dispers" in index["terms"]
    assert len(index["docnames"]) == len(content_pages())


def test_notebooks_can_be_downloaded():
    for name in content_pages():
        source = SITE / "_sources" / Path(name).with_suffix(".ipynb")
        button = page(name).select_one("a.sharp-button-notebook")
        assert (button is not None) == source.is_file(), name
        if button is not None:
            assert button.has_attr("download")
            assert resolve(name, button["href"])[0] == f"_sources/{name[:-5]}.ipynb"
            assert json.loads(source.read_text(encoding="utf-8"))["cells"]
