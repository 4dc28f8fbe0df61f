import base64
import json
import re
from pathlib import Path

import pandas as pd
import pytest
from matplotlib import pyplot as plt

from sharp_attention.figures import publish, style

DATA = pd.DataFrame({"x": [0.0, 1.0], "y": [0.5, 0.25]})
ALT = "A line that falls from one half to one quarter."


def draw() -> plt.Figure:
    with style.use_style():
        figure, axes = plt.subplots()
        axes.plot(DATA["x"], DATA["y"], color=style.COLOURS["softmax"])
        style.message(axes, "It falls")
        style.label_line(axes, 1, 0.25, "softmax", style.COLOURS["softmax"])
    return figure


def published(**changes: object) -> publish.PublishedFigure:
    arguments = {"name": "it-falls", "caption": "Falls.", "alt": ALT, "source": draw}
    return publish.publish(draw(), DATA, **(arguments | changes))


def test_picture_is_accessible_and_follows_the_page_colour() -> None:
    html = published().html()
    assert 'role="img"' in html
    assert f'aria-label="{ALT}"' in html
    assert "currentColor" in html
    assert style.PAGE_TEXT not in html
    assert style.COLOURS["softmax"] in html


def test_same_figure_gives_the_same_bytes() -> None:
    assert published().svg == published().svg


def test_identifiers_carry_the_name_so_that_figures_do_not_clash() -> None:
    identifiers = re.findall(r'\bid="([^"]+)"', published().svg)
    assert identifiers
    assert all(identifier.startswith("it-falls-") for identifier in identifiers)
    targets = re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', published().svg)
    assert {a or b for a, b in targets} <= set(identifiers)


def test_equal_images_do_not_share_an_identifier() -> None:
    with style.use_style():
        figure, panels = plt.subplots(1, 2)
        for axes in panels:
            axes.imshow([[0.0, 1.0]])
    svg = publish.publish(
        figure, DATA, name="twice", caption="Two.", alt=ALT, source=draw
    ).svg
    identifiers = re.findall(r'\bid="([^"]+)"', svg)
    assert svg.count("<image") == 2
    assert len(identifiers) == len(set(identifiers))


def test_nothing_leaks_into_the_page_or_comes_from_elsewhere() -> None:
    html = published().html()
    assert "<style" not in html
    assert not re.findall(r'(?:src|href)="https?:', html)


def test_data_travels_with_the_page() -> None:
    html = published().html()
    encoded = re.search(r"data:text/csv;base64,([^\"]+)", html).group(1)
    assert base64.b64decode(encoded).decode() == "x,y\n0,0.5\n1,0.25\n"


def test_an_interactive_figure_stands_around_the_picture_with_its_data() -> None:
    data = DATA.assign(z=[float("nan"), 1 / 3])
    data.attrs["interpolation_error"] = 0.25
    figure = publish.publish(
        draw(), data, name="lab", caption="c", alt=ALT, source=draw, lab="phases"
    )
    html = figure.html()
    assert f"<sharp-lab-phases>{figure.svg}</sharp-lab-phases>" in html
    encoded = re.search(r"data:application/json;base64,([^\"]+)", html).group(1)
    assert json.loads(base64.b64decode(encoded)) == {
        "attributes": {"interpolation_error": 0.25},
        "columns": {"x": [0, 1], "y": [0.5, 0.25], "z": [None, 0.3333333333]},
    }
    assert 'download="lab.json"' in html


def test_there_is_a_module_for_each_interactive_figure() -> None:
    assets = Path(__file__).parents[2] / "book" / "_assets" / "lab"
    for name in publish.LABS:
        assert (assets / f"{name}.js").is_file()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"lab": "tetris"}, "lab must be one of 'adaptive'"),
        ({"name": "It Falls"}, "name must be lower case words with hyphens"),
        ({"alt": "short"}, "alt must be a description"),
    ],
)
def test_bad_input(change: dict[str, str], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        published(**change)
    plt.close("all")


def test_empty_data_is_refused() -> None:
    with pytest.raises(ValueError, match="data must be a table with rows"):
        publish.publish(
            draw(), DATA.iloc[:0], name="a", caption="c", alt=ALT, source=draw
        )
    plt.close("all")


def _luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    ]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def _contrast(one: str, two: str) -> float:
    light, dark = sorted((_luminance(one), _luminance(two)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("subject", style.COLOURS)
@pytest.mark.parametrize("page", ["#ffffff", "#14181e"])
def test_colours_can_be_read_on_both_pages(subject: str, page: str) -> None:
    assert _contrast(style.COLOURS[subject], page) >= 3.0


@pytest.mark.parametrize("count", [1, 3, 6])
@pytest.mark.parametrize("page", ["#ffffff", "#14181e"])
def test_shades_can_be_read_and_told_apart(count: int, page: str) -> None:
    shades = style.shades(count)
    assert len(set(shades)) == count
    assert min(_contrast(shade, page) for shade in shades) >= 3.0


def test_style_leaves_matplotlib_as_it_was() -> None:
    before = dict(plt.rcParams)
    plt.close(draw())
    assert dict(plt.rcParams) == before
