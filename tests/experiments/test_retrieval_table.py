"""Means, intervals and paired tests of max retrieval."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from sharp_attention.experiments import max_retrieval, retrieval_table
from sharp_attention.experiments.files import csv_bytes
from sharp_attention.theory import class_vote

SEEDS, SIZES = range(6), (16, 256)
ARMS = [max_retrieval.MAIN, max_retrieval.MAIN | {"num_steps": 5000}]


def row(arm: dict, seed: int, num_items: int, rule: str) -> dict[str, object]:
    """Return a made-up row: the adaptive rule gains more at the larger size."""
    rng = np.random.default_rng([seed, num_items, arm["num_steps"]])
    correct = 900 - num_items + int(rng.integers(40))
    gain = int(rng.integers(-2, 3)) + (20 if num_items == 256 else 0)
    counts = {"correct": correct + gain * (rule == "adaptive"), "top_is_maximum": 950}
    means = {"top_weight": 0.5, "maximum_weight": 0.5, "entropy": 1.0, "spread": 9.0}
    label = {"num_items": num_items, "rule": rule, "num_sets": 1000}
    return {**arm, "seed": seed, **label, **counts, **means}


@pytest.fixture
def table(tmp_path) -> pd.DataFrame:
    rows = [
        row(arm, seed, num_items, rule)
        for arm in ARMS
        for seed in SEEDS
        for num_items in SIZES
        for rule in ("adaptive", "softmax")
    ]
    (tmp_path / "accuracy.csv").write_bytes(csv_bytes(rows))
    return retrieval_table.read(tmp_path)


def values(table: pd.DataFrame, num_items: int, rule: str) -> np.ndarray:
    rows = table[(table["num_items"] == num_items) & (table["rule"] == rule)]
    return rows.sort_values("seed")["correct"].to_numpy() / 10


def test_shares_are_in_per_cent(table) -> None:
    np.testing.assert_allclose(table["accuracy"], table["correct"] / 10)
    assert (table["ranked"] == 95).all()


def test_main_arm_is_the_papers_recipe(table) -> None:
    main = retrieval_table.main_arm(table)
    assert len(main) == len(table) / 2
    assert (main["num_steps"] == 100_000).all()


def test_means_intervals_and_p_values_are_those_of_scipy(table) -> None:
    main = retrieval_table.main_arm(table)
    summary = retrieval_table.by_size(main)
    assert summary.index.tolist() == list(SIZES)
    for num_items, found in summary.iterrows():
        softmax, adaptive = (
            values(main, num_items, rule) for rule in ("softmax", "adaptive")
        )
        gain = adaptive - softmax
        assert found["softmax"] == pytest.approx(softmax.mean())
        assert found["difference"] == pytest.approx(gain.mean())
        interval = stats.ttest_1samp(gain, 0).confidence_interval()
        assert found["difference_error"] == pytest.approx(
            (interval.high - interval.low) / 2
        )
        expected = stats.ttest_rel(adaptive, softmax).pvalue
        assert found["p_value"] == pytest.approx(expected)
    assert summary["p_value"][256] < 1e-3


def test_pairing_sees_a_gain_that_two_samples_hide(table) -> None:
    main = retrieval_table.main_arm(table)
    found = retrieval_table.by_size(main).loc[256]
    assert found["difference_error"] < 0.3 * found["softmax_error"]


def test_equal_rules_have_p_value_one(table) -> None:
    main = retrieval_table.main_arm(table).copy()
    main["accuracy"] = 90.0 + main["seed"]
    assert (retrieval_table.by_size(main)["p_value"] == 1).all()


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (lambda t: t["seed"] == 0, "table must be of two seeds at least; received 1"),
        (lambda t: (t["seed"] < 5) | (t["num_items"] == 16), "table must be complete"),
        (lambda t: (t["seed"] < 5) | (t["rule"] == "softmax"), "must be complete"),
    ],
)
def test_incomplete_tables_are_refused(table, rows, words) -> None:
    main = retrieval_table.main_arm(table)
    with pytest.raises(ValueError, match=words):
        retrieval_table.by_size(main[rows(main)])


def test_diagnosis_holds_the_toy_of_the_same_top_weight(table) -> None:
    found = retrieval_table.diagnosis(retrieval_table.main_arm(table))
    for num_items, line in found.iterrows():
        assert class_vote.top_weight(num_items, line["slope"]) == pytest.approx(0.5)
        toy = 100 * class_vote.vote_accuracy(num_items, line["slope"])
        assert line["toy"] == pytest.approx(toy)
        assert line["ranked"] == 95
        assert line["both"] == pytest.approx(0.95 * toy)
        assert line["entropy"] == 1


def test_arms_are_told_apart(table) -> None:
    arms = retrieval_table.by_arm(table)
    assert len(arms) == len(ARMS) * len(SIZES)
    assert (arms["seeds"] == len(SEEDS)).all()
    short = arms[(arms["num_steps"] == 5000) & (arms["num_items"] == 16)].iloc[0]
    rows = table[table["num_steps"] == 5000]
    assert short["softmax"] == pytest.approx(values(rows, 16, "softmax").mean())
    assert short["difference"] == pytest.approx(short["adaptive"] - short["softmax"])


def test_quoted_are_the_six_sizes() -> None:
    quoted = retrieval_table.QUOTED
    assert quoted.index.tolist() == [4**k for k in range(2, 8)]
    assert (quoted["adaptive"] >= quoted["softmax"]).all()
