"""Each claim about the entropy floor holds, and fails once it is broken."""

import pytest

import dispersion_mutations as broken
import ledger
from attention_mutations import ENTROPY
from dispersion_mutations import DISPERSION

FLOOR = f"{DISPERSION}:entropy_floor"


def in_bits(nats: float) -> float:
    """Entropy to the base 2."""
    return nats / 0.6931471805599453


def minus_one(nats: float) -> float:
    """A floor that lies too deep."""
    return nats - 1


MUTATIONS = [
    ("entropy-above-leader", broken.value(f"{ENTROPY}:entropy", broken.halved)),
    ("entropy-simple-bound", broken.value(FLOOR, minus_one)),
    ("entropy-floor-holds", broken.value(FLOOR, broken.one_more)),
    ("entropy-floor-exact", broken.value(FLOOR, minus_one)),
    ("entropy-floor-16", broken.value(FLOOR, in_bits)),
    ("entropy-floor-512", broken.value(FLOOR, in_bits)),
    ("entropy-floor-16384", broken.value(FLOOR, in_bits)),
    ("entropy-deficit", broken.arguments(FLOOR, broken.without_spread)),
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
