"""The printed edition: what it needs, and what it does to the book."""

from types import SimpleNamespace

import pandas as pd
import pytest
from docutils import nodes
from docutils.utils import new_document
from matplotlib import pyplot as plt
from sphinx.addnodes import number_reference, start_of_file
from sphinx_exercise.nodes import exercise_latex_number_reference

import build_pdf
from sharp_attention.figures import publish
from sharp_book import latex


def test_without_tex_nothing_is_made_and_that_is_said(monkeypatch, capsys):
    monkeypatch.setattr(build_pdf.shutil, "which", lambda name: None)
    monkeypatch.delattr(build_pdf.build_book, "build")  # would fail if it were called
    assert build_pdf.main() == 0
    assert capsys.readouterr().out.startswith("The PDF was skipped: latexmk, xelatex")


def test_a_failure_is_a_failure(monkeypatch, capsys):
    monkeypatch.setattr(build_pdf, "missing_programs", list)
    monkeypatch.setattr(build_pdf.shutil, "rmtree", lambda path, ignore_errors: None)
    monkeypatch.setattr(build_pdf.build_book, "build", lambda builder: 3)
    assert build_pdf.main() == 3
    assert "not built" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("Output written on sharpattention.pdf", 0),
        ("LaTeX Warning: There were undefined references.", 1),
    ],
)
def test_a_reference_to_nowhere_is_a_failure(monkeypatch, tmp_path, line, status):
    monkeypatch.setattr(build_pdf, "SOURCE", tmp_path)
    (tmp_path / "sharpattention.log").write_text(f"(./sphinx.sty)\n{line}\n")
    assert build_pdf.check_references() == status


@pytest.fixture
def book():
    """A front page whose last section holds the table of contents, and an app."""
    document = new_document("index")
    front = nodes.section("", nodes.title("", "Book"), ids=["book"])
    front += nodes.section("", nodes.title("", "Aim"), nodes.paragraph("", "To see."))
    contents = nodes.section("", nodes.title("", "Contents"))
    front += contents
    document += front
    parts = {"I. One": ["a", "b"], "II. Two": ["c"]}
    for names in parts.values():
        wrapper = nodes.compound(classes=["toctree-wrapper"])
        for name in names:
            title = nodes.title("", f"Chapter {name}")
            wrapper += start_of_file("", nodes.section("", title), docname=name)
        contents += wrapper
    subtrees = [SimpleNamespace(caption=c, items=n) for c, n in parts.items()]
    site = SimpleNamespace(root=SimpleNamespace(subtrees=subtrees))
    titles = {name: nodes.title("", f"Chapter {name}") for name in "abc"}
    env = SimpleNamespace(
        external_site_map=site, titles=titles, sphinx_exercise_registry={"ex": {}}
    )
    builder = SimpleNamespace(format="latex")
    return document, SimpleNamespace(env=env, builder=builder, srcdir="missing")


def test_chapters_stand_under_their_parts(book):
    document, app = book
    latex._prepare(app, document, "index")
    (front,) = document.children
    found = [node.astext() for node in front.children]
    assert found[:2] == ["Book", "Aim\n\nTo see."]
    assert [text.split("{")[0] for text in found[2:]] == [
        r"\part*",
        "Chapter a",
        "Chapter b",
        r"\part*",
        "Chapter c",
    ]
    assert r"{toc}{part}{II. Two}" in found[5]


def test_references_use_the_labels_that_are_written(book):
    document, app = book
    page = next(document.findall(start_of_file))
    paragraph = nodes.paragraph()
    for uri in ("%b#ex", "%b#fig"):
        text = nodes.inline("", "Exercise 4")
        paragraph += number_reference("", "", text, refuri=uri)
    page += paragraph
    latex._prepare(app, document, "index")
    own, other = paragraph.children
    assert isinstance(own, exercise_latex_number_reference)
    assert (own["refid"], own.astext()) == ("ex", "Exercise 4")
    assert other["refuri"] == "%b#fig"


def test_a_chapter_keeps_its_name_beside_a_section_of_the_same(book):
    document, app = book
    latex._prepare(app, document, "index")
    chapters = document.findall(start_of_file)
    names = [next(file.findall(nodes.section))["names"] for file in chapters]
    assert names == [["chapter a"], ["chapter b"], ["chapter c"]]


def test_what_is_for_the_screen_is_left_out(book):
    document, app = book
    page = next(document.findall(start_of_file))
    page += nodes.image(uri="dark.svg", classes=["only-dark"])
    page += nodes.image(uri="light.svg", classes=["only-light"])
    for tags in (["cell", "tag_hide-input"], ["cell"]):
        source = nodes.container("", nodes.literal_block("", "draw()"))
        source["classes"] = ["cell_input"]
        page += nodes.container("", source, classes=tags)
    latex._prepare(app, document, "index")
    assert [image["uri"] for image in document.findall(nodes.image)] == ["light.svg"]
    assert len(list(document.findall(nodes.literal_block))) == 1


def test_a_published_figure_is_printed_with_its_caption(book, tmp_path):
    document, app = book
    app.srcdir = tmp_path
    table = pd.DataFrame({"x": [1]})
    figure = publish.publish(
        plt.figure(),
        table,
        name="empty",
        caption="Nothing to be seen.",
        alt="An empty figure, drawn for a test.",
        source=publish.publish,
    )
    (tmp_path / "figure.png").write_bytes(figure.png)
    page = next(document.findall(start_of_file))
    page += nodes.image(uri="figure.png")
    page += nodes.image(uri="missing.png")
    latex._prepare(app, document, "index")
    assert [node.astext() for node in page.children[1:4]] == [
        "",
        "Nothing to be seen.",
        "",
    ]


def test_the_site_is_left_alone(book):
    document, app = book
    app.builder.format = "html"
    before = document.pformat()
    latex._prepare(app, document, "index")
    assert document.pformat() == before
