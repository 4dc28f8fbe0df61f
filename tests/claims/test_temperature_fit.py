"""Each claim about the fit has its verdict, and loses it once the fit is changed."""

from collections.abc import Callable

import pandas as pd
import pytest

import ledger
from sharp_attention.attention import temperature

READ = "sharp_attention.experiments.artefacts:read_table"


def with_table(name: str, change: Callable[[pd.DataFrame], pd.DataFrame]):
    """Break the artefact: `change` gives another table wherever it applies."""

    def broken(original):
        return lambda *names: change(original(*names))

    return ledger.Mutation(name, READ, broken)


def as_printed(table: pd.DataFrame) -> pd.DataFrame:
    """Let our fit have the printed coefficients."""
    has_fit = "published" in table
    return table.assign(fitted=table["published"]) if has_fit else table


def always_sharp(table: pd.DataFrame) -> pd.DataFrame:
    """Let our fit be 2 at every entropy."""
    if "published" not in table:
        return table
    return table.assign(fitted=[2.0 if power == 0 else 0.0 for power in table["power"]])


def swapped(one: str, other: str) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Let two rules change places among the verdicts."""

    def change(table: pd.DataFrame) -> pd.DataFrame:
        if "rule" not in table:
            return table
        return table.assign(rule=table["rule"].replace({one: other, other: one}))

    return change


PRINTED = with_table("the printed coefficients", as_printed)
MUTATIONS = [
    *((f"fit-coefficient-{power}", PRINTED) for power in range(5)),
    ("fit-is-the-printed-one", PRINTED),
    ("fit-crosses-one-nearby", with_table("always sharp", always_sharp)),
    (
        "printed-rule-helps-on-ours",
        with_table("printed is softmax", swapped("published", "softmax")),
    ),
    (
        "fitted-rule-goes-further",
        with_table("printed is fitted", swapped("published", "fitted")),
    ),
]
CLAIMS = [claim for claim, _ in MUTATIONS]


@pytest.mark.parametrize("claim", CLAIMS)
def test_claim_holds(claim: str) -> None:
    assert ledger.verdict(claim) == ledger.statement(claim).expected


@pytest.mark.parametrize(("claim", "mutation"), MUTATIONS, ids=CLAIMS)
def test_claim_fails_under_mutation(
    monkeypatch: pytest.MonkeyPatch, claim: str, mutation: ledger.Mutation
) -> None:
    """Another fit gives the other verdict; the printed one would agree with itself."""
    turned = {"reproduced": "differs", "differs": "reproduced"}
    expected = turned[ledger.statement(claim).expected]
    assert ledger.verdict_under(monkeypatch, claim, mutation) == expected


def test_every_printed_coefficient_is_a_claim() -> None:
    count = len(temperature.POLYNOMIAL)
    assert {f"fit-coefficient-{power}" for power in range(count)} <= set(CLAIMS)
