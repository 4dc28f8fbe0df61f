"""Each claim about the limits of the rule holds, and fails once it is broken."""

import pytest

import attention_mutations as broken
import ledger
from attention_mutations import TEMPERATURE, value

MUTATIONS = [
    ("raising-the-leader-can-lower-it", broken.PLAIN),
    ("largest-loss-of-a-leader", broken.PLAIN),
    ("largest-loss-among-16384", broken.PLAIN),
    ("cliff-at-512", broken.PLAIN),
    ("cliff-at-1024", broken.ALWAYS_ON),
    ("half-weight-up-to", broken.PLAIN),
    ("foot-of-the-cliff", broken.IN_BITS),
    (
        "gap-window-among-1024",
        value("wider", f"{TEMPERATURE}:active_domain", lambda d: (0.5, d[1])),
    ),
    ("gap-window-among-16384", broken.ENTROPY_IN_BITS),
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
