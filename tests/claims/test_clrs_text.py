"""Each claim about CLRS-Text has its verdict, and loses it once runs are changed."""

from collections.abc import Callable

import pandas as pd
import pytest

import ledger

READ = "sharp_attention.experiments.clrs_table:read"


def with_runs(name: str, change: Callable[[pd.DataFrame], None]) -> ledger.Mutation:
    """Break the artefact: `change` alters the table of all runs in place."""

    def broken(original):
        def read() -> pd.DataFrame:
            table = original()
            change(table)
            return table

        return read

    return ledger.Mutation(name, READ, broken)


def guess(table: pd.DataFrame) -> None:
    """Let every model give the most frequent answer and no other."""
    table["accuracy"] = table["chance"]


def go_on(table: pd.DataFrame) -> None:
    """Let models be as good beyond training as inside, the adaptive ones better."""
    gain = 0.01 * (table["arm"] == "adaptive") * (1 + 0.1 * table["seed"])
    table["accuracy"] = 0.9 + gain


def help_at_test(table: pd.DataFrame) -> None:
    """Let the rule help those that were trained without it."""
    table["accuracy"] = 0.7 + 0.1 * (table["arm"] == "adaptive-test")


MUTATIONS = [
    ("clrs-text-minimum-learned", with_runs("models that guess", guess)),
    ("clrs-text-no-conclusion", with_runs("models that go on", go_on)),
    ("clrs-text-ceiling", with_runs("models that go on", go_on)),
    ("clrs-text-test-only-costs", with_runs("a rule that helps", help_at_test)),
]
CLAIMS = [claim for claim, _ in MUTATIONS]


@pytest.mark.parametrize("claim", CLAIMS)
def test_claim_holds(claim: str) -> None:
    assert ledger.verdict(claim) == ledger.statement(claim).expected


@pytest.mark.parametrize(("claim", "mutation"), MUTATIONS, ids=CLAIMS)
def test_claim_fails_under_mutation(
    monkeypatch: pytest.MonkeyPatch, claim: str, mutation: ledger.Mutation
) -> None:
    changed = ledger.verdict_under(monkeypatch, claim, mutation)
    assert changed != ledger.statement(claim).expected
