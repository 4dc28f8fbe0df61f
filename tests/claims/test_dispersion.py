"""Each claim about Lemma 2.1 holds, and fails once the bound is broken."""

import numpy as np
import pytest

import dispersion_mutations as broken
import ledger
from dispersion_mutations import DISPERSION

WEIGHTS = f"{DISPERSION}:weight_bounds"
SHARP = f"{DISPERSION}:sharp_weight_bounds"
ITEMS = f"{DISPERSION}:min_items_to_disperse"


def square_root_rate(bounds: tuple) -> tuple:
    """Weights that fall only like the square root of what they should."""
    return np.sqrt(bounds[0]), np.sqrt(bounds[1])


def as_lemma(bounds: tuple) -> tuple:
    """An upper bound that allows twice as much."""
    return bounds[0], 2 * bounds[1]


def doubled(spread: float, *others: float) -> tuple:
    """Count the spread to both sides of the middle."""
    return (2 * spread, *others)


MUTATIONS = [
    ("lemma-upper-bound", broken.arguments(WEIGHTS, broken.without_spread)),
    ("lemma-lower-bound", broken.arguments(WEIGHTS, broken.without_spread)),
    ("lemma-rate", broken.value(SHARP, square_root_rate)),
    ("lemma-threshold", broken.value(SHARP, as_lemma)),
    ("sharp-upper-bound", broken.value(SHARP, broken.upper_too_tight)),
    ("sharp-lower-bound", broken.value(SHARP, broken.lower_too_tight)),
    ("sharp-upper-attained", broken.value(SHARP, broken.upper_too_tight)),
    ("sharp-lower-attained", broken.value(SHARP, broken.lower_too_tight)),
    ("half-weight-limit", broken.value(ITEMS, broken.one_more)),
    ("top-weight-limit", broken.value(SHARP, broken.upper_too_tight)),
    ("gemma-2b-mean-half", broken.value(ITEMS, broken.one_more)),
    ("gemma-2b-mean-nine-tenths", broken.value(ITEMS, broken.one_more)),
    ("gemma-2b-largest-half", broken.arguments(ITEMS, doubled)),
    ("gemma-7b-largest-half", broken.arguments(ITEMS, doubled)),
]
CLAIMS = [claim for claim, _ in MUTATIONS]


@pytest.mark.parametrize("claim", CLAIMS)
def test_claim_holds(claim: str) -> None:
    assert ledger.verdict(claim) == ledger.statement(claim).expected == "reproduced"


@pytest.mark.parametrize(("claim", "mutation"), MUTATIONS, ids=CLAIMS)
def test_claim_fails_under_mutation(
    monkeypatch: pytest.MonkeyPatch, claim: str, mutation: ledger.Mutation
) -> None:
    assert ledger.verdict_under(monkeypatch, claim, mutation) == "differs"
