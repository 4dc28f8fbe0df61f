"""A claim in words: what is quoted, what was computed, and the verdict.

The same words stand in the terminal and on the ledger's page. A verdict never leans
on a symbol or a colour alone.
"""

import math
from collections import Counter
from collections.abc import Sequence

from sharp_attention.claims.registry import Claim, Status

__all__ = ["SYMBOLS", "computed", "quoted", "summary", "verdict"]

SYMBOLS: dict[Status, str] = {
    "reproduced": "✓",
    "reproduced at smaller scale": "≈",
    "differs": "✗",
    "not run here": "–",
}


def quoted(claim: Claim) -> str:
    """Return the quoted value with its comparison, such as "at most 0 + 1e-09"."""
    words = "" if claim.comparison == "equal" else f"{claim.comparison} "
    value = _number(claim.quoted_value, claim.tolerance)
    sign = {"equal": "±", "at most": "+", "at least": "−"}[claim.comparison]
    slack = f" {sign} {claim.tolerance:g}" if claim.tolerance else ""
    return f"{words}{value}{slack}"


def computed(claim: Claim) -> str:
    """Return the computed value with its interval, or a dash."""
    if claim.computed_value is None:
        return "–"
    value = _number(claim.computed_value, claim.tolerance)
    if claim.interval is None:
        return value
    low, high = (_number(end, claim.tolerance) for end in claim.interval)
    return f"{value} [{low}, {high}]"


def verdict(claim: Claim) -> str:
    """Return symbol and words; a verdict that we did not expect says so."""
    words = f"{SYMBOLS[claim.status]} {claim.status}"
    as_expected = claim.status == claim.expected
    return words if as_expected else f"{words} (expected: {claim.expected})"


def summary(claims: Sequence[Claim]) -> str:
    """Return one sentence that counts the verdicts and names the unexpected ones."""
    if not claims:
        return "No claim."
    counts = Counter(claim.status for claim in claims)
    parts = [f"{counts[status]} {status}" for status in SYMBOLS if counts[status]]
    unexpected = [claim.id for claim in claims if claim.status != claim.expected]
    ending = (
        f"not as expected: {', '.join(unexpected)}"
        if unexpected
        else "every verdict is as expected"
    )
    noun = "claim" if len(claims) == 1 else "claims"
    return f"{len(claims)} {noun}: {', '.join(parts)}; {ending}."


def _number(value: float, tolerance: float) -> str:
    """Write `value` with the digits that the tolerance can see, and one more."""
    digits = 6
    if tolerance > 0 and math.isfinite(value) and value != 0:
        seen = math.ceil(math.log10(abs(value) / tolerance))
        digits = min(max(seen + 1, 3), 12)
    return f"{value:.{digits}g}"
