"""A figure as a reader meets it: picture, caption, description, data and source.

The picture is an inline SVG, so that it is sharp at any size and takes its text
colour from the page in light and in dark mode.
The data behind it travels inside the page as a link to download, so that it works
offline and can't be out of step with the picture.
"""

import base64
import html
import inspect
import io
import re
from collections.abc import Callable
from dataclasses import dataclass, field

import matplotlib as mpl
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from sharp_attention._checks import require
from sharp_attention.figures.style import PAGE_TEXT

__all__ = ["PublishedFigure", "publish"]


@dataclass(frozen=True)
class PublishedFigure:
    """What a notebook cell shows; renders as HTML in books and notebooks, PNG in print.

    Attributes
    ----------
    name : short, hyphenated, unique in the book; also the name of the data file
    svg : the picture, with ``currentColor`` for text and lines
    png : the same for readers without HTML
    caption : can be read alone
    alt : what the picture shows, for those who can't see it
    csv : the data behind the picture
    source : dotted name of the library function that drew it
    """

    name: str
    svg: str
    png: bytes = field(repr=False)
    caption: str
    alt: str
    csv: str = field(repr=False)
    source: str

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> dict[str, str]:
        """Offer HTML first, a PNG to printers, the caption as plain text."""
        return {
            "text/html": self.html(),
            "image/png": base64.b64encode(self.png).decode(),
            "text/plain": f"{self.caption} [{self.alt}]",
        }

    def html(self) -> str:
        """Return the figure as an HTML fragment that loads nothing from anywhere."""
        data = base64.b64encode(self.csv.encode()).decode()
        name, source = html.escape(self.name), html.escape(self.source)
        return (
            f'<figure class="sharp-figure" id="figure-{name}">{self.svg}'
            f"<figcaption>{html.escape(self.caption)} "
            f'<span class="sharp-figure-links">'
            f'<a download="{name}.csv" href="data:text/csv;base64,{data}" '
            f'aria-label="Data of figure {name} as CSV">data (CSV)</a> · drawn by '
            f'<code data-source="{source}">{source}</code>'
            f"</span></figcaption></figure>"
        )


def publish(
    figure: Figure,
    data: pd.DataFrame,
    *,
    name: str,
    caption: str,
    alt: str,
    source: Callable[..., object],
) -> PublishedFigure:
    """Turn a drawn figure into what the page shows, and close it.

    Parameters
    ----------
    figure : drawn inside `use_style`
    data : what is plotted, one tidy table
    name : short, hyphenated, unique in the book
    caption : a sentence or two that can be read alone
    alt : what the picture shows, at least 20 characters
    source : the library function that drew it

    Raises
    ------
    ValueError
        If `name` is not hyphenated lower case, `alt` is too short to describe
        anything, or `data` is empty.
    """
    hyphenated = re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) is not None
    require(hyphenated, "name", "lower case words with hyphens", name)
    require(len(alt) >= 20, "alt", "a description of at least 20 characters", alt)
    require(not data.empty, "data", "a table with rows", data.shape)
    svg, png = _svg(figure, name, alt), _png(figure)
    plt.close(figure)
    return PublishedFigure(
        name=name,
        svg=svg,
        png=png,
        caption=caption,
        alt=alt,
        csv=data.to_csv(index=False, float_format="%.10g", lineterminator="\n"),
        source=f"{source.__module__}.{inspect.unwrap(source).__qualname__}",
    )


def _svg(figure: Figure, name: str, alt: str) -> str:
    buffer = io.StringIO()
    # A fixed salt and no date: the same figure gives the same bytes.
    with mpl.rc_context({"svg.hashsalt": name}):
        # Tight, so that no label is cut off.
        figure.savefig(
            buffer,
            format="svg",
            bbox_inches="tight",
            metadata={"Date": None, "Creator": None},
        )
    text = buffer.getvalue()
    text = text[text.index("<svg") :].replace(PAGE_TEXT, "currentColor")
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    # Identifiers must be unique: those of images are digests, equal for equal images.
    text = re.sub(r'(<image\b[^>]*?)\sid="[^"]*"', r"\1", text)
    text = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", text)
    # matplotlib's style sheet would match the whole page; the root carries it instead.
    text = re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL)
    opening = (
        f'<svg role="img" aria-label="{html.escape(alt, quote=True)}" style="max-width:'
        '100%;height:auto;stroke-linejoin:round;stroke-linecap:butt" '
    )
    return re.sub(r"\n\s*", "\n", text).replace("<svg ", opening, 1).strip()


def _png(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(
        buffer, format="png", dpi=160, bbox_inches="tight", metadata={"Software": None}
    )
    return buffer.getvalue()
