"""Each claim about rounding holds, and fails once the threshold is broken."""

import pytest

import dispersion_mutations as broken
import ledger
from attention_mutations import ACTIVATIONS

PRECISION = "sharp_attention.theory.finite_precision"
VANISHING = broken.value(f"{PRECISION}:vanishing_logit", broken.one_more)
SWALLOWING = broken.value(f"{PRECISION}:swallowing_gap", broken.one_more)
SOFTMAX = broken.value(f"{ACTIVATIONS}:softmax", broken.halved)


def in_single_precision(logits: object, _: str) -> tuple:
    """Keep the running sum in float32."""
    return logits, "float32"


RUNNING_SUM = broken.arguments(f"{PRECISION}:running_sum_weights", in_single_precision)

MUTATIONS = [
    ("exp-vanishes-float32", VANISHING),
    ("exp-vanishes-float32-flushed", VANISHING),
    ("exp-vanishes-bfloat16", VANISHING),
    ("exp-vanishes-float16", VANISHING),
    ("sum-swallows-float32", SWALLOWING),
    ("sum-swallows-float16", SWALLOWING),
    ("sum-swallows-bfloat16", SWALLOWING),
    ("bfloat16-reports-certainty", RUNNING_SUM),
    ("bfloat16-truth", SOFTMAX),
    ("float16-reports-certainty", RUNNING_SUM),
    ("float16-truth", SOFTMAX),
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
