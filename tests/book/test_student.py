"""The student edition holds no solution: searched in its notebooks and pages."""

import ast
import builtins
import re
from functools import cache

import nbformat
import pytest
from bs4 import BeautifulSoup

import build_student
import student
from site_pages import TOP

CHAPTERS = sorted(
    path
    for path in (TOP / "book").glob("*.ipynb")
    if f"book/{path.stem}" in build_student.pages()
)
UNSEEN = re.compile(r"\$\$.*?\$\$|\$[^$]*\$|\{[\w:-]+\}`[^`]*`|\]\([^)]*\)", re.DOTALL)
"""What a page shows as something else than its words: formulas, roles, addresses."""

chapters = pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)


def words(text):
    """Words alone: typography and markup differ between sources and pages."""
    return " ".join(re.findall(r"[a-z0-9]+", text.lower()))


def solution_texts(text):
    """Bodies of solutions, found line by line, not as the program finds them."""
    found, fence = [], None
    for line in text.splitlines():
        opening = re.match(r"([`:]{3,})\{solution\}", line)
        if opening:
            fence = opening[1]
            found.append([])
        elif fence and line.strip() == fence:
            fence = None
        elif fence and not line.startswith(":class:"):
            found[-1].append(line)
    return ["\n".join(body) for body in found]


def is_solved_by(notebook):
    """Code cells that belong to solutions: tagged, or right below a solution."""
    below, found = False, []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            below = bool(solution_texts(cell.source))
        elif below or "solution" in tags(cell):
            found.append(cell)
    return found


@cache
def full(path):
    return nbformat.read(path, as_version=4)


@cache
def stripped(path):
    return student.chapter(full(path))


def pieces_of_text(notebook):
    """Stretches of at least five words that only a solution has."""
    text = "\n\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    solved = [UNSEEN.sub("\0", body) for body in solution_texts(text)]
    stretches = {words(part) for body in solved for part in re.split("[\0\n]", body)}
    everything, inside = words(UNSEEN.sub("\0", text)), words("\0".join(solved))
    long = [part for part in stretches if part.count(" ") >= 4]
    return [part for part in long if everything.count(part) == inside.count(part)]


def said(notebook):
    """Words of a chapter outside of its solutions."""
    text = "\n\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    for body in solution_texts(text):
        text = text.replace(body, "\0")
    return words(UNSEEN.sub("\0", text))


def lines(cells):
    found = {" ".join(line.split()) for c in cells for line in c.source.splitlines()}
    told = ("import ", "from ", "def ", "check(", "#")
    return {x for x in found if len(x) >= 20 and not x.startswith(told)}


def told(notebook):
    """Lines of code that a chapter shows outside of its solutions."""
    ids = {cell.id for cell in is_solved_by(notebook)}
    others = [c for c in notebook.cells if c.cell_type == "code" and c.id not in ids]
    text = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    # An exercise shows the stub, which a solution may repeat.
    solved = set(as_lines("\n".join(solution_texts(text))))
    return lines(others) | (set(as_lines(text)) - solved)


def pieces_of_code(notebook):
    """Lines that only the code of a solution has."""
    return lines(is_solved_by(notebook)) - told(notebook)


def as_lines(text):
    return [" ".join(line.split()) for line in text.splitlines()]


def test_there_is_something_to_search_for():
    texts = [piece for path in CHAPTERS for piece in pieces_of_text(full(path))]
    code = [piece for path in CHAPTERS for piece in pieces_of_code(full(path))]
    assert len(texts) > 120
    assert len(code) > 60


@chapters
def test_search_finds_solutions_where_they_are(path):
    # The negative control: the same search over the full chapter finds every piece.
    text, code = text_and_code(full(path))
    assert all(piece in text for piece in pieces_of_text(full(path)))
    assert pieces_of_code(full(path)) <= set(code)


def text_and_code(notebook):
    text = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    code = "\n".join(c.source for c in notebook.cells if c.cell_type == "code")
    return words(UNSEEN.sub("\0", text)), as_lines(code)


@chapters
def test_notebook_holds_no_solution(path):
    text, code = text_and_code(stripped(path))
    assert [piece for piece in pieces_of_text(full(path)) if piece in text] == []
    assert pieces_of_code(full(path)) & set(code) == set()
    assert "{solution}" not in str(stripped(path))


@chapters
def test_nothing_else_is_taken_away(path):
    before, after = (
        [c.source for c in notebook.cells if c.cell_type == "code"]
        for notebook in (full(path), stripped(path))
    )
    solved = [cell.source for cell in is_solved_by(full(path))]
    assert [x for x in before if x not in solved] == [x for x in after if x in before]
    exercises = [
        re.findall(r"\{exercise\}", str(nb)) for nb in (full(path), stripped(path))
    ]
    assert len(exercises[0]) == len(exercises[1])


def names(cells):
    """Names that cells define, and those that they use before they define them."""
    defined, used = set(dir(builtins)), {}
    for cell in cells:
        tree = ast.parse(re.sub(r"^(\s*)[%!].*$", r"\1pass", cell.source, flags=re.M))
        nodes = list(ast.walk(tree))
        defined |= {n.id for n in nodes if isinstance(n, ast.Name) and stores(n)}
        defined |= {n.arg for n in nodes if isinstance(n, ast.arg)}
        defined |= {n.name for n in nodes if isinstance(n, ast.FunctionDef)}
        defined |= {n.name for n in nodes if isinstance(n, ast.ExceptHandler)}
        aliases = [n for n in nodes if isinstance(n, ast.alias)]
        defined |= {(a.asname or a.name).split(".")[0] for a in aliases}
        loads = {n.id for n in nodes if isinstance(n, ast.Name)} - defined
        used |= dict.fromkeys(loads, cell.source)
    return defined, used


def stores(node):
    return isinstance(node.ctx, ast.Store)


@chapters
def test_what_is_left_needs_nothing_that_was_taken(path):
    left = [c for c in stripped(path).cells if c.cell_type == "code"]
    _, missing = names(left)
    assert missing == {}


@chapters
def test_cells_to_fill_run_and_say_that_they_are_empty(path, capsys):
    empty = [c for c in stripped(path).cells if tags(c) == [student.TO_FILL]]
    text = "\n".join(c.source for c in full(path).cells)
    assert len(empty) == len(re.findall(r"\{exercise\} Code ·", text))
    for cell in empty:
        exec(compile(cell.source, path.name, "exec"), {})
        assert "is still empty" in capsys.readouterr().out


def tags(cell):
    return cell.metadata.get("tags", [])


def test_page_for_instructors_is_not_for_students():
    assert "book/for-instructors" not in build_student.pages()
    for path in (TOP / "book").glob("*.md"):
        text = student.without_asides(path.read_text(encoding="utf-8"))
        assert "for-instructors" not in text, path
    for path in CHAPTERS:
        assert "for-instructors" not in str(stripped(path)), path


@pytest.fixture(scope="module")
def site(built):
    assert build_student.main() == 0
    return build_student.STUDENT / "html"


@pytest.mark.slow
def test_pages_hold_no_solution(site):
    # The library's source is shown where it draws figures, and nowhere else.
    assert not (site / "source" / "exercises").exists()
    pages = [path for path in site.rglob("*.html") if "source" not in path.parts]
    assert len(pages) > len(CHAPTERS)
    assert not (site / "book" / "for-instructors.html").exists()
    shown, code = {}, set()
    for path in pages:
        soup = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        code |= {line for pre in soup.find_all("pre") for line in as_lines(pre.text)}
        for formula in soup.select(".math"):
            formula.replace_with("\0")
        shown[path.name] = words(soup.get_text())
        assert "Answer I.1" not in shown[path.name]
    everything = "\n".join(shown.values())
    # One chapter may say five words, or begin a loop, as another one's solution does.
    other = "\n".join(said(full(path)) for path in CHAPTERS)
    anywhere = set().union(*(told(full(path)) for path in CHAPTERS))
    for path in CHAPTERS:
        found = [piece for piece in pieces_of_text(full(path)) if piece in everything]
        assert [piece for piece in found if piece not in other] == [], path
        assert (pieces_of_code(full(path)) - anywhere) & code == set(), path


@pytest.mark.slow
def test_search_and_downloads_hold_no_solution(site):
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    assert "for-instructors" not in index
    for path in CHAPTERS:
        given = site / "_sources" / "book" / path.name
        notebook = nbformat.read(given, as_version=4)
        assert notebook == nbformat.read(
            build_student.STUDENT / "notebooks" / path.name, as_version=4
        )
        text, code = text_and_code(notebook)
        assert not [x for x in pieces_of_text(full(path)) if x in text]
        assert pieces_of_code(full(path)) & set(code) == set()
