"""Controls above the ledger's tables: by paper, part, verdict and words.

They are hidden until the script of the book's assets has found them, so that a reader
without scripts sees the whole ledger and nothing that doesn't work.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape

from sharp_attention.claims import wording
from sharp_attention.claims.page import PAPERS, PARTS, LedgerPage, part_of
from sharp_attention.claims.registry import Claim

__all__ = ["SCRIPT", "controls"]

SCRIPT = "../ledger.js"
"""Where the script lies, as seen from a page of the book."""


def controls(claims: Sequence[Claim]) -> LedgerPage:
    """Show the controls, with how many claims each choice has.

    Raises
    ------
    ValueError
        If the chapter of a claim belongs to no part.
    """
    papers = Counter(claim.paper for claim in claims)
    parts = Counter(part_of(claim) for claim in claims)
    verdicts = Counter(str(claim.status) for claim in claims)
    fields = (
        _select("paper", "Paper", PAPERS, papers),
        _select("part", "Part", {part: part for part in PARTS}, parts),
        _select(
            "verdict",
            "Verdict",
            {status: f"{mark} {status}" for status, mark in wording.SYMBOLS.items()},
            verdicts,
        ),
        _field("text", "Words", '<input type="search" autocomplete="off" {}>'),
        '<button type="reset">Show all</button>',
    )
    return LedgerPage(
        f"{_STYLE}"
        '<form class="sharp-ledger-filter" role="search" '
        f'aria-label="Filter the claims" hidden>{"".join(fields)}'
        '<p role="status"></p></form>'
        f'<script src="{SCRIPT}" defer></script>'
    )


def _select(
    name: str, label: str, choices: Mapping[str, str], counts: Mapping[str, int]
) -> str:
    options = "".join(
        f'<option value="{escape(value)}">{escape(words)} ({counts[value]})</option>'
        for value, words in choices.items()
        if counts.get(value)
    )
    first = '<option value="">all</option>'
    return _field(name, label, f"<select {{}}>{first}{options}</select>")


def _field(name: str, label: str, control: str) -> str:
    """Put a label above a control, whose attributes go where the braces are."""
    known = f'id="ledger-{name}" name="{name}"'
    return (
        f'<div><label for="ledger-{name}">{label}</label>{control.format(known)}</div>'
    )


_STYLE = """<style>
form.sharp-ledger-filter:not([hidden]) { display: flex; flex-wrap: wrap;
  gap: 0.6rem 1rem; align-items: end; margin: 1rem 0; font-size: 0.85rem }
form.sharp-ledger-filter div { display: flex; flex-direction: column; gap: 0.2rem;
  max-width: 100% }
form.sharp-ledger-filter select, form.sharp-ledger-filter input,
form.sharp-ledger-filter button { font: inherit; padding: 0.25rem 0.4rem;
  max-width: 100%; color: var(--pst-color-text-base, inherit);
  background: var(--pst-color-background, Canvas);
  border: 1px solid var(--pst-color-text-muted, #777); border-radius: 0.25rem }
form.sharp-ledger-filter p { flex-basis: 100%; margin: 0 }
</style>"""
