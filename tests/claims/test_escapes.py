"""Each claim on the ways out has its verdict, and loses it in a broken library."""

import pytest

import ledger
from dispersion_mutations import value
from sharp_attention.claims import escapes as claims
from sharp_attention.theory import escapes as theory

LEADER = "sharp_attention.experiments.two_level:leader"
RISKS = "sharp_attention.theory.single_location.escape_risks"
SMALL = 0.05


def heavier(found: theory.Leader) -> theory.Leader:
    """Give the leader a twentieth more, and as much of all weight."""
    return found._replace(weight=found.weight + SMALL, share=found.share + SMALL)


def lighter(found: theory.Leader) -> theory.Leader:
    """Take away what the leader has too much, and drown it in noise."""
    return found._replace(weight=found.weight - SMALL, signal_to_noise=1.0)


def no_better(found: tuple[float, float]) -> tuple[float, float]:
    """Off by a hundredth."""
    return found[0] + 0.01, found[1]


def perfect(found: tuple[float, float]) -> tuple[float, float]:
    """Never wrong."""
    return 0.0, found[1]


HEAVIER, LIGHTER = value(LEADER, heavier), value(LEADER, lighter)
MUTATIONS = [
    *(
        (f"escape-limit-{claims._slug(name)}", HEAVIER)
        for name in theory.DROPPED
        if name != "log-n"
    ),
    ("escape-limit-log-n-above", LIGHTER),
    ("escape-limit-log-n-below", HEAVIER),
    ("escape-log-n-noise", LIGHTER),
    ("escape-share-sigmoid", HEAVIER),
    ("escape-share-linear", HEAVIER),
    (
        "escape-discontinuous-reader",
        value("sharp_attention.theory.sign_vote:balanced_vote", lambda p: p**2),
    ),
    ("escape-log-n-bayes-at-one-length", value(f"{RISKS}:best_log_n", no_better)),
    ("escape-log-n-not-bayes-at-two", value(f"{RISKS}:best_log_n", perfect)),
    ("escape-sparse-not-bayes", value(f"{RISKS}:best_two_tokens", perfect)),
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
