import re
from html.parser import HTMLParser

import pytest

from sharp_attention.claims import page
from toy_claims import claim

CLAIMS = [
    claim(id="late", chapter="adaptive-temperature", place="Table 1"),
    claim(0.6, (0.55, 0.65), id="early", statement="1 < 2 & 3 > 2.", place="Fig. 1"),
    claim(None, id="not-run", place="section 3"),
    claim(id="theorem", chapter="adaptive-temperature", place="Proposition 3.2"),
    claim(id="other", paper="single-location", chapter="population-risk"),
]


class Balance(HTMLParser):
    """Checks that every element is closed, in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def html(paper: str = "softmax-not-enough") -> str:
    return page.tables(CLAIMS, paper).html


def test_theorems_come_first_then_the_parts_in_the_book_order() -> None:
    captions = re.findall("<caption>(.*?)</caption>", html())
    assert captions == [
        f"Softmax is not enough: {page.THEOREMS}",
        "Softmax is not enough: Dispersion",
        "Softmax is not enough: Adaptive temperature",
    ]
    assert re.findall('<tr role="row" id="(.*?)"', html()) == [
        "theorem",
        "early",
        "not-run",
        "late",
    ]
    assert 'id="other"' in html("single-location")


def test_a_row_says_all_there_is_to_say() -> None:
    row = re.search('<tr role="row" id="early".*?</tr>', html()).group()
    text = re.sub("<[^>]*>", " ", row)
    for words in (
        "1 &lt; 2 &amp; 3 &gt; 2.",
        "Fig. 1",
        "confidence A",
        "0.5",
        "0.6 [0.55, 0.65]",
        "✗ differs (expected: reproduced)",
        "tests/claims/test_toy.py::test_claim_holds[half]",
        "sharp-attention claims --check --only half",
    ):
        assert words in text
    assert 'href="dispersion-lemma.html"' in row
    for attribute in (
        'data-status="differs"',
        'data-paper="softmax-not-enough"',
        'data-part="Dispersion"',
    ):
        assert attribute in row
    assert re.search("Expected *reproduced", text)
    assert re.search(r"Time.*[0-9.e-]+ s", text)


@pytest.mark.parametrize(
    "made",
    [page.tables(CLAIMS, "softmax-not-enough"), page.overview(CLAIMS)],
    ids=["tables", "overview"],
)
class TestAccessible:
    def test_elements_are_balanced(self, made: page.LedgerPage) -> None:
        assert Balance(made.html).open == []

    def test_tables_have_captions_and_header_cells_with_scope(
        self, made: page.LedgerPage
    ) -> None:
        assert made.html.count("<table") == made.html.count("<caption>")
        scopes = re.findall('<th scope="(row|col)"', made.html)
        assert len(scopes) == made.html.count("<th ")

    def test_roles_survive_another_layout(self, made: page.LedgerPage) -> None:
        for tag, role in (
            ("table", "table"),
            ("tr", "row"),
            ("td", "cell"),
            ("thead", "rowgroup"),
        ):
            tags = re.findall(f"<{tag}[ >][^>]*>?", made.html)
            assert tags
            assert all(f'role="{role}"' in found for found in tags)

    def test_nothing_comes_from_elsewhere(self, made: page.LedgerPage) -> None:
        assert not re.search("https?:|<script|<img|<link", made.html)

    def test_a_notebook_shows_it(self, made: page.LedgerPage) -> None:
        assert made._repr_html_() == made.html


def test_overview_counts_verdicts() -> None:
    made = page.overview(CLAIMS).html
    row = re.search("<th[^>]*>Softmax is not enough</th>(.*?)</tr>", made).group(1)
    assert re.findall(">([0-9]+)</td>", row) == ["2", "0", "1", "1"]


@pytest.mark.parametrize(
    ("place", "is_one"),
    [
        ("Lemma 2.1", True),
        ("Corollary 4.3, constants", True),
        ("corollary in appendix B (name and number unconfirmed)", True),
        ("Result 5.1", True),
        ("Figure 3", False),
        ("first seed note, on Theorem 2.2", False),
    ],
)
def test_what_is_like_a_theorem(place: str, is_one: bool) -> None:
    assert page.is_theorem(claim(place=place)) == is_one


def test_a_paper_without_claims_says_so() -> None:
    assert "No claim of this paper" in html("ours")


def test_unknown_paper_and_chapter_are_refused() -> None:
    with pytest.raises(ValueError, match="paper must be one of"):
        page.tables(CLAIMS, "third")
    with pytest.raises(ValueError, match="chapter must be one of"):
        page.tables([claim(chapter="nowhere")], "softmax-not-enough")


def test_a_reader_without_html_has_the_words() -> None:
    lines = repr(page.tables(CLAIMS, "softmax-not-enough")).splitlines()
    assert lines[0] == page.THEOREMS
    (early,) = (line for line in lines if "; early)" in line)
    assert early.startswith("- 1 < 2 & 3 > 2. (Fig. 1; early) Quoted: ")
    assert "computed: 0.6 [0.55, 0.65]. ✗ differs" in early
    counts = repr(page.overview(CLAIMS)).splitlines()
    assert counts[0].startswith("Softmax is not enough: 2 reproduced")
