"""Each claim about the best temperature holds, and fails once the solver is broken."""

import numpy as np
import pytest

import ledger
from attention_mutations import TEMPERATURE, value

SOLVER = f"{TEMPERATURE}:optimal_inverse_temperature"
MUTATIONS = [
    ("optimal-temperature-condition", value("too cold", SOLVER, lambda b: b + 1e-6)),
    ("optimal-temperature-is-best", value("too warm", SOLVER, lambda b: b - 0.1)),
    (
        "optimum-is-finite-inside-only",
        value("clipped", SOLVER, lambda b: np.clip(b, -20, 20)),
    ),
    ("optimum-negative-below-the-mean", value("unsigned", SOLVER, np.abs)),
    ("optimal-temperature-example", value("1 % off", SOLVER, lambda b: b * 1.01)),
    ("weight-at-the-optimal-temperature", value("at 1", SOLVER, lambda b: 1.0)),
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
