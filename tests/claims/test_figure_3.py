"""Each claim about figure 3 has its verdict, and loses it once the runs are changed."""

from collections.abc import Callable

import pandas as pd
import pytest

import ledger
from risk_mutations import BAYES
from sharp_attention.claims import figure_3  # noqa: F401

READ = "sharp_attention.experiments.finite_sample_tables:read"
OTHER = {"softmax": "linear", "linear": "softmax"}


def with_runs(change: Callable[[pd.DataFrame], None]) -> ledger.Mutation:
    """Break the artefact: `change` alters each table in place."""

    def broken(original):
        def read(part: str) -> pd.DataFrame:
            table = original(part)
            change(table)
            return table

        return read

    return ledger.Mutation(change.__name__, READ, broken)


def swap_activations(table: pd.DataFrame) -> None:
    """Take linear attention for softmax, and the other way round."""
    table["activation"] = table["activation"].map(OTHER)


def drop_few_samples(table: pd.DataFrame) -> None:
    """Leave out the sample ratios below 2, where the order is not what is claimed."""
    table.loc[table["sample_ratio"] < 2, "test_risk"] = float("nan")


def train_worse(table: pd.DataFrame) -> None:
    """Let every trained head do a little worse."""
    table["test_risk"] *= 1.05


def swap_ridges(table: pd.DataFrame) -> None:
    """Take ridge 1 for the best ones."""
    table["ridge"] = table["ridge"].replace({"1": "best", "best": "1"})


def descend_badly(table: pd.DataFrame) -> None:
    """Let stochastic descent stop early."""
    is_stochastic = table["algorithm"] == "stochastic gradient descent"
    table.loc[is_stochastic, "test_risk"] += 0.02


def destabilise(table: pd.DataFrame) -> None:
    """Let every solution be less stable."""
    table["replicon"] *= 3


def reading(value: float) -> ledger.Mutation:
    """Let the Bayes risk be what was read off the figure."""
    return ledger.Mutation(f"{value}", BAYES, lambda _: lambda *_: value)


MUTATIONS = [
    ("figure-3-dots-on-lines", with_runs(train_worse)),
    ("figure-3-softmax-below-linear", with_runs(swap_activations)),
    ("figure-3-softmax-below-linear-at-best", with_runs(drop_few_samples)),
    ("figure-3-softmax-below-linear-where-trusted", with_runs(swap_activations)),
    ("note-erm-softmax-wins", with_runs(swap_activations)),
    ("figure-3-best-ridge", with_runs(swap_ridges)),
    ("note-erm-sgd-agrees", with_runs(descend_badly)),
    ("figure-3-replica-symmetry-holds", with_runs(destabilise)),
    ("figure-3-softmax-reading-1", reading(0.35)),
    ("figure-3-softmax-reading-2", reading(0.15)),
    ("figure-3-bayes-reading-1", reading(0.30)),
    ("figure-3-bayes-reading-2", reading(0.10)),
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
    assert found != ledger.statement(claim).expected
