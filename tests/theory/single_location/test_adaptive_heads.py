"""Adaptive temperature on trial: three verdicts, and reference values."""

import inspect
import math

import numpy as np
import pytest

from population_reference import VALUES
from sharp_attention.attention import temperature
from sharp_attention.tasks.single_location import MaxSLR, SpikedSLR
from sharp_attention.theory.single_location import adaptive_heads

QUICK = {("inf", 64), (2.0, 256), (3.0, 64), (6.0, 256)}  # (K, length)
QUICK = [("inf", 64), (2.0, 256), (3.0, 64), (6.0, 256)]  # bound and length
ROWS = [
    row
    for row in VALUES["size_generalisation"]["rows"]
    if "adaptive" in row and row["L_test"] <= 256
]
ROUNDING = 1e-6  # sums of weights in single precision


def number(value):
    return math.inf if value == "inf" else float(value)


def mark(row):
    name = f"{row['task']}-{row['nu']}-{row['K']}-{row['L_test']}"
    is_quick = (row["K"], row["L_test"]) in QUICK
    return pytest.param(row, id=name, marks=[] if is_quick else pytest.mark.slow)


@pytest.mark.parametrize("row", [mark(row) for row in ROWS])
def test_reference(row):
    kind = SpikedSLR if row["task"] == "spiked" else MaxSLR
    task = kind(number(row["nu"]), row["L_test"])
    found = adaptive_heads.adaptive_change(
        task, row["beta_train"], row["m_v"], num_samples=4_000, rng_seed=1
    )
    right = row["adaptive"]
    error = math.hypot(found.error, right["diff_se"])
    assert abs(found.mean - right["diff"]) < 5 * error


@pytest.mark.parametrize(
    ("task", "sharpness"),
    [(SpikedSLR(10.0, 256), math.sqrt(10.0)), (MaxSLR(6.0, 256), 6.0)],
    ids=["spiked", "max"],
)
def test_verdict_1_a_bayes_tuned_head_is_harmed_on_every_text(task, sharpness):
    changes = adaptive_heads.sample_changes(task, sharpness, num_samples=4_000)
    assert changes.min() > -ROUNDING
    assert changes.mean() > 5 * changes.std() / math.sqrt(len(changes))


@pytest.mark.parametrize(
    ("task", "sharpness", "read_out", "sign"),
    [
        pytest.param(SpikedSLR(10.0, 64), 1.5, 1.144, -1, id="spiked-soft"),
        pytest.param(SpikedSLR(10.0, 64), 2.8, 1.0105, 1, id="spiked-nearly-bayes"),
        pytest.param(MaxSLR(6.0, 256), 3.0, 1.1931, -1, id="max-soft"),
        pytest.param(MaxSLR(6.0, 256), 5.0, 1.0371, 1, id="max-nearly-bayes"),
    ],
)
def test_verdict_2_a_bounded_head_is_helped_only_if_clearly_too_soft(
    task, sharpness, read_out, sign
):
    found = adaptive_heads.adaptive_change(task, sharpness, read_out, num_samples=4_000)
    assert sign * found.mean > 5 * found.error


@pytest.mark.parametrize("sharpness", [0.5, 3.0, 10.0])
def test_verdict_3_the_largest_score_is_always_found_better(sharpness):
    task = MaxSLR(math.inf, 256)
    changes = adaptive_heads.sample_changes(task, sharpness, num_samples=4_000)
    assert changes.max() < ROUNDING
    assert changes.mean() <= 0


def test_verdict_3_needs_the_right_value():
    # Trained at 1,024 tokens with a short key, the read-out is far too large at 16.
    found = adaptive_heads.adaptive_change(MaxSLR(math.inf, 16), 2.0, 3.72)
    assert found.mean > 5 * found.error


class TestSwitchingOff:
    def test_reach(self):
        upper = temperature.active_domain()[1]
        assert adaptive_heads.adaptive_log_reach(0.0) == upper
        assert adaptive_heads.adaptive_log_reach(2.0) == upper + 2

    def test_nothing_changes_beyond_it(self):
        sharpness = 1.0
        log_length = adaptive_heads.adaptive_log_reach(sharpness)
        beyond, within = (
            adaptive_heads.sample_changes(
                SpikedSLR(1.0, round(factor * math.exp(log_length))),
                sharpness,
                num_samples=50,
            )
            for factor in (2.0, 0.5)
        )
        assert np.abs(beyond).max() < ROUNDING
        assert np.abs(within).min() > 2 * ROUNDING


def test_equal_scores_do_not_change():
    changes = adaptive_heads.sample_changes(SpikedSLR(1.0, 64), 0.0, num_samples=4_000)
    assert np.abs(changes).max() < ROUNDING


def test_the_error_is_that_of_the_mean():
    task = SpikedSLR(10.0, 64)
    one, other = (
        adaptive_heads.adaptive_change(task, 2.0, num_samples=4_000, rng_seed=seed)
        for seed in (3, 4)
    )
    assert one != other
    assert abs(one.mean - other.mean) < 5 * math.hypot(one.error, other.error)
    changes = adaptive_heads.sample_changes(task, 2.0, num_samples=4_000, rng_seed=3)
    assert one.mean == pytest.approx(changes.mean())
    assert one.error == pytest.approx(changes.std(ddof=1) / math.sqrt(4_000))


@pytest.mark.parametrize(
    ("task", "arguments", "error", "words"),
    [
        (None, {"sharpness": 1.0}, TypeError, "task must be a SpikedSLR"),
        (SpikedSLR(1.0, {2: 1.0}), {"sharpness": 1.0}, TypeError, "lengths must be"),
        (SpikedSLR(1.0, 2**24), {"sharpness": 1.0}, ValueError, "lengths must be < 2"),
        (SpikedSLR(1.0, 4), {"sharpness": -1.0}, ValueError, "sharpness must be >= 0"),
        (
            SpikedSLR(1.0, 4),
            {"sharpness": 1.0, "num_samples": 1},
            ValueError,
            "num_samples must be >= 2",
        ),
    ],
)
def test_bad_input(task, arguments, error, words):
    with pytest.raises(error, match=words):
        # Without the hooks of the tests, which look at types before it is called.
        inspect.unwrap(adaptive_heads.sample_changes)(task, **arguments)
