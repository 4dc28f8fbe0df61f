"""Each claim on the order of activations holds, and fails in a broken library."""

import pytest

import ledger
from risk_mutations import BOUND, least_risk, mutate, scaled, squared


def inverse(risk):
    """Turn an order around."""
    return 1 / risk


MUTATIONS = [
    ("activations-in-order", least_risk(inverse)),
    ("softmax-elementwise-linear-in-order", mutate(BOUND, scaled(3))),
    ("best-elementwise-in-max", mutate(BOUND, scaled(0.9))),
    ("best-elementwise-rate", mutate(BOUND, squared)),
]
CLAIMS = [claim for claim, _ in MUTATIONS]


@pytest.mark.parametrize("claim", CLAIMS)
def test_claim_holds(claim):
    assert ledger.verdict(claim) == ledger.statement(claim).expected == "reproduced"


@pytest.mark.parametrize(("claim", "mutation"), MUTATIONS, ids=CLAIMS)
def test_claim_fails_under_mutation(monkeypatch, claim, mutation):
    assert ledger.verdict_under(monkeypatch, claim, mutation) == "differs"
