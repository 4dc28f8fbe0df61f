"""The audit: every statement and number of the notes and papers has its claims.

`statements.csv` lists them in the order of their sources, in our own words, each with
the claims that hold it or with the reason why nothing can.
"""

from pathlib import Path

import pandas as pd
import pytest

from sharp_attention.claims import page, registry

TABLE = pd.read_csv(Path(__file__).with_name("statements.csv"), keep_default_na=False)
STATEMENTS = {entry.id: entry for entry in registry.statements()}
SOURCES = {
    "first note": "softmax-not-enough",
    "second note": "single-location",
    "first paper": "softmax-not-enough",
    "second paper": "single-location",
}
LEAST_CLAIMS, LEAST_COMPUTED = 60, 40


def test_no_row_is_empty() -> None:
    for name in ("source", "place", "statement"):
        assert (TABLE[name].str.len() > 0).all(), name
    columns = (TABLE[name].str.len() > 0 for name in ("claims", "why_no_claim"))
    has_claims, has_reason = columns
    assert TABLE[has_claims == has_reason]["statement"].tolist() == []


def test_no_statement_is_listed_twice() -> None:
    columns = ["source", "place", "statement"]
    assert TABLE[TABLE.duplicated(columns)]["statement"].tolist() == []


def test_every_source_is_there() -> None:
    assert set(TABLE["source"]) == set(SOURCES)


def test_every_claim_exists() -> None:
    named = {name for names in TABLE["claims"] for name in names.split()}
    assert sorted(named - set(STATEMENTS)) == []


def test_every_claim_of_a_paper_is_in_the_audit() -> None:
    named = {name for names in TABLE["claims"] for name in names.split()}
    quoted = {name for name, entry in STATEMENTS.items() if entry.paper != "ours"}
    assert sorted(quoted - named) == []


@pytest.mark.parametrize("source", SOURCES)
def test_a_statement_has_a_claim_about_its_paper_or_a_refinement(source: str) -> None:
    for row in TABLE[TABLE["source"] == source].to_dict("records"):
        papers = {STATEMENTS[name].paper for name in row["claims"].split()}
        assert papers <= {*SOURCES.values(), "ours"}
        assert not papers or papers & {SOURCES[source], "ours"}, row["statement"]


def test_numbers_of_claims() -> None:
    computed = [e for e in STATEMENTS.values() if e.expected != "not run here"]
    assert len(STATEMENTS) >= LEAST_CLAIMS
    assert len(computed) >= LEAST_COMPUTED
    papers = {entry.paper for entry in computed}
    assert papers == set(page.PAPERS)
