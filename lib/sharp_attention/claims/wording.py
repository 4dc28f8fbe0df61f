"""A claim in words: what is quoted, what was computed, and the verdict.

The same words stand in the terminal and on the ledger's page. A verdict never leans
on a symbol or a colour alone.
"""

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
    """Return the quoted value with its comparison, such as "at most 1e-09"."""
    tolerance = f" ± {_number(claim.tolerance)}" if claim.tolerance else ""
    words = "" if claim.comparison == "equal" else f"{claim.comparison} "
    return f"{words}{_number(claim.quoted_value)}{tolerance}"


def computed(claim: Claim) -> str:
    """Return the computed value with its interval, or a dash."""
    if claim.computed_value is None:
        return "–"
    value = _number(claim.computed_value)
    if claim.interval is None:
        return value
    low, high = claim.interval
    return f"{value} [{_number(low)}, {_number(high)}]"


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


def _number(value: float) -> str:
    return f"{value:.6g}"
