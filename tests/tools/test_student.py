"""What is taken out of a chapter for the student edition, and what is put in."""

import nbformat
import pytest
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

import build_student
import student

EXERCISE = """\
```{exercise}
:label: ex-a

Add.
```

````{solution} ex-a
:class: dropdown

The secret:

```python
inner
```
````
"""


def chapter(*cells):
    return student.chapter(new_notebook(cells=list(cells)))


def sources(notebook):
    return [cell.source for cell in notebook.cells]


@pytest.fixture(autouse=True)
def stubs(monkeypatch):
    monkeypatch.setattr(student, "stub", lambda name: f"fill {name}")


def test_text_and_code_of_solutions_go():
    found = chapter(
        new_markdown_cell(EXERCISE),
        new_code_cell("after = 1"),
        new_code_cell("after = 2"),
        new_markdown_cell("## Next"),
        new_code_cell("kept = 1"),
        new_code_cell("hidden = 1", metadata={"tags": ["solution"]}),
    )
    exercise = EXERCISE.split("\n\n````")[0]
    assert sources(found) == [exercise, "## Next", "kept = 1"]


def test_cell_of_a_solution_alone_leaves_nothing():
    alone = "```{solution} ex-a\ntext\n```"
    assert sources(chapter(new_markdown_cell(alone), new_code_cell("x = 1"))) == []


def test_checked_solution_leaves_its_stub():
    code = 'def f(x):\n    return x\n\n\ncheck("page/f", f)'
    found = chapter(new_markdown_cell(EXERCISE), new_code_cell(code))
    assert sources(found)[1] == "fill page/f"
    assert found.cells[1].metadata["tags"] == [student.TO_FILL]
    nbformat.validate(found)


def test_exercise_points_to_its_cell_instead_of_showing_it_twice():
    shown = EXERCISE.replace("Add.", "Add.\n\n```python\nfill page/f\n```")
    code = 'check("page/f", f)'
    first, second = sources(chapter(new_markdown_cell(shown), new_code_cell(code)))
    assert "Fill in the cell below." in first
    assert "page/f" not in first
    assert second == "fill page/f"


def test_stub_that_the_chapter_shows_is_not_repeated():
    shown = new_code_cell('...\n\n\ncheck("page/f", f)')
    solved = new_code_cell('check("page/f", f)')
    found = chapter(shown, new_markdown_cell(EXERCISE), solved)
    assert len(found.cells) == 2


def test_the_chapter_itself_is_left_as_it_is():
    cell = new_markdown_cell(EXERCISE)
    chapter(cell)
    assert cell.source == EXERCISE


def test_asides_for_instructors_go():
    text = "a\n\n% instructors: begin\nsecret\n% instructors: end\n\nb\n"
    assert student.without_asides(text) == "a\n\n\nb\n"
    assert student.without_asides("a % instructors: begin\n") != ""


def test_contents_without_the_page_for_instructors():
    toc = yaml.safe_load((build_student.TOP / "_toc.yml").read_text(encoding="utf-8"))
    every = set(build_student.build_book.pages(toc))
    assert every - set(build_student.pages()) == set(build_student.LEFT_OUT)


def test_nothing_is_executed_and_paths_hold_anywhere():
    path = build_student.TOP / "_config.yml"
    changed = build_student.settings(yaml.safe_load(path.read_text(encoding="utf-8")))
    assert changed["execute"]["execute_notebooks"] == "off"
    extension = changed["sphinx"]["local_extensions"]["sharp_book"]
    assert extension == str(build_student.TOP / "tools")


def test_chapter_that_was_not_executed(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(build_student, "STUDENT", tmp_path / "student")
    monkeypatch.setattr(build_student, "SOURCE", tmp_path / "source")
    monkeypatch.setattr(build_student.cache, "choose", lambda top: tmp_path / "cache")
    (tmp_path / "cache").mkdir()
    assert build_student.main() == 1
    assert "make book first" in capsys.readouterr().out
