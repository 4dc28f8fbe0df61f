"""What the CLRS-Text runs say: the criterion for no conclusion, case by case."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from sharp_attention.experiments import clrs_table
from sharp_attention.experiments.files import csv_bytes

SIZES = (4, 8, 10, 16)
ARMS = ("softmax", "adaptive-test", "adaptive")


def made_up(
    tmp_path, *, seeds=5, inside=0.9, beyond=0.5, gain=0.0, noise=0.01
) -> pd.DataFrame:
    """Write a table: accuracies inside and beyond, and what ``adaptive`` gains."""
    rng = np.random.default_rng(0)
    rows = []
    for seed in range(seeds):
        for arm in ARMS:
            for size in SIZES:
                share = inside if size <= 8 else beyond
                share += gain * (arm == "adaptive" and size > 8)
                share += noise * rng.standard_normal() * (share > 0.2)
                rows.append(
                    {
                        "algorithm": "minimum",
                        "seed": seed,
                        "arm": arm,
                        "size": size,
                        "num_texts": 1000,
                        "correct": round(1000 * share),
                        "majority": 1000 // size,
                        "answer_known": 1000 * min(size, 8) // size,
                    }
                )
    (tmp_path / "accuracy.csv").write_bytes(csv_bytes(rows))
    return clrs_table.read(tmp_path)


def judged(table: pd.DataFrame, arm: str = "adaptive") -> clrs_table.Comparison:
    return clrs_table.compare(table, "minimum", arm)


@pytest.mark.parametrize(
    ("changes", "verdict", "reason"),
    [
        ({"gain": 0.1}, "better", "excludes 0"),
        ({"gain": -0.1}, "worse", "excludes 0"),
        ({}, "no difference beyond 5 points", "is narrow"),
        ({"seeds": 2, "gain": 0.1}, "no conclusion possible", "2 seeds are fewer"),
        ({"inside": 0.4, "gain": 0.1}, "no conclusion possible", "not learned"),
        ({"beyond": 0.05}, "no conclusion possible", "near chance at all sizes"),
        ({"noise": 0.15}, "no conclusion possible", "reaches beyond 5 points"),
    ],
)
def test_verdicts(tmp_path, changes: dict, verdict: str, reason: str) -> None:
    found = judged(made_up(tmp_path, **changes))
    assert found.verdict == verdict
    assert reason in found.reason


def test_difference_is_that_of_scipy(tmp_path) -> None:
    table = made_up(tmp_path, gain=0.1)
    found = judged(table)
    assert found.sizes == (10, 16)
    beyond = table[table["size"] > 8].pivot_table("accuracy", "seed", "arm")
    gains = beyond["adaptive"] - beyond["softmax"]
    interval = stats.ttest_1samp(gains, 0).confidence_interval()
    assert found.difference == pytest.approx(gains.mean())
    assert found.error == pytest.approx((interval.high - interval.low) / 2)


def test_sizes_of_training_are_compared_apart(tmp_path) -> None:
    table = made_up(tmp_path, gain=0.3)
    difference, error = clrs_table.in_range(table, "minimum", "adaptive")
    assert abs(difference) <= 3 * error < 0.1  # the gain is beyond these sizes
    table.loc[(table["size"] <= 8) & (table["arm"] == "adaptive"), "accuracy"] -= 0.2
    lower, _ = clrs_table.in_range(table, "minimum", "adaptive")
    assert lower == pytest.approx(difference - 0.2)


def test_sizes_near_chance_do_not_count(tmp_path) -> None:
    table = made_up(tmp_path, gain=0.1)
    table.loc[table["size"] == 16, "accuracy"] = 1 / 16
    assert judged(table).sizes == (10,)


@pytest.mark.parametrize(("correct", "texts"), [(0, 20), (7, 20), (511, 512)])
def test_wilson_is_that_of_scipy(correct: int, texts: int) -> None:
    interval = stats.binomtest(correct, texts).proportion_ci(method="wilson")
    found = clrs_table.wilson(correct / texts, texts)
    np.testing.assert_allclose(found, (interval.low, interval.high), atol=1e-12)


def test_means_are_over_seeds(tmp_path) -> None:
    table = made_up(tmp_path)
    means = clrs_table.by_size(table).set_index(["arm", "size"])
    rows = table[(table["arm"] == "adaptive") & (table["size"] == 10)]
    row = means.loc[("adaptive", 10)]
    assert row["accuracy"] == pytest.approx(rows["correct"].mean() / 1000)
    assert row["lowest"] <= row["accuracy"] <= row["highest"]
    assert row["low"] < row["accuracy"] < row["high"]
    assert (row["chance"], row["reachable"], row["seeds"]) == (0.1, 0.8, 5)


def test_every_arm_of_every_task_is_judged(tmp_path) -> None:
    table = clrs_table.verdicts(made_up(tmp_path))
    assert table["arm"].tolist() == ["adaptive-test", "adaptive"]


def test_unknown_names_are_refused(tmp_path) -> None:
    table = made_up(tmp_path)
    with pytest.raises(ValueError, match="algorithm must be one of 'minimum'"):
        clrs_table.compare(table, "bfs", "adaptive")
    with pytest.raises(ValueError, match="arm must be one of 'adaptive-test'"):
        clrs_table.compare(table, "minimum", "softmax")
    with pytest.raises(ValueError, match="share must be between 0 and 1"):
        clrs_table.wilson(1.5, 10)
