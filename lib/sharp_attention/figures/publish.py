"""A figure as a reader meets it: picture, caption, description, data and source.

The picture is an inline SVG, so that it is sharp at any size and takes its text
colour from the page in light and in dark mode.
The data behind it travels inside the page as a link to download, so that it works
offline and can't be out of step with the picture.

A figure may name an interactive one, which takes its place in the book where scripts
run: a custom element around the picture, with the same data. Its module is among the
book's assets (``lab``); without it the picture stays as it is.
"""

import base64
import html
import inspect
import io
import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field

import matplotlib as mpl
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from sharp_attention._checks import check_choice, require
from sharp_attention.figures.style import PAGE_TEXT

__all__ = ["LABS", "PublishedFigure", "publish"]

LABS = ("adaptive", "finite-samples", "phases", "temperature")
"""Interactive figures that the book has."""


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
    data : what is behind the picture: CSV, or JSON for an interactive figure
    source : dotted name of the library function that drew it
    lab : name of the interactive figure that takes the picture's place, or None
    """

    name: str
    svg: str
    png: bytes = field(repr=False)
    caption: str
    alt: str
    data: str = field(repr=False)
    source: str
    lab: str | None = None

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
        data = base64.b64encode(self.data.encode()).decode()
        name, source = html.escape(self.name), html.escape(self.source)
        kind = "csv" if self.lab is None else "json"
        type_ = "text/csv" if self.lab is None else "application/json"
        return (
            f'<figure class="sharp-figure" id="figure-{name}">{self._picture()}'
            f"<figcaption>{html.escape(self.caption)} "
            f'<span class="sharp-figure-links">'
            f'<a download="{name}.{kind}" href="data:{type_};base64,{data}" '
            f'aria-label="Data of figure {name} as {kind.upper()}">'
            f"data ({kind.upper()})</a> · drawn by "
            f'<code data-source="{source}">{source}</code>'
            f"</span></figcaption></figure>"
        )

    def _picture(self) -> str:
        if self.lab is None:
            return self.svg
        return f"<sharp-lab-{self.lab}>{self.svg}</sharp-lab-{self.lab}>"


def publish(
    figure: Figure,
    data: pd.DataFrame,
    *,
    name: str,
    caption: str,
    alt: str,
    source: Callable[..., object],
    lab: str | None = None,
) -> PublishedFigure:
    """Turn a drawn figure into what the page shows, and close it.

    Parameters
    ----------
    figure : drawn inside `use_style`
    data : what is plotted, one tidy table; `data.attrs` travel with an interactive one
    name : short, hyphenated, unique in the book
    caption : a sentence or two that can be read alone
    alt : what the picture shows, at least 20 characters
    source : the library function that drew it
    lab : one of `LABS`, an interactive figure to take the picture's place

    Raises
    ------
    ValueError
        If `name` is not hyphenated lower case, `alt` is too short to describe
        anything, `data` is empty, or there is no such `lab`.
    """
    hyphenated = re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) is not None
    require(hyphenated, "name", "lower case words with hyphens", name)
    require(len(alt) >= 20, "alt", "a description of at least 20 characters", alt)
    require(not data.empty, "data", "a table with rows", data.shape)
    if lab is not None:
        check_choice("lab", lab, LABS)
    svg, png = _svg(figure, name, alt), _png(figure, caption)
    plt.close(figure)
    return PublishedFigure(
        name=name,
        svg=svg,
        png=png,
        caption=caption,
        alt=alt,
        data=_csv(data) if lab is None else _json(data),
        source=f"{source.__module__}.{inspect.unwrap(source).__qualname__}",
        lab=lab,
    )


def _csv(data: pd.DataFrame) -> str:
    return data.to_csv(index=False, float_format="%.10g", lineterminator="\n")


def _json(data: pd.DataFrame) -> str:
    columns = {str(name): [*map(_plain, data[name].tolist())] for name in data}
    content = {"attributes": dict(data.attrs), "columns": columns}
    return json.dumps(
        content, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def _plain(value: object) -> object:
    """Ten digits, as in CSV, and null for NaN, which JSON doesn't have."""
    if not isinstance(value, float):
        return value
    return None if math.isnan(value) else float(f"{value:.10g}")


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


def _png(figure: Figure, caption: str) -> bytes:
    buffer = io.BytesIO()
    # The printed edition reads the caption from the picture's own description.
    figure.savefig(
        buffer,
        format="png",
        dpi=160,
        bbox_inches="tight",
        metadata={"Software": None, "Description": caption},
    )
    return buffer.getvalue()
