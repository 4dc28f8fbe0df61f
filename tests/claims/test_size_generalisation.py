"""Each claim on other lengths has its verdict, and loses it in a broken library."""

import numpy as np
import pytest

import ledger
from risk_mutations import THEORY, mutate, scaled
from sharp_attention.theory.single_location import phases

PHASES = f"{THEORY}.phases"
SAMPLE = f"{PHASES}:sample_changes"


def turned_around(changes):
    """Take help for harm."""
    return -changes


def opposite(estimate):
    """Take help for harm."""
    return phases.Estimate(-estimate.mean, estimate.error)


def somewhat(changes):
    """Change something always."""
    return changes + 0.01 * np.ones_like(changes)


TURNED = mutate(SAMPLE, turned_around)
OPPOSITE = mutate(f"{PHASES}:adaptive_change", opposite)
MUTATIONS = [
    (
        "best-sharpness-knows-no-length",
        mutate(f"{PHASES}:best_sharpness", scaled(1.01)),
    ),
    (
        "frozen-read-out-sharpness",
        mutate(f"{PHASES}:asymptotic_sharpness", scaled(1.01)),
    ),
    ("adaptive-harms-bayes-tuned-spiked", TURNED),
    ("adaptive-harms-bayes-tuned-max", TURNED),
    ("adaptive-helps-clearly-soft", OPPOSITE),
    ("adaptive-harms-slightly-soft", OPPOSITE),
    ("adaptive-helps-without-doubt", TURNED),
    ("adaptive-switches-itself-off", mutate(SAMPLE, somewhat)),
]
CLAIMS = [claim for claim, _ in MUTATIONS]


@pytest.mark.parametrize("claim", CLAIMS)
def test_claim_holds(claim):
    assert ledger.verdict(claim) == ledger.statement(claim).expected == "reproduced"


@pytest.mark.parametrize(("claim", "mutation"), MUTATIONS, ids=CLAIMS)
def test_claim_fails_under_mutation(monkeypatch, claim, mutation):
    assert ledger.verdict_under(monkeypatch, claim, mutation) == "differs"
