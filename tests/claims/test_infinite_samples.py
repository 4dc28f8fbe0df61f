"""Each claim of the note has its verdict, and loses it in a broken library."""

import pytest

import ledger
from risk_mutations import (
    BAYES,
    BOUND,
    MINIMISE,
    RISK,
    SCALE,
    THEORY,
    constant,
    least_risk,
    mutate,
    scaled,
    shifted,
)


def root(risk):
    """Half the exponent."""
    return risk**0.5


def nothing(risk):
    """No error at all."""
    return 0 * risk


def noisier_linear():
    """Let label noise count twice for linear attention."""

    def breaks(original):
        def minimise(task, activation):
            found = original(task, activation)
            if activation != "linear":
                return found
            return least_risk(shifted(task.noise)).broken(lambda: found)()

        return minimise

    return ledger.Mutation("noise counts twice", MINIMISE, breaks)


MUTATIONS = [
    ("note-softmax-attains-bayes", mutate(SCALE, scaled(1.05))),
    ("note-softmax-always-finds", least_risk(nothing)),
    ("note-softmax-silences-hay", mutate(SCALE, scaled(0.1))),
    ("note-linear-misses-bayes", mutate(BAYES, scaled(1.1))),
    ("note-long-texts-drown-linear", least_risk(scaled(0.5))),
    ("note-linear-rate", least_risk(root)),
    ("note-softmax-rate", mutate(BAYES, constant)),
    ("note-linear-fails-in-max", least_risk(scaled(0.5))),
    ("note-softmax-perfect-in-max", mutate(RISK, shifted(0.1))),
    (
        "note-normalisation-is-the-cause",
        mutate(
            f"{THEORY}.asymptotics:softplus_constant", lambda c: (2 * c.value, c.slope)
        ),
    ),
    ("note-normalisation-doubles-the-signal", mutate(BOUND, scaled(1.01))),
    ("note-random-length-hurts-linear", least_risk(constant)),
    ("note-noise-hurts-linear-more", noisier_linear()),
]
CLAIMS = [claim for claim, _ in MUTATIONS]


@pytest.mark.parametrize("claim", CLAIMS)
def test_claim_holds(claim):
    assert ledger.verdict(claim) == ledger.statement(claim).expected


@pytest.mark.parametrize(("claim", "mutation"), MUTATIONS, ids=CLAIMS)
def test_claim_fails_under_mutation(monkeypatch, claim, mutation):
    found = ledger.verdict_under(monkeypatch, claim, mutation)
    assert found != ledger.statement(claim).expected
