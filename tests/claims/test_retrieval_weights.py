"""Claims on further cells, weights and gains, and what they say of other runs."""

import pandas as pd
import pytest

import ledger
from artefact_mutations import with_table
from sharp_attention.experiments import retrieval_table

READ = "sharp_attention.experiments.retrieval_table:read"
TABLE_OF_QUOTES = "sharp_attention.experiments.retrieval_table:QUOTED"
SIZES = [int(n) for n in retrieval_table.QUOTED_FURTHER.index]


def as_quoted(table: pd.DataFrame) -> None:
    """Replace the main arm's accuracies by the paper's, with a scatter over seeds."""
    further = retrieval_table.QUOTED_FURTHER[["softmax", "adaptive"]].stack()
    quoted = pd.concat([further, retrieval_table.QUOTED.iloc[:, :2].stack()])
    rows = table.merge(
        quoted.rename("quoted"),
        how="left",
        left_on=["num_items", "rule"],
        right_index=True,
    )
    scatter = table["rule"].map({"softmax": 0.01, "adaptive": 0.012})
    table["accuracy"] = rows["quoted"] + scatter * (table["seed"] - 4.5)


def gains_that_grow(table: pd.DataFrame) -> None:
    """Let the gain be proportional to the size."""
    is_adaptive = table["rule"] == "adaptive"
    table["accuracy"] = 50 + 0.001 * is_adaptive * table["num_items"]


def dim(table: pd.DataFrame) -> None:
    """Let no head find the maximum, and sharpening blur it."""
    table["maximum_weight"] = 0.1 + 1e-7 * table["num_items"]
    table.loc[table["rule"] == "adaptive", "maximum_weight"] *= 0.9


QUOTED = with_table(READ, "the paper's accuracies", as_quoted)
DIM = with_table(READ, "dim heads", dim)
GROWING = with_table(READ, "gains grow", gains_that_grow)


def doubling(original: pd.DataFrame) -> pd.DataFrame:
    """Quote another table, in which the gain doubles from size to size."""
    gains = 0.1 * 2.0 ** pd.Series(range(6), original.index)
    return original.assign(adaptive=original["softmax"] + gains)


MUTATIONS = [
    *((f"table-1-{r}-{n}", QUOTED) for n in SIZES for r in ("softmax", "adaptive")),
    ("table-1-gain-1024", GROWING),
    ("note-gain-grows-with-size", GROWING),
    (
        "note-gain-grows-in-the-quoted-table",
        ledger.Mutation("other quotes", TABLE_OF_QUOTES, doubling),
    ),
    ("figure-2-starts-bright", DIM),
    ("figure-2-fades", DIM),
    ("figure-7-is-sharper", DIM),
]
CLAIMS = [claim for claim, _ in MUTATIONS]


@pytest.mark.parametrize("claim", CLAIMS)
def test_claim_holds(claim: str) -> None:
    assert ledger.verdict(claim) == ledger.statement(claim).expected


@pytest.mark.parametrize(("claim", "mutation"), MUTATIONS, ids=CLAIMS)
def test_claim_fails_under_mutation(
    monkeypatch: pytest.MonkeyPatch, claim: str, mutation: ledger.Mutation
) -> None:
    turned = {"reproduced": "differs", "differs": "reproduced"}
    expected = turned[ledger.statement(claim).expected]
    assert ledger.verdict_under(monkeypatch, claim, mutation) == expected
