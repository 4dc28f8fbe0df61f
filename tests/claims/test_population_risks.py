"""Each claim on population risks has its verdict, and loses it in a broken library."""

from dataclasses import replace

import pytest

import ledger
from risk_mutations import (
    BAYES,
    BOUND,
    RISK,
    SCALE,
    THEORY,
    constant,
    least_risk,
    mutate,
    scaled,
    shifted,
    squared,
)


def root(risk):
    """Half the exponent."""
    return risk**0.5


def without(name):
    """Forget one overlap."""

    def breaks(original):
        def risk(task, activation, overlaps, **parameters):
            return original(
                task, activation, replace(overlaps, **{name: 0.0}), **parameters
            )

        return risk

    return ledger.Mutation(f"without {name}", RISK, breaks)


MUTATIONS = [
    ("softmax-attains-bayes", mutate(SCALE, scaled(1.05))),
    ("nishimori", mutate(SCALE, scaled(1.05))),
    ("linear-rate", least_risk(root)),
    ("softmax-exponential", mutate(BAYES, constant)),
    ("softmax-rate", mutate(BAYES, squared)),
    ("softmax-prefactor", mutate(f"{THEORY}.asymptotics:softmax_tail", scaled(2))),
    ("linear-closed-form", mutate(RISK, scaled(1.01))),
    ("linear-constant", least_risk(scaled(0.9))),
    ("linear-constant-as-printed", least_risk(scaled(1 / 9))),
    ("linear-constant-as-printed-elsewhere", least_risk(scaled(0.9))),
    ("linear-fails-in-long-max-texts", least_risk(scaled(0.5))),
    ("softmax-perfect-without-doubt", mutate(RISK, shifted(0.1))),
    ("random-length-spares-softmax", least_risk(root)),
    ("random-length-hurts-linear", least_risk(constant)),
    ("random-length-hurts-elementwise", mutate(BOUND, constant)),
    ("seven-order-parameters", without("m_vk")),
    ("four-on-the-manifold", without("m_v")),
]
CLAIMS = [claim for claim, _ in MUTATIONS]


@pytest.mark.parametrize("claim", CLAIMS)
def test_claim_holds(claim):
    assert ledger.verdict(claim) == ledger.statement(claim).expected


@pytest.mark.parametrize(("claim", "mutation"), MUTATIONS, ids=CLAIMS)
def test_claim_fails_under_mutation(monkeypatch, claim, mutation):
    found = ledger.verdict_under(monkeypatch, claim, mutation)
    assert found != ledger.statement(claim).expected
