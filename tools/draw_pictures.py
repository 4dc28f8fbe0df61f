"""Draw the pictures that are committed: the front page's and the one for sharing.

``python tools/draw_pictures.py`` writes them to ``book/_static``.
Everything else that the book shows is drawn by its chapters when it is built.
"""

import io
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sharp_attention.figures import style
from sharp_attention.theory import dispersion

STATIC = Path(__file__).parents[1] / "book" / "_static"
TEXT = {"light": "#23262b", "dark": "#dfddd7"}
SPREADS = (2.0, 5.0, 8.0)
QUESTION = """Can a head still look at one thing
among ten thousand?
A book that computes."""


def draw_bound(axes: Axes) -> None:
    """Draw the most weight that one of n items can get, for three spreads."""
    items = np.unique(np.geomspace(2, 1e5, 120).astype(int))
    blue = style.COLOURS["softmax"]
    for spread in SPREADS:
        most = [dispersion.sharp_weight_bounds(spread, int(n))[1] for n in items]
        axes.loglog(items, most, color=blue)
        style.label_line(axes, items[-1], most[-1], f"spread {spread:.0f}", blue)
    axes.set_xlabel("items in the row")
    axes.set_ylabel("most weight that one can get")
    axes.set_ylim(3e-5, 1.5)


def front_page() -> Figure:
    """Return the picture of the front page and of the README."""
    with style.use_style():
        figure, axes = plt.subplots(figsize=(6.4, 3.6))
        draw_bound(axes)
        style.message(axes, "However sharp the head, its weight falls like 1/n")
    return figure


def card() -> Figure:
    """Return the picture that is shown when a page is shared, 1200 by 630 pixels."""
    with style.use_style(), mpl.rc_context({"font.size": 13, "axes.labelsize": 13}):
        figure = plt.figure(figsize=(12, 6.3), facecolor="#fefdfb")
        figure.text(0.06, 0.58, "Sharp\nAttention", fontsize=50, weight="bold")
        figure.text(0.06, 0.28, QUESTION, fontsize=18, linespacing=1.5)
        draw_bound(figure.add_axes((0.52, 0.17, 0.36, 0.68)))
    return figure


def _svg(figure: Figure, text: str) -> str:
    buffer = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "front-page"}):
        figure.savefig(
            buffer, format="svg", bbox_inches="tight", metadata={"Date": None}
        )
    return buffer.getvalue().replace(style.PAGE_TEXT, text)


def main() -> None:
    """Write all pictures."""
    for mode, text in TEXT.items():
        picture = _svg(front_page(), text)
        (STATIC / f"dispersion-{mode}.svg").write_text(picture, encoding="utf-8")
    # The printed edition can't show an SVG.
    front_page().savefig(
        STATIC / "dispersion-light.pdf",
        bbox_inches="tight",
        metadata={"CreationDate": None},
    )
    card().savefig(STATIC / "card.png", dpi=100, metadata={"Software": None})


if __name__ == "__main__":
    mpl.use("agg")
    main()
