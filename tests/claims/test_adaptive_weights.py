"""Each claim about adaptive weights holds, and fails once the library is broken."""

import pytest

import attention_mutations as broken
import ledger
from attention_mutations import ACTIVATIONS, rule, value

MUTATIONS = [
    ("never-raises-entropy", broken.UNCLAMPED),
    ("confident-heads-left-alone", broken.ALWAYS_ON),
    ("adaptive-only-delays-dispersion", broken.HARD),
    ("golden-entropies", broken.ENTROPY_IN_BITS),
    ("golden-inverse-temperatures", broken.REVERSED),
    (
        "golden-softmax-weights",
        value("1 % too small", f"{ACTIVATIONS}:softmax", lambda w: 0.99 * w),
    ),
    ("golden-adaptive-weights", broken.PLAIN),
    ("two-keys-unchanged", broken.ALWAYS_ON),
    ("off-when-dispersed", broken.ALWAYS_ON),
    (
        "adaptive-weight-bound",
        rule("four times as cold", lambda original, h: 4 * original(h)),
    ),
]
# Its statement is found wrong; it would hold if the rule did nothing.
TOO_GOOD = ("adaptive-at-no-cost", broken.PLAIN)


@pytest.mark.parametrize("claim", [claim for claim, _ in [*MUTATIONS, TOO_GOOD]])
def test_claim_holds(claim: str) -> None:
    assert ledger.verdict(claim) == ledger.statement(claim).expected


@pytest.mark.parametrize(
    ("claim", "mutation", "verdict"),
    [*((*entry, "differs") for entry in MUTATIONS), (*TOO_GOOD, "reproduced")],
)
def test_claim_fails_under_mutation(
    monkeypatch: pytest.MonkeyPatch, claim: str, mutation: ledger.Mutation, verdict: str
) -> None:
    assert ledger.verdict_under(monkeypatch, claim, mutation) == verdict
    assert verdict != ledger.statement(claim).expected
