"""What pages load of their own is little, and the table of weights is true."""

import csv
import statistics

import pytest

import weigh_pages
from browser import serve
from site_pages import SITE, opened_pages, page

PAINTS = """
() => new Promise(resolve => new PerformanceObserver(list => {
  const [first] = list.getEntriesByName("first-contentful-paint");
  if (first) resolve(first.startTime);
}).observe({type: "paint", buffered: true}))
"""


@pytest.fixture(scope="module")
def recorded(built):
    path = SITE / weigh_pages.TABLE
    assert path.is_file(), "run `python tools/weigh_pages.py` first"
    with path.open(encoding="utf-8") as file:
        return {row["page"]: row for row in csv.DictReader(file)}


@pytest.fixture(scope="module")
def address(built):
    prefix = page("404.html").find("base")["href"]
    with serve(SITE, prefix) as address:
        yield address


def test_no_page_is_too_heavy(recorded):
    heavy = {
        name: row["own_bytes"]
        for name, row in recorded.items()
        if int(row["own_bytes"]) > weigh_pages.LIMIT
    }
    assert heavy == {}


@pytest.mark.parametrize("name", opened_pages())
def test_recorded_weight_is_the_weight(recorded, name):
    weight = weigh_pages.weigh(SITE, name)
    found = {key: str(value) for key, value in vars(weight).items()}
    assert recorded[name] == found


def test_a_heavy_picture_is_noticed(tmp_path):
    picture = tmp_path / "big.svg"
    picture.write_bytes(b"x" * (weigh_pages.LIMIT + 1))
    (tmp_path / "_static").mkdir()
    (tmp_path / "_static" / "all.css").write_text("a{}")
    text = '<link rel="stylesheet" href="_static/all.css"><img src="big.svg">'
    (tmp_path / "a.html").write_text(text)
    weight = weigh_pages.weigh(tmp_path, "a.html")
    assert weight == weigh_pages.Weight(
        "a.html", 2, weigh_pages.LIMIT + 1 + len(text), 1, 3
    )
    assert weight.own_bytes > weigh_pages.LIMIT


def test_a_file_that_is_missing_is_noticed(tmp_path):
    (tmp_path / "a.html").write_text('<img src="gone.svg">')
    with pytest.raises(FileNotFoundError, match=r"gone\.svg"):
        weigh_pages.weigh(tmp_path, "a.html")


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("name", opened_pages())
def test_first_paint_comes_soon(chromium, address, name):
    """Median over five loads from this machine, each with an empty cache."""
    paints = []
    for _ in range(5):
        context = chromium.new_context()
        tab = context.new_page()
        tab.goto(f"{address}/{name}", wait_until="load")
        paints.append(tab.evaluate(PAINTS))
        context.close()
    assert statistics.median(paints) <= 1000, sorted(paints)
