"""The printed edition: parts and chapters, and what it leaves out."""

from pathlib import Path

from docutils import nodes
from PIL import Image
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx_exercise.nodes import exercise_latex_number_reference

__all__ = ["setup"]


def setup(app: Sphinx) -> None:
    """Change the whole book once all references are resolved."""
    app.connect("doctree-resolved", _prepare)


def _prepare(app: Sphinx, document: nodes.document, _: str) -> None:
    if app.builder.format != "latex":
        return
    for image in list(document.findall(nodes.image)):
        if "only-dark" in image["classes"]:
            image.parent.remove(image)
        else:
            _add_caption(image, Path(app.srcdir) / image["uri"])
    for cell in document.findall(nodes.container):
        if "tag_hide-input" in cell["classes"]:
            _without_input(cell)
    _point_to_exercises(app, document)
    _name_chapters(app, document)
    _raise_parts(app, document)


def _add_caption(image: nodes.image, path: Path) -> None:
    """Print the description that a published figure carries, see `figures.publish`."""
    if path.suffix != ".png" or not path.is_file():
        return
    with Image.open(path) as picture:
        caption = picture.info.get("Description")
    if caption:
        place = image.parent.index(image) + 1
        text = nodes.emphasis("", caption)
        image.parent.insert(place, nodes.paragraph("", "", text))


def _without_input(cell: nodes.container) -> None:
    """Drop code that a reader of the site sees only on demand."""
    for part in list(cell.findall(nodes.container)):
        if "cell_input" in part["classes"]:
            part.parent.remove(part)


def _point_to_exercises(app: Sphinx, document: nodes.document) -> None:
    """Let references from other chapters use the labels that sphinx-exercise writes.

    It does so within a chapter; elsewhere Sphinx would point to labels of its own.
    """
    for reference in list(document.findall(addnodes.number_reference)):
        label = reference.get("refuri", "").partition("#")[2]
        if label in app.env.sphinx_exercise_registry:
            own = exercise_latex_number_reference(refid=label)
            own += nodes.Text(reference.astext())
            reference.replace_self(own)


def _name_chapters(app: Sphinx, document: nodes.document) -> None:
    """Restore names of chapters that docutils drops where a section has the same.

    By them sphinx-proof finds the chapter of a theorem, its number and its label.
    """
    for file in document.findall(addnodes.start_of_file):
        chapter = next(file.findall(nodes.section))
        name = app.env.titles[file["docname"]].astext().lower()
        if name not in chapter["names"]:
            chapter["names"].append(name)


def _raise_parts(app: Sphinx, document: nodes.document) -> None:
    """Take the chapters out of the front page's last section, under their part.

    Sphinx prints a table of contents where it stands, so every chapter would be a
    section of the front page's last one.
    """
    front = next(document.findall(nodes.section))
    root = app.env.external_site_map.root
    chapters = {
        file["docname"]: file
        for file in document.findall(addnodes.start_of_file)
        if file.parent is not None
    }
    for part in root.subtrees:
        # Captions bring their own numbers.
        heading = (
            rf"\part*{{{part.caption}}}"
            rf"\addcontentsline{{toc}}{{part}}{{{part.caption}}}"
        )
        front += nodes.raw("", heading, format="latex")
        for name in part.items:
            chapter = chapters[str(name)]
            chapter.parent.remove(chapter)
            front += chapter
    for wrapper in list(front.findall(nodes.compound)):
        if "toctree-wrapper" in wrapper["classes"] and not wrapper.children:
            _remove_with_heading(wrapper)


def _remove_with_heading(wrapper: nodes.compound) -> None:
    section = wrapper.parent
    section.remove(wrapper)
    if all(isinstance(child, nodes.title) for child in section.children):
        section.parent.remove(section)
