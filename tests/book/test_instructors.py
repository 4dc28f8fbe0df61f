"""The page for instructors: sessions that fill their time, questions with answers."""

import ast
import re

import nbformat
import pytest

import build_slides
from site_pages import TOP

PARTS = {"I": 10, "II": 10, "III": 13, "IV": 13}
"""Exam questions of each."""

NOTEBOOK = nbformat.read(TOP / "book" / "for-instructors.ipynb", as_version=4)
TEXT = "\n\n".join(c.source for c in NOTEBOOK.cells if c.cell_type == "markdown")
CODE = "\n".join(
    cell.source
    for cell in NOTEBOOK.cells
    if cell.cell_type == "code" and "hide-cell" in cell.metadata.get("tags", [])
)
ANSWERS = dict(
    re.findall(r":::\{dropdown\} Answer (\w+\.\d+)\n(.*?)^:::$", TEXT, re.S | re.M)
)


@pytest.mark.parametrize("part", PARTS)
def test_questions_each_with_a_folded_answer(part):
    asked = re.findall(rf"^\*\*({part}\.\d+)\*\* \S", TEXT, re.M)
    assert asked == [f"{part}.{number}" for number in range(1, PARTS[part] + 1)]
    assert all(len(ANSWERS[name]) > 60 for name in asked)


def test_six_sessions_of_ninety_minutes():
    sessions = re.split(r"^## (?=Session \d)", TEXT, flags=re.M)[1:]
    assert len(sessions) == 6
    for session in sessions:
        spans = re.findall(r"^\| (\d+)–(\d+) \|", session, re.M)
        ends = [int(end) for _, end in spans]
        assert [int(start) for start, _ in spans] == [0, *ends[:-1]]
        assert ends[-1] == 90
        for needed in ("**Goals.**", "**Run live.**", "**Misc", "**Homework.**"):
            assert needed in session


def test_sessions_show_each_slide_of_their_deck_once():
    shown = {str(deck): [] for deck in range(1, 5)}
    for number, session in enumerate(
        re.split(r"^## (?=Session \d)", TEXT, flags=re.M)[1:], start=1
    ):
        (deck,) = re.findall(rf"^\| {number}\. .*\| deck (\d)", TEXT, re.M)
        for row in re.findall(r"^\| \d+–\d+ \|.*", session, re.M):
            for first, last in re.findall(r"slides? (\d+)(?:(?: to|,) (\d+))?", row):
                shown[deck] += range(int(first), int(last or first) + 1)
    for path in build_slides.DECKS.glob("*.md"):
        count = len(build_slides.slides(path.read_text(encoding="utf-8")))
        assert shown[path.name[0]] == list(range(1, count + 1)), path.name


def test_checked_numbers_stand_in_the_answers():
    # The cells check the numbers; here they are held against the words.
    calls = [n for n in ast.walk(ast.parse(CODE)) if isinstance(n, ast.Call)]
    checks = [n for n in calls if getattr(n.func, "id", "") == "check"]
    assert len(checks) >= 30
    for call in checks:
        question, stated = (getattr(arg, "value", None) for arg in call.args[:2])
        if isinstance(question, str) and isinstance(stated, str):
            said = ANSWERS[question].replace("{", "").replace("}", "")
            assert re.search(rf"(?<![\d.]){re.escape(stated)}(?!\d)", said), stated
