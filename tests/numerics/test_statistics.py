"""Intervals of few runs."""

import numpy as np
import pytest
from scipy import stats

from sharp_attention.numerics.statistics import mean_interval


def test_interval_is_that_of_the_t_test() -> None:
    values = np.random.default_rng(0).normal(size=5)
    mean, half = mean_interval(values)
    expected = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    np.testing.assert_allclose([mean - half, mean + half], expected, rtol=1e-12)


def test_interval_covers_what_it_says() -> None:
    draws = np.random.default_rng(1).normal(size=(4000, 3))
    covered = [abs(mean) < half for mean, half in map(mean_interval, draws)]
    error = np.sqrt(0.95 * 0.05 / 4000)
    assert abs(np.mean(covered) - 0.95) < 5 * error


def test_one_run_has_no_interval() -> None:
    with pytest.raises(ValueError, match="values must be of two runs at least"):
        mean_interval(np.ones(1))
