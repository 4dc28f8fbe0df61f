"""Each claim about trained models has its verdict, and loses it with other runs."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

import ledger

TABLE = "sharp_attention.experiments.spread_table"


def with_runs(
    name: str, change: Callable[[pd.DataFrame], None], read: str = "heads"
) -> ledger.Mutation:
    """Break the artefact: `change` alters the table in place."""

    def broken(original):
        def altered() -> pd.DataFrame:
            table = original()
            change(table)
            return table

        return altered

    return ledger.Mutation(name, f"{TABLE}:{read}", broken)


def scale_spreads(table: pd.DataFrame) -> None:
    """Let the heads see logits an eighth larger."""
    table["spread"] *= 9 / 8


def log_spreads(table: pd.DataFrame) -> None:
    """Let spreads be log n, and no more."""
    table["spread"] = 0.99 * np.log(table["length"])


def no_dilution(table: pd.DataFrame) -> None:
    """Let the largest weight not depend on the length."""
    table["max_weight"] = 0.3


def uniform(table: pd.DataFrame) -> None:
    """Let all weights be equal."""
    table["max_weight"] = table["first_weight"] = 1 / table["length"]


def one_aggregation(table: pd.DataFrame) -> None:
    """Let all rows of a head be alike."""
    for name in ("last", "all", "largest", "matrix"):
        table[f"spread_{name}"] = table["spread"]


def huge(table: pd.DataFrame) -> None:
    """Let one head use the range of bfloat16."""
    table.loc[0, "spread_matrix"] = 1e30


def swap(table: pd.DataFrame) -> None:
    """Let the rule help on the first text."""
    table.iloc[0] = table.iloc[0, ::-1].to_numpy()


def one_leader(table: pd.DataFrame) -> None:
    """Let half of the weight of each head be on one token, whatever the spread."""
    table["entropy_rest"] = np.log(2) + 0.5 * np.log(table["length"] - 1)


def same_weight(table: pd.DataFrame) -> None:
    """Let distractors take nothing away."""
    table["target_weight"] = 0.5


def inverse_weight(table: pd.DataFrame) -> None:
    """Let the weight on the answer fall like 1/n."""
    table["target_weight"] = 30 / table["length"]


SCALED = with_runs("larger logits", scale_spreads)
MUTATIONS = [
    ("minilm-spread-64", SCALED),
    ("smollm2-spread-64", SCALED),
    ("trained-spread-outgrows-log", with_runs("log spreads", log_spreads)),
    ("lemma-silent-for-decoder", with_runs("log spreads", log_spreads)),
    ("encoder-disperses", with_runs("no dilution", no_dilution)),
    ("decoder-hardly-disperses", with_runs("uniform", uniform)),
    ("first-token-takes-a-quarter", with_runs("uniform", uniform)),
    ("trained-rows-have-gaussian-twins", with_runs("one leader", one_leader)),
    (
        "needle-dilutes-among-rivals",
        with_runs("same weight", same_weight, "needles"),
    ),
    ("needle-stays-in-prose", with_runs("1/n", inverse_weight, "needles")),
    ("aggregation-decides", with_runs("one aggregation", one_aggregation)),
    ("trained-spreads-below-floats", with_runs("huge", huge)),
    ("adaptive-harms-pretrained", with_runs("swapped", swap, "perplexity")),
]
CLAIMS = [claim for claim, _ in MUTATIONS]


@pytest.mark.parametrize("claim", CLAIMS)
def test_claim_holds(claim: str) -> None:
    assert ledger.verdict(claim) == ledger.statement(claim).expected
    assert ledger.statement(claim).expected.startswith("reproduced")


@pytest.mark.parametrize(("claim", "mutation"), MUTATIONS, ids=CLAIMS)
def test_claim_fails_under_mutation(
    monkeypatch: pytest.MonkeyPatch, claim: str, mutation: ledger.Mutation
) -> None:
    assert ledger.verdict_under(monkeypatch, claim, mutation) == "differs"
