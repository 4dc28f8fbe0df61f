"""How the chapters are written: short, asked first, and without typed numbers."""

import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from sharp_attention.exercises import exercises, stub
from site_pages import TOP

NOT_CHAPTERS = {"claims", "discrepancies", "for-instructors", "reproduce"}
CHAPTERS = [
    path
    for path in sorted((TOP / "book").glob("*.ipynb"))
    if path.stem not in NOT_CHAPTERS
]
LONGEST_PARAGRAPH = LONGEST_SUMMARY = 120
"""Words."""

TITLE = re.compile(
    r"(Derivation|Numeric|Code|Judgement) · (easy|medium|hard) · ([1-9]\d?) min"
    r" · [A-Z].+"
)
EXERCISE = re.compile(
    r"^(?P<fence>`{3,})\{exercise\} ?(?P<title>[^\n]*)\n:label: (?P<label>[\w-]+)\n"
    r"(?P<text>.*?)^(?P=fence)$",
    re.DOTALL | re.MULTILINE,
)
SOLUTION = re.compile(
    r"^(?P<fence>`{3,})\{solution\} (?P<label>[\w-]+)\n(?P<text>.*?)^(?P=fence)$",
    re.DOTALL | re.MULTILINE,
)

ASKED = re.compile(
    r"\b(how|what|which|why|where|when|who|show|derive|prove|write|compute|find|list|name"
    r"|say|compare|try|solve|extend|replace|explain|evaluate|draw|count|give|sort|fit)\b",
    re.IGNORECASE,
)
"""An exercise asks for one of these; what is left could be answered by yes or no."""

SOLUTION_TAGS = {"solution", "hide-cell"}

TYPED = {
    "adaptive-temperature": {
        "the rule as it is printed": "0.5 0.037 1.791",
        "quoted spread": "5.69",
    },
    "dispersion-lemma": {
        "quoted spreads": "0.09 14.78 2.05 2.28 2.61 32.74 5.69 5.82",
        "a weight that somebody claims": "0.98",
    },
    "logit-spread": {
        "quoted spreads": "0.09 14.78 2.05 2.28 2.61 32.74 5.69 5.82",
        "a case made up for a question": "5.7",
    },
    "max-retrieval": {"quoted accuracies": "12.4 14.0"},
    "size-generalisation": {"twice the logarithm of two": "1.386"},
    "primer": {
        "inputs of a question": "0.1 0.5 0.8",
        "what a reader finds in the head": "0.6 1.6",
        "a condition of a lemma": "1.9",
    },
}
"""Decimals that may stand in the prose of a chapter, and why."""


@pytest.fixture(params=CHAPTERS, ids=lambda path: path.stem)
def chapter(request) -> Path:
    return request.param


@pytest.fixture
def cells(chapter) -> list[nbformat.NotebookNode]:
    return nbformat.read(chapter, as_version=4).cells


@pytest.fixture
def text(cells) -> str:
    """The chapter's Markdown."""
    return "\n\n".join(c.source for c in cells if c.cell_type == "markdown")


def paragraphs(text: str) -> Iterator[str]:
    """The pieces of prose: what blank lines, items of lists and directives part."""
    without = re.sub(r"^\$\$.*?^\$\$[^\n]*$", "", text, flags=re.DOTALL | re.MULTILINE)
    for piece in re.split(r"\n\s*\n|\n(?=[-*] |\d+\. |[`:]{3})", without):
        if not piece.lstrip().startswith("|"):  # a table
            yield piece


def prose(text: str) -> str:
    """Markdown without displayed formulas, code, targets of links and labels."""
    text = re.sub(r"^```python\n.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"\$\$.*?\$\$", "", text, flags=re.DOTALL)
    text = re.sub(r"`[^`\n]*`", "", text)
    return re.sub(r"\]\([^)]*\)|^:label:.*$", "", text, flags=re.MULTILINE)


def decimals(text: str) -> list[str]:
    """Decimals in prose and in formulas within a line; not numbers of statements."""
    text = re.sub(
        r"\b(Lemma|Theorem|Proposition|Corollary|Result|statement) \d\.\d",
        "",
        prose(text),
    )
    text = re.sub(r"\\[a-z]+", " ", text)  # commands, as in $5\\pm2$
    return re.findall(r"(?<![\w.])\d+\.\d+", text)


def allowed(chapter: Path) -> set[str]:
    return set(" ".join(TYPED.get(chapter.stem, {}).values()).split())


def ends_with_solution(text: str) -> bool:
    """Tell whether the last thing in some Markdown is a solution."""
    ends = [found.end() for found in SOLUTION.finditer(text)]
    return bool(ends) and ends[-1] == len(text.rstrip())


def test_paragraphs_are_short(text):
    long = [p for p in paragraphs(text) if len(p.split()) > LONGEST_PARAGRAPH]
    assert long == []


def test_summary_is_short_and_says_what_comes_next(text):
    found = re.search(
        r"^## Summary\n(.*?)^(\*\*)?(Next|What comes next):",
        text,
        re.DOTALL | re.MULTILINE,
    )
    assert found is not None
    assert 0 < len(found[1].split()) <= LONGEST_SUMMARY
    last = text.rstrip().splitlines()[-1]
    assert re.search(r"\]\([\w-]+\.(ipynb|md)\)", last), last


def test_tells_the_paper_from_what_was_found(text):
    assert "## The paper and us" in text
    assert ":::{admonition} The paper and us" in text


def test_exercises_are_of_all_kinds(text):
    kinds = []
    for found in EXERCISE.finditer(text):
        title = TITLE.fullmatch(found["title"])
        assert title is not None, f"{found['label']}: {found['title']!r}"
        kinds.append(title[1])
    assert set(kinds) == {"Derivation", "Numeric", "Code", "Judgement"}


def test_exercises_ask_for_more_than_yes_or_no(text):
    for found in EXERCISE.finditer(text):
        assert ASKED.search(found["text"]), found["label"]


def test_each_exercise_has_a_folded_solution(text):
    solutions = {found["label"]: found["text"] for found in SOLUTION.finditer(text)}
    assert [f["label"] for f in EXERCISE.finditer(text)] == list(solutions)
    for label, solution in solutions.items():
        assert solution.startswith(":class: dropdown\n"), label


def test_code_of_solutions_is_folded_and_follows_its_text(cells):
    solution = False
    for cell in cells:
        if cell.cell_type == "markdown":
            solution = ends_with_solution(cell.source)
        else:
            tags = cell.metadata.get("tags", [])
            expected = ["solution", "hide-cell"] if solution else []
            assert [t for t in tags if t in SOLUTION_TAGS] == expected, cell.source


def test_code_exercises_have_a_checker_and_its_stub(chapter, text):
    stubs = {stub(e.name) for e in exercises() if e.chapter == chapter.stem}
    shown = set()
    for found in EXERCISE.finditer(text):
        blocks = re.findall(
            r"^```python\n(.*?)\n```$", found["text"], re.DOTALL | re.MULTILINE
        )
        assert bool(blocks) == found["title"].startswith("Code"), found["label"]
        shown.update(blocks)
    assert shown == stubs


def test_figures_are_guessed_first(cells):
    asked, missing = False, []
    for cell in cells:
        if cell.cell_type == "markdown":
            for line in cell.source.splitlines():
                asked = "**Guess first" in line or (asked and not re.match("#+ ", line))
        elif "publish.publish(" in cell.source:
            (name,) = re.findall(r'name="([\w-]+)"', cell.source)
            if not asked:
                missing.append(name)
    assert missing == []


def test_guesses_have_a_folded_answer(text):
    pieces = text.split("**Guess first")[1:]
    for piece in pieces:
        assert re.match(
            r"[^#]*?^:::\{dropdown\} Answer$", piece, re.DOTALL | re.MULTILINE
        ), piece[:200]


def test_numbers_are_computed(chapter, text):
    assert set(decimals(text)) - allowed(chapter) == set()


def test_allowed_numbers_are_needed(chapter, text):
    assert allowed(chapter) <= set(decimals(text))


def test_a_typed_number_would_be_found():
    assert decimals("It is 0.42, or $x\\pm0.37$; see Lemma 2.1 and `1.5`.") == [
        "0.42",
        "0.37",
    ]
