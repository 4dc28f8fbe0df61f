"""Each claim on the Bayes-optimal reader has its verdict, and can lose it."""

from dataclasses import replace

import numpy as np
import pytest

import ledger
from dispersion_mutations import value

THEORY = "sharp_attention.theory.single_location"
SOLVE = f"{THEORY}.state_evolution:solve"
REPLICA = f"{THEORY}.replica:solve"
AMP = "sharp_attention.algorithms.amp:fit"


def worse_reader(found):
    """A reader who is not the best."""
    return replace(found, test_risk=1.5 * found.test_risk)


def constant_reader(found):
    """One answer to all questions."""
    return replace(found, test_risk=0.9)


def bad_heads(found):
    """One answer to all questions."""
    return replace(found, test_risk=1.0)


def swapped(found):
    """The informed start never wins."""
    parts = found.branches
    names = {"informed": "uninformed", "uninformed": "informed"}
    return replace(found, branches={new: parts[old] for new, old in names.items()})


def apart(found):
    """The two starts never meet."""
    first, second = found.branches.values()
    moved = replace(first, test_risk=first.test_risk + 0.1)
    return replace(found, branches={"informed": moved, "uninformed": second})


def unlucky_messages(found):
    """Messages that end elsewhere."""
    return replace(found, test_risk=np.asarray(found.test_risk) + 0.1)


def long_messages(found):
    """Means that are too long for their overlap."""
    overlaps = found.overlaps
    longer = replace(overlaps, q_v=np.asarray(overlaps.q_v) + 0.2)
    return replace(found, overlaps=longer)


MUTATIONS = [
    ("softmax-not-bayes-optimal-at-finite-samples", value(SOLVE, worse_reader)),
    ("softmax-distance-to-bayes-rises-then-falls", value(REPLICA, bad_heads)),
    ("softmax-gap-smaller-than-linear", value(REPLICA, bad_heads)),
    ("bayes-hard-phase", value(SOLVE, swapped)),
    ("bayes-no-hard-phase-at-noise", value(SOLVE, apart)),
    ("bayes-limit-is-population-risk", value(SOLVE, worse_reader)),
    ("bayes-risk-falls-with-samples", value(SOLVE, constant_reader)),
    ("amp-attains-bayes", value(AMP, unlucky_messages)),
    ("amp-nishimori", value(AMP, long_messages)),
]
CLAIMS = [claim for claim, _ in MUTATIONS]


@pytest.mark.parametrize("claim", CLAIMS)
def test_claim_holds(claim):
    assert ledger.verdict(claim) == ledger.statement(claim).expected


@pytest.mark.parametrize(("claim", "mutation"), MUTATIONS, ids=CLAIMS)
def test_claim_fails_under_mutation(monkeypatch, claim, mutation):
    found = ledger.verdict_under(monkeypatch, claim, mutation)
    assert found != ledger.statement(claim).expected
