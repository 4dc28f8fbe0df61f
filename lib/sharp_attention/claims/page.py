"""The ledger as a page of the book: one table for each paper and part.

What a paper calls a lemma, theorem, proposition, corollary or result comes first, in a
table of its own.

A wide page shows a table; on a phone each claim becomes a card of its own, so that
nothing has to be scrolled sideways. Roles are spelled out, because a table that is
laid out as cards is no table to a screen reader any more.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

from sharp_attention._checks import check_choice
from sharp_attention.claims import wording
from sharp_attention.claims.registry import Claim

__all__ = [
    "PAPERS",
    "PARTS",
    "THEOREMS",
    "LedgerPage",
    "is_theorem",
    "overview",
    "part_of",
    "tables",
]

PAPERS = {
    "softmax-not-enough": "Softmax is not enough",
    "single-location": "Statistical advantage of softmax attention",
    "ours": "Beyond both papers",
}
"""What each paper is called on the page."""

PARTS = {
    "Foundations": ("notation", "primer"),
    "Dispersion": ("sharp-functions", "dispersion-lemma", "logit-spread"),
    "Single-location regression": (
        "single-location-regression",
        "order-parameters",
        "population-risk",
        "finite-samples",
        "bayes-optimal",
        "landscape",
    ),
    "Adaptive temperature": (
        "adaptive-temperature",
        "max-retrieval",
        "clrs-text",
        "streaming-kernels",
    ),
    "Beyond the papers": ("phase-transition", "size-generalisation", "escapes"),
}
"""The chapters of each part of the book, in its order."""

THEOREMS = "Lemmas, theorems and what refines them"
"""Caption of the table that comes first."""

_THEOREM = re.compile("(lemma|theorem|proposition|corollary|result) ", re.IGNORECASE)


@dataclass(frozen=True, repr=False)
class LedgerPage:
    """A piece of HTML that a notebook shows as it is, and its words for print."""

    html: str
    text: str = ""

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return self.text


def part_of(claim: Claim) -> str:
    """Return the part of the book whose chapter treats `claim`.

    Raises
    ------
    ValueError
        If its chapter belongs to no part.
    """
    chapters = {chapter: part for part, names in PARTS.items() for chapter in names}
    check_choice("chapter", claim.chapter, chapters)
    return chapters[claim.chapter]


def is_theorem(claim: Claim) -> bool:
    """Tell whether a claim stands in a theorem or its kind, or refines one."""
    return _THEOREM.match(claim.place) is not None


def overview(claims: Sequence[Claim]) -> LedgerPage:
    """Count the verdicts of each paper in one table."""
    counts = Counter((claim.paper, claim.status) for claim in claims)
    heads = {status: f"{symbol} {status}" for status, symbol in wording.SYMBOLS.items()}
    rows = [
        _row(title, [(heads[s], str(counts[paper, s])) for s in heads])
        for paper, title in PAPERS.items()
    ]
    table = _table("Verdicts of each paper", ["Paper", *heads.values()], rows)
    words = [
        f"{title}: " + ", ".join(f"{counts[paper, s]} {s}" for s in wording.SYMBOLS)
        for paper, title in PAPERS.items()
    ]
    return LedgerPage(_STYLE + table, "\n".join(words))


def tables(claims: Sequence[Claim], paper: str) -> LedgerPage:
    """Show all claims of one `paper`: what is like a theorem, then part by part.

    Raises
    ------
    ValueError
        If the paper is unknown, or the chapter of a claim belongs to no part.
    """
    check_choice("paper", paper, PAPERS)
    order = [THEOREMS, *PARTS]
    chosen = [claim for claim in claims if claim.paper == paper]
    if not chosen:
        return LedgerPage("<p>No claim of this paper is entered.</p>")
    ordered = sorted(chosen, key=lambda c: (order.index(_group(c)), _part_order(c)))
    heads = ["Statement", "Quoted", "Computed", "Verdict"]
    html, words = [], []
    for name, members in groupby(ordered, _group):
        group = list(members)
        rows = [_claim(claim) for claim in group]
        html.append(_table(f"{PAPERS[paper]}: {name}", heads, rows))
        words += [name, *map(_words, group), ""]
    return LedgerPage(_STYLE + "".join(html), "\n".join(words))


def _group(claim: Claim) -> str:
    return THEOREMS if is_theorem(claim) else part_of(claim)


def _part_order(claim: Claim) -> int:
    return list(PARTS).index(part_of(claim))


def _claim(claim: Claim) -> str:
    place = f"{claim.place}, confidence {claim.confidence}"
    link = f'<a href="{claim.chapter}.html">{claim.chapter.replace("-", " ")}</a>'
    title = (
        f'{escape(claim.statement)}<span class="place">{escape(place)}; '
        f"chapter {link}</span>{_evidence(claim)}"
    )
    cells = [
        ("Quoted", escape(wording.quoted(claim))),
        ("Computed", escape(wording.computed(claim))),
        ("Verdict", escape(wording.verdict(claim))),
    ]
    attributes = (
        f' id="{claim.id}" data-status="{claim.status}" data-paper="{claim.paper}"'
        f' data-part="{part_of(claim)}"'
    )
    return _row(title, cells, attributes)


def _words(claim: Claim) -> str:
    """One claim as a line of plain text."""
    return (
        f"- {claim.statement} ({claim.place}; {claim.id}) Quoted: "
        f"{wording.quoted(claim)}; computed: {wording.computed(claim)}. "
        f"{wording.verdict(claim)}"
    )


def _evidence(claim: Claim) -> str:
    facts = {"Test": claim.test, "Command": claim.command, "Expected": claim.expected}
    lines = "".join(
        f"<dt>{name}</dt><dd><code>{escape(fact)}</code></dd>"
        for name, fact in facts.items()
    )
    return (
        f"<details><summary>{claim.id}</summary><dl>{lines}"
        f"<dt>Time</dt><dd>{claim.seconds:.2g} s</dd></dl></details>"
    )


def _table(caption: str, heads: Sequence[str], rows: Sequence[str]) -> str:
    head = "".join(
        f'<th scope="col" role="columnheader">{escape(name)}</th>' for name in heads
    )
    return (
        f'<table class="sharp-ledger" role="table"><caption>{escape(caption)}</caption>'
        f'<thead role="rowgroup"><tr role="row">{head}</tr></thead>'
        f'<tbody role="rowgroup">{"".join(rows)}</tbody></table>'
    )


def _row(title: str, cells: Iterable[tuple[str, str]], attributes: str = "") -> str:
    entries = "".join(
        f'<td role="cell" data-label="{name}">{content}</td>' for name, content in cells
    )
    head = f'<th scope="row" role="rowheader">{title}</th>'
    return f'<tr role="row"{attributes}>{head}{entries}</tr>'


_STYLE = """<style>
table.sharp-ledger { width: 100%; margin: 1.5rem 0; table-layout: fixed !important;
  border-collapse: collapse; font-size: 0.85rem; line-height: 1.4;
  overflow-wrap: anywhere }
table.sharp-ledger caption { caption-side: top; text-align: left; font-weight: 600 }
table.sharp-ledger tr > * { padding: 0.5rem 0.6rem 0.5rem 0; vertical-align: top;
  text-align: left; font-weight: normal; white-space: normal }
table.sharp-ledger thead tr > * { font-weight: 600 }
table.sharp-ledger thead tr > :first-child { width: 43% }
table.sharp-ledger .place { display: block; margin-top: 0.25rem; font-style: italic }
table.sharp-ledger [hidden], table.sharp-ledger[hidden] { display: none !important }
table.sharp-ledger dl { margin: 0.25rem 0 0 }
table.sharp-ledger dd { margin: 0 0 0.25rem }
@media (max-width: 45rem) {
  table.sharp-ledger, table.sharp-ledger caption, table.sharp-ledger tbody,
  table.sharp-ledger tbody tr, table.sharp-ledger tbody tr > * { display: block }
  table.sharp-ledger thead { position: absolute; width: 1px; height: 1px;
    overflow: hidden; clip-path: inset(50%) }
  table.sharp-ledger tbody tr { padding: 0.75rem 0;
    border-top: 1px solid var(--pst-color-border, #8888) }
  table.sharp-ledger tbody tr > * { padding: 0.1rem 0; border: 0 !important }
  table.sharp-ledger tbody td::before { content: attr(data-label) ": ";
    font-style: italic }
}
</style>"""
