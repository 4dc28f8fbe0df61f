"""Modules of interactive figures as they stand in a page."""

import re

import pytest

from sharp_attention.figures import publish
from sharp_book import lab, source
from site_pages import TOP

FOLDER = TOP / lab.MODULES


def write(folder, **modules):
    for name, text in modules.items():
        (folder / f"{name}.js").write_text(text, encoding="utf-8")


def test_modules_are_joined_in_order_and_import_nothing(tmp_path):
    write(
        tmp_path,
        a='import { b } from "./b.js";\nimport { c } from "./c.js";\n\nb(c);\n',
        b='import { c } from "./c.js";\n\nexport function b(x) {\n  return x + c;\n}\n',
        c="const hidden = 1;\nexport const c = hidden;\n",
    )
    text = lab.bundle(tmp_path, ["a"])
    places = [text.index(part) for part in ("const { c } =", "const { b } =", "b(c);")]
    assert places == sorted(places)
    assert text.count("const hidden") == 1
    assert not re.search(r"^\s*(import|export)\b", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('import "./b.js";\n', "import"),
        ("export default 1;\n", "export"),
        ('const a = "</script>";\n', "end the script"),
    ],
)
def test_what_can_not_stand_in_a_page_is_refused(tmp_path, text, words):
    write(tmp_path, a=text)
    with pytest.raises(ValueError, match=words):
        lab.bundle(tmp_path, ["a"])


@pytest.mark.parametrize("name", publish.LABS)
def test_every_interactive_figure_is_light_and_defines_its_element(name):
    text = lab.bundle(FOLDER, [name])
    assert f'customElements.define("sharp-lab-{name}"' in text
    style = (FOLDER / "lab.css").read_text(encoding="utf-8")
    # Not compressed; the limit for a chart library was 60 kB compressed.
    assert len((text + style).encode()) < 40_000


def test_code_of_figures_has_pages():
    assert source.source_page("sharp_attention.figures.phases") == (
        "source/figures/phases"
    )
    with pytest.raises(LookupError, match="figures are drawn by"):
        source.source_page("sharp_attention.theory.dispersion")
