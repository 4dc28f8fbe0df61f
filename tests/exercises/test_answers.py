"""Each exercise: the book's solution passes, wrong answers are told their symptom.

Solutions are read from the chapters, so that book and test can't differ.
Wrong answers of a chapter are in ``wrong/CHAPTER.py``, each with a word of what it
must be told.
"""

import importlib.util
from pathlib import Path

import nbformat
import pytest

from sharp_attention.exercises import diagnose, exercises

BOOK = Path(__file__).parents[2] / "book"
WRONG = Path(__file__).parent / "wrong"


def solution(exercise):
    """Run the solution's cell, by itself, and return the function that it checks."""
    notebook = nbformat.read(BOOK / f"{exercise.chapter}.ipynb", as_version=4)
    found = [
        cell.source
        for cell in notebook.cells
        if "solution" in cell.metadata.get("tags", [])
        and f'check("{exercise.name}", {exercise.function})' in cell.source
    ]
    assert len(found) == 1, f"one solution of {exercise.name} in its chapter"
    names = {}
    exec(found[0], names)
    return names[exercise.function]


def wrong_answers(exercise):
    path = WRONG / f"{exercise.chapter.replace('-', '_')}.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.WRONG[exercise.name]


@pytest.fixture(params=exercises(), ids=lambda exercise: exercise.name)
def exercise(request):
    return request.param


def test_right_answer_passes(exercise):
    assert diagnose(exercise.name, exercise.right) is None


def test_solution_of_the_book_passes(exercise, capsys):
    assert diagnose(exercise.name, solution(exercise)) is None
    assert "Right:" in capsys.readouterr().out


def test_empty_answer_is_told(exercise):
    assert "is still empty" in (diagnose(exercise.name, lambda *given: None) or "")


def test_wrong_answers_are_told_their_symptom(exercise):
    answers = wrong_answers(exercise)
    assert len(answers) >= 2
    for answer, symptom in answers:
        assert symptom in (diagnose(exercise.name, answer) or ""), symptom


def test_each_lookalike_is_told_its_own_symptom(exercise):
    for symptom, lookalike in exercise.lookalikes.items():
        assert diagnose(exercise.name, lookalike) == symptom
