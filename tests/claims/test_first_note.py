"""Claims of the first note have their verdicts, and lose them once broken."""

from collections.abc import Callable

import jax
import pandas as pd
import pytest

import dispersion_mutations as broken
import ledger
from artefact_mutations import with_table
from dispersion_mutations import TRANSFORMER
from risk_mutations import least_risk, scaled

COUNTS = f"{TRANSFORMER}:evaluate_counts"
SOFTMAX = "sharp_attention.attention.activations:softmax"
THEORY = "sharp_attention.experiments.finite_sample_tables:read"
HEADS = "sharp_attention.experiments.spread_table:heads"


def blind(model: object, counts: object) -> tuple:
    """Give every token the same features, so that all logits are equal."""
    return jax.tree.map(lambda leaf: 0 * leaf + 1, model), counts


def without_temperature(original: Callable) -> Callable:
    """Forget the temperature."""
    return lambda row, temperature: original(row)


def no_gap(table: pd.DataFrame) -> None:
    """Let heads be as good on fresh texts as on their own."""
    table["test_risk"] = table["training_loss"] + 0.1


def sharpen(table: pd.DataFrame) -> None:
    """Let the entropy fall with the length."""
    table["entropy"] = 5 - 0.001 * table["length"]


def ever_nearer(evaluation: object) -> object:
    """Let the second and later blocks lose a hundredth of the difference."""
    if evaluation.heads.max_weight.shape[0] == 1:
        return evaluation
    output = 1e6 + evaluation.output
    return type(evaluation)(output, evaluation.heads)


MUTATIONS = [
    ("note-weights-become-uniform", broken.arguments(COUNTS, blind)),
    (
        "zero-temperature-passes-no-gradient",
        ledger.Mutation("no temperature", SOFTMAX, without_temperature),
    ),
    ("larger-keys-overfit", with_table(THEORY, "no gap", no_gap)),
    ("note-linear-attention-is-spared", least_risk(scaled(0.1))),
    ("stacked-layers-compound", broken.value(COUNTS, ever_nearer)),
    ("figure-3-entropies-rise", with_table(HEADS, "sharper", sharpen)),
]
CLAIMS = [claim for claim, _ in MUTATIONS]


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
