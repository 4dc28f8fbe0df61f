"""Each claim about Proposition 3.1 holds, and fails once the bound is broken."""

import numpy as np
import pytest

import dispersion_mutations as broken
import ledger
from attention_mutations import ACTIVATIONS
from dispersion_mutations import DISPERSION, SPREAD_BOUNDS

PROPOSITION = f"{DISPERSION}:spread_bound"
DIAMETER = f"{SPREAD_BOUNDS}:diameter_spread_bound"
LIMIT = "sharp_attention.theory.finite_precision:spread_limit"


def of_one_logit(_: float) -> float:
    """The cap of one logit instead of the distance of two."""
    return 50.0


def of_half_precision(_: float) -> float:
    """The limit of float16."""
    return 131_008.0


def doubled(bound: float) -> float:
    """Twice too generous."""
    return 2 * bound


def saturating(logits: np.ndarray) -> tuple:
    """Logits that stop growing."""
    return (np.arctan(logits),)


MUTATIONS = [
    ("spread-bound-holds", broken.value(PROPOSITION, broken.halved)),
    ("spread-bound-attained", broken.value(PROPOSITION, doubled)),
    ("diameter-bound-holds", broken.value(DIAMETER, broken.too_tight)),
    ("diameter-bound-is-tighter", broken.value(DIAMETER, doubled)),
    (
        "large-weights-amplify-noise",
        broken.arguments(f"{ACTIVATIONS}:softmax", saturating),
    ),
    (
        "qk-norm-bounds-spread",
        broken.value(f"{SPREAD_BOUNDS}:qk_norm_spread_bound", broken.halved),
    ),
    (
        "soft-cap-bounds-spread",
        broken.value(f"{SPREAD_BOUNDS}:soft_cap_spread_bound", of_one_logit),
    ),
    ("real-spreads-far-below-floats", broken.value(LIMIT, of_half_precision)),
]
GEMMA = [
    f"gemma-{size}-spread-{statistic}"
    for size in ("2b", "7b")
    for statistic in ("minimum", "maximum", "mean", "standard-deviation")
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


@pytest.mark.parametrize("claim", GEMMA)
def test_quoted_only(claim: str) -> None:
    assert ledger.verdict(claim) == "not run here"
    assert "sharp-attention spread google/gemma-" in ledger.statement(claim).command
