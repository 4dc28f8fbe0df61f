"""Claims of the second note have their verdicts, and lose them once broken."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import ledger
from artefact_mutations import with_table
from risk_mutations import RISK, mutate

HERE = "sharp_attention.claims.second_note"
LINEAR = "sharp_attention.attention.activations:linear"
SOFTMAX = "sharp_attention.claims._weights:softmax"
SAMPLE = "sharp_attention.tasks.single_location:sample"
SOLVE = "sharp_attention.theory.single_location.state_evolution:solve"
THEORY = "sharp_attention.experiments.finite_sample_tables:read"


def with_matrix(original: Callable) -> Callable:
    """Form the matrix of weights."""
    return lambda query, key, value: (query @ key.T) @ value


def unweighted(original: Callable) -> Callable:
    """Forget the logits, and with them the matrix."""
    return lambda query, key, value: query + value.mean(0)


def normalised(original: Callable) -> Callable:
    """Let the weights of a row sum to 1."""

    def weigh(logits):
        weights = original(logits)
        return weights / weights.sum(-1, keepdims=True)

    return weigh


def not_normalised(original: Callable) -> Callable:
    """Forget the normalisation."""
    return lambda logits: np.exp(logits)


def silent(samples: object) -> object:
    """Let tokens carry no value, so that a random one says 0."""
    return replace(samples, tokens=0 * samples.tokens)


def worst(table: pd.DataFrame) -> None:
    """Let nobody learn anything."""
    table["test_risk"] = 1.1


MUTATIONS = [
    (
        "note-softmax-costs-length-squared",
        ledger.Mutation("no matrix", f"{HERE}:_whole_matrix", unweighted),
    ),
    (
        "note-linear-attention-costs-length",
        ledger.Mutation("a matrix", f"{HERE}:_reordered", with_matrix),
    ),
    (
        "linear-attention-needs-no-matrix",
        ledger.Mutation("normalised", LINEAR, normalised),
    ),
    (
        "note-rivals-lose-weight",
        ledger.Mutation("not normalised", SOFTMAX, not_normalised),
    ),
    ("note-linear-spares-rivals", ledger.Mutation("normalised", LINEAR, normalised)),
    ("note-risk-of-a-random-guess", mutate(SAMPLE, silent)),
    ("note-loss-is-not-convex", mutate(RISK, lambda risks: 0 * risks)),
    *(
        (f"figure-3-max-reading-{name}", with_table(THEORY, "worst", worst))
        for name in ("softmax", "linear")
    ),
    ("figure-3-max-reading-bayes", mutate(SOLVE, lambda _: Nothing)),
]
CLAIMS = [claim for claim, _ in MUTATIONS]


class Nothing:
    """A reader that says 0."""

    test_risk = 1.1


@pytest.mark.parametrize("claim", CLAIMS)
def test_claim_holds(claim: str) -> None:
    assert ledger.verdict(claim) == ledger.statement(claim).expected


@pytest.mark.parametrize(("claim", "mutation"), MUTATIONS, ids=CLAIMS)
def test_claim_fails_under_mutation(
    monkeypatch: pytest.MonkeyPatch, claim: str, mutation: ledger.Mutation
) -> None:
    found = ledger.verdict_under(monkeypatch, claim, mutation)
    expected = ledger.statement(claim).expected
    assert found == ("reproduced" if expected == "differs" else "differs")
