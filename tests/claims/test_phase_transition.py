"""Each claim on long texts has its verdict, and loses it in a broken library."""

import pytest

import ledger
from risk_mutations import BAYES, BOUND, RISK, THEORY, mutate, scaled, shifted, squared

PHASES = f"{THEORY}.phases"

MUTATIONS = [
    ("critical-signal", mutate(f"{PHASES}:critical_signal", scaled(1.1))),
    ("critical-window", mutate(f"{PHASES}:window_risk", scaled(0.9))),
    ("corrected-window", mutate(f"{PHASES}:corrected_window_risk", shifted(0.01))),
    ("retrieval-phase", mutate(RISK, shifted(0.01))),
    ("dispersed-phase", mutate(RISK, scaled(0.9))),
    ("glass-risk", mutate(f"{PHASES}:limit_risk", lambda risk: min(risk, 1.0))),
    ("decay-exponent", mutate(BAYES, squared)),
    ("elementwise-decay-exponent", mutate(BOUND, squared)),
    ("kink-in-max", mutate(f"{PHASES}:max_limit_risk", scaled(2))),
]
CLAIMS = [claim for claim, _ in MUTATIONS]


@pytest.mark.parametrize("claim", CLAIMS)
def test_claim_holds(claim):
    assert ledger.verdict(claim) == ledger.statement(claim).expected == "reproduced"


@pytest.mark.parametrize(("claim", "mutation"), MUTATIONS, ids=CLAIMS)
def test_claim_fails_under_mutation(monkeypatch, claim, mutation):
    assert ledger.verdict_under(monkeypatch, claim, mutation) == "differs"
