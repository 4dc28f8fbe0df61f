"""Each claim about Table 1 has its verdict, and loses it once the runs are changed."""

from collections.abc import Callable

import pandas as pd
import pytest

import ledger
from sharp_attention.experiments import retrieval_table

READ = "sharp_attention.experiments.retrieval_table:read"
SIZES = [int(n) for n in retrieval_table.QUOTED.index]


def with_runs(name: str, change: Callable[[pd.DataFrame], None]) -> ledger.Mutation:
    """Break the artefact: `change` alters the table of all runs in place."""

    def broken(original):
        def read() -> pd.DataFrame:
            table = original()
            change(table)
            return table

        return read

    return ledger.Mutation(name, READ, broken)


def as_quoted(table: pd.DataFrame) -> None:
    """Replace the main arm's accuracies by the paper's, with its seeds' own scatter."""
    quoted = retrieval_table.QUOTED[["softmax", "adaptive"]].stack()
    rows = table.merge(
        quoted.rename("quoted"),
        how="left",
        left_on=["num_items", "rule"],
        right_index=True,
    )
    known = rows["quoted"].notna()
    table.loc[known, "accuracy"] = rows["quoted"] + 0.01 * (table["seed"] - 4.5)


def swap_rules(table: pd.DataFrame) -> None:
    """Let the rules change places: what was a gain is a loss."""
    names = {"softmax": "adaptive", "adaptive": "softmax"}
    table["rule"] = table["rule"].map(names)


def blur(table: pd.DataFrame) -> None:
    """Let the adaptive rule gain at one seed and lose at the next."""
    gain = 5.0 * (-1.0) ** table["seed"]
    table["accuracy"] = 50.0 + gain * (table["rule"] == "adaptive")


def always_better(table: pd.DataFrame) -> None:
    """Let the adaptive rule gain a point everywhere, a little more at some seeds."""
    plain = table["rule"] == "softmax"
    table.loc[plain, "accuracy"] = 90 + 0.1 * table["seed"]
    table.loc[~plain, "accuracy"] = 91 + 0.11 * table["seed"]


def level(table: pd.DataFrame) -> None:
    """Let every model be right as often at every size, after any training."""
    table["accuracy"] = 90.0 + 0.1 * table["seed"] + (table["num_items"] == 16384)
    table["ranked"] = 50.0


QUOTED = with_runs("the paper's accuracies", as_quoted)
SWAPPED = with_runs("rules swapped", swap_rules)
BLURRED = with_runs("gains that depend on the seed", blur)
BETTER = with_runs("adaptive always better", always_better)
LEVEL = with_runs("the same at every size", level)

MUTATIONS = [
    *(
        (f"table-1-{rule}-{n}", QUOTED)
        for rule in ("softmax", "adaptive")
        for n in SIZES
    ),
    ("table-1-p-16", BETTER),
    *((f"table-1-p-{n}", BLURRED) for n in SIZES[1:]),
    ("table-1-in-distribution", LEVEL),
    ("table-1-falls", LEVEL),
    ("table-1-gain-in-the-middle", SWAPPED),
    ("table-1-largest-gain", QUOTED),
    ("retrieval-order-is-not-the-limit", LEVEL),
    ("retrieval-length-of-training", LEVEL),
    ("retrieval-near-ten-thousand-steps", QUOTED),
    ("retrieval-nearest-arm", LEVEL),
]
CLAIMS = [claim for claim, _ in MUTATIONS]


@pytest.mark.parametrize("claim", CLAIMS)
def test_claim_holds(claim: str) -> None:
    """The verdict is the expected one: some of these cells differ, and say so."""
    assert ledger.verdict(claim) == ledger.statement(claim).expected


@pytest.mark.parametrize(("claim", "mutation"), MUTATIONS, ids=CLAIMS)
def test_claim_fails_under_mutation(
    monkeypatch: pytest.MonkeyPatch, claim: str, mutation: ledger.Mutation
) -> None:
    """Other runs give the other verdict: the paper's cells would agree with it."""
    turned = {"reproduced": "differs", "differs": "reproduced"}
    expected = turned[ledger.statement(claim).expected]
    assert ledger.verdict_under(monkeypatch, claim, mutation) == expected


def test_every_quoted_cell_is_a_claim() -> None:
    cells = [
        f"table-1-{name}-{n}" for name in ("softmax", "adaptive", "p") for n in SIZES
    ]
    assert set(cells) <= set(CLAIMS)
