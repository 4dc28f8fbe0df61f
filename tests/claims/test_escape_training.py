"""Each claim on retraining has its verdict, and loses it once the runs are changed."""

from collections.abc import Callable

import pandas as pd
import pytest

import ledger

READ = "sharp_attention.experiments.escape_table:read"


def with_runs(name: str, change: Callable[[pd.DataFrame], None]) -> ledger.Mutation:
    """Break the artefact: `change` alters the table of all runs in place."""

    def broken(original):
        def read() -> pd.DataFrame:
            table = original()
            change(table)
            return table

        return read

    return ledger.Mutation(name, READ, broken)


def better(table: pd.DataFrame) -> None:
    """Let every other map be twenty points ahead of softmax at every seed."""
    other = (table["trained"] != "softmax") | (table["tested"] != "softmax")
    table["accuracy"] = 50.0 + table["seed"] + 20.0 * other


def worse(table: pd.DataFrame) -> None:
    """Let every other map be twenty points behind softmax at every seed."""
    other = (table["trained"] != "softmax") | (table["tested"] != "softmax")
    table["accuracy"] = 50.0 + table["seed"] - 20.0 * other


BETTER, WORSE = with_runs("better", better), with_runs("worse", worse)
MUTATIONS = [
    ("trained-sigmoid-is-worse", BETTER),
    ("trained-linear-is-worse", BETTER),
    ("trained-stick-breaking-is-worse", BETTER),
    ("trained-hard-is-worse", BETTER),
    ("trained-entmax-1-5-gains", WORSE),
    ("trained-sparsemax-gains", WORSE),
    ("trained-log-n-gains", BETTER),
    ("swapped-log-n-gains", WORSE),
]
CLAIMS = [claim for claim, _ in MUTATIONS]


@pytest.mark.parametrize("claim", CLAIMS)
def test_claim_holds(claim: str) -> None:
    """The verdict is the expected one: some of these differ, and say so."""
    assert ledger.verdict(claim) == ledger.statement(claim).expected


@pytest.mark.parametrize(("claim", "mutation"), MUTATIONS, ids=CLAIMS)
def test_claim_fails_under_mutation(
    monkeypatch: pytest.MonkeyPatch, claim: str, mutation: ledger.Mutation
) -> None:
    turned = {"reproduced": "differs", "differs": "reproduced"}
    expected = turned[ledger.statement(claim).expected]
    assert ledger.verdict_under(monkeypatch, claim, mutation) == expected
