"""Each claim about sharp functions holds, and fails once it is broken."""

import numpy as np
import pytest

import dispersion_mutations as broken
import ledger
from dispersion_mutations import DISPERSION, TRANSFORMER

COUNT = "sharp_attention.theory.sharpness:sensitive_items"
GAP = f"{DISPERSION}:output_gap_bound"


def constant(gap: float) -> float:
    """A bound that does not fall with n."""
    return 0.0 * np.asarray(gap) + 1.0


def tenth(gap: float) -> float:
    """A bound that is violated."""
    return gap / 10


def forgetful_of_the_crowd(model: object, counts: np.ndarray) -> tuple:
    """Count every token that is there once, however often it occurs."""
    return model, (counts > 0).astype(float)


MUTATIONS = [
    ("sharp-functions-hang-on-one", broken.value(COUNT, broken.one_more)),
    ("average-hangs-on-all", broken.value(COUNT, broken.halved)),
    ("output-gap-bound", broken.value(GAP, tenth)),
    ("output-gap-rate", broken.value(GAP, constant)),
    (
        "labels-become-inseparable",
        broken.arguments(f"{TRANSFORMER}:evaluate_counts", forgetful_of_the_crowd),
    ),
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
