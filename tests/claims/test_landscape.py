"""Each claim about the landscape has its verdict, and loses it with other minima."""

from collections.abc import Callable

import pandas as pd
import pytest

import ledger
from risk_mutations import THEORY, mutate, scaled

READ = "sharp_attention.experiments.artefacts:read_table"
KINDS = ["random", "informed", "swapped"]


def with_table(file: str, change: Callable[[pd.DataFrame], pd.DataFrame]):
    """Break the artefact: `change` gives another table in place of `file`."""

    def broken(original):
        def read(name, table, *folder):
            found = original(name, table, *folder)
            return change(found) if table == file else found

        return read

    return ledger.Mutation(change.__name__, READ, broken)


def one_minimum(table: pd.DataFrame) -> pd.DataFrame:
    """Let all descents of a setting end at its lowest minimum."""
    keys = ["task", "signal", "length", "sample_ratio", "ridge", "activation", "offset"]
    totals = table.groupby(keys)[KINDS].transform("sum")
    changed = table.assign(**{kind: totals[kind] for kind in KINDS})
    return changed[changed["minimum"] == 0]


def twice(table: pd.DataFrame) -> pd.DataFrame:
    """Let every minimum be met twice, the second time as a swapped one."""
    halves = table.assign(**{kind: table[kind] // 2 for kind in KINDS})
    others = halves.assign(minimum=table["minimum"] + 1000, family="swapped")
    return pd.concat([halves, others], ignore_index=True)


def off_the_manifold(table: pd.DataFrame) -> pd.DataFrame:
    """Let the lowest minima have a large cross overlap."""
    return table.assign(m_kv=1.0)


def all_matched(table: pd.DataFrame) -> pd.DataFrame:
    """Let no minimum be swapped."""
    return table.assign(family="matched")


def without_dimension(table: pd.DataFrame) -> pd.DataFrame:
    """Let the cross overlaps not depend on D."""
    names = ["m_kv", "m_vk", "q_kv"]
    root = table["dim"] ** 0.5
    return table.assign(**{name: table[name] * root for name in names})


ONE = with_table("minima.csv", one_minimum)
TWICE = with_table("minima.csv", twice)
FLAT = with_table("dimension.csv", without_dimension)
MUTATIONS = [
    ("note-linear-one-minimum", ONE),
    ("note-softmax-several-minima", TWICE),
    ("note-softmax-several-minima-few-texts", ONE),
    ("note-global-minimum-on-manifold", with_table("minima.csv", off_the_manifold)),
    ("note-descents-find-the-global-minimum", TWICE),
    ("note-descents-find-the-global-minimum-few-texts", ONE),
    ("linear-swapped-basin", with_table("minima.csv", all_matched)),
    ("random-starts-miss-the-basin", TWICE),
    ("cross-overlaps-scaling", FLAT),
    (
        "swapped-key-ends-in-the-valley",
        mutate(f"{THEORY}.basins:linear_valley_limit", scaled(1.01)),
    ),
    ("erf-has-other-minima", ONE),
    ("softmax-leaves-the-swapped-head", TWICE),
]
CLAIMS = [claim for claim, _ in MUTATIONS]


@pytest.mark.parametrize("claim", CLAIMS)
def test_claim_holds(claim):
    assert ledger.verdict(claim) == ledger.statement(claim).expected


@pytest.mark.parametrize(("claim", "mutation"), MUTATIONS, ids=CLAIMS)
def test_claim_fails_under_mutation(monkeypatch, claim, mutation):
    """Other minima give the other verdict."""
    turned = {"reproduced": "differs", "differs": "reproduced"}
    expected = turned[ledger.statement(claim).expected]
    assert ledger.verdict_under(monkeypatch, claim, mutation) == expected
