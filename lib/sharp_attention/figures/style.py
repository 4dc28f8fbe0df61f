"""One look for every figure of the book, in light and in dark mode.

Lines, text and ticks take the colour of the page's text (the SVG is inlined and says
``currentColor``), the background is transparent, and each subject has one colour
through the whole book.
The colours are picked to be told apart by colour-blind readers (after Okabe and Ito)
and to have a contrast of at least 3:1 on white and on the dark page.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_hex

from sharp_attention._typing import Scalar

__all__ = ["COLOURS", "PAGE_TEXT", "label_line", "message", "shades", "use_style"]

PAGE_TEXT = "#010203"
"""Stands for the page's text colour; `publish` turns it into ``currentColor``."""

COLOURS = {
    "softmax": "#0a7ec2",
    "adaptive": "#d1495b",
    "linear": "#c77700",
    "erf": "#8f63c9",
    "softplus": "#00897b",
    "sigmoid": "#b0538f",
    "bayes": "#808080",
    "bound": "#808080",
}
"""Colour of each subject; the same in every chapter."""

_RAMP = ("#00897b", "#0a7ec2", "#8f63c9")

_SETTINGS = {
    "figure.figsize": (6.4, 3.8),
    "figure.facecolor": "none",
    "figure.dpi": 100,
    "savefig.facecolor": "none",
    "savefig.bbox": "tight",
    "axes.facecolor": "none",
    "axes.edgecolor": PAGE_TEXT,
    "axes.labelcolor": PAGE_TEXT,
    "axes.titlecolor": PAGE_TEXT,
    "axes.titlelocation": "left",
    "axes.titlesize": 12,
    "axes.titleweight": "bold",
    "axes.titlepad": 10,
    "axes.labelsize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#80808040",
    "grid.linewidth": 0.6,
    "lines.linewidth": 2.0,
    "lines.markersize": 5,
    "text.color": PAGE_TEXT,
    "xtick.color": PAGE_TEXT,
    "ytick.color": PAGE_TEXT,
    "legend.frameon": False,
    "font.size": 10.5,
    "svg.fonttype": "path",
}


@contextmanager
def use_style() -> Iterator[None]:
    """Draw in the book's style inside a ``with`` block; leaves matplotlib as it was."""
    with mpl.rc_context(_SETTINGS):  # type: ignore[arg-type]
        yield


def shades(count: int) -> list[str]:
    """Return colours for lines in an order, as of growing length.

    From green over blue to violet: light to dark would vanish on one of the two pages.
    """
    ramp = LinearSegmentedColormap.from_list("order", _RAMP)
    places = (rank / max(count - 1, 1) for rank in range(count))
    return [to_hex(ramp(place)) for place in places]


def message(axes: Axes, text: str) -> None:
    """Say the one message of a figure as its title."""
    axes.set_title(text)


def label_line(
    axes: Axes,
    x: Scalar,
    y: Scalar,
    text: str,
    colour: str,
    *,
    offset: tuple[float, float] = (6.0, 0.0),
    align: str = "left",
) -> None:
    """Write a label next to a line, in the line's colour, instead of a legend.

    Parameters
    ----------
    axes : where to write
    x, y : the point labelled, in data coordinates
    text, colour : the label
    offset : of the text from the point, in points
    align : "left", "right" or "center"
    """
    axes.annotate(
        text,
        (x, y),
        xytext=offset,
        textcoords="offset points",
        color=colour,
        ha=align,
        va="center",
        fontweight="bold",
        annotation_clip=False,
    )
