"""The best element-wise weights: bounds, right values, closed forms."""

import math

import pytest

from population_reference import CELLS, VALUES, is_right
from sharp_attention.tasks.single_location import MaxSLR, SpikedSLR
from sharp_attention.theory.single_location import averages, bayes, heads
from sharp_attention.theory.single_location.elementwise_optimum import (
    best_slope_and_offset,
    elementwise_bound,
)

ROWS = VALUES["phases"]["critical_window"]["rows"]
WINDOW = [(row[0], row[1], row[5]) for row in ROWS]


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_right_bounds(cell):
    assert is_right(elementwise_bound(cell.task), cell.values["elementwise_bound"])


@pytest.mark.parametrize(("log10_length", "h", "right"), WINDOW)
def test_bounds_for_astronomical_lengths(log10_length, h, right):
    length = 10**log10_length
    signal = (math.sqrt(2 * math.log(length)) + h) ** 2
    found = elementwise_bound(SpikedSLR(signal, length))
    assert found == pytest.approx(right, rel=1e-8)


@pytest.mark.parametrize("signal", [0.5, 8.0, 60.0])
def test_normalisation_is_worth_a_factor_two(signal):
    """The bound for two tokens is the Bayes risk at half the signal (5.8)."""
    halved = bayes.bayes_risk(SpikedSLR(signal / 2, 2))
    assert elementwise_bound(SpikedSLR(signal, 2)) == pytest.approx(halved, rel=1e-10)


@pytest.mark.parametrize("length", [2, 7, 1000])
def test_infinite_signal(length):
    bound = elementwise_bound(MaxSLR(math.inf, length, noise=0.5))
    assert bound == pytest.approx((length - 1) / (2 * length - 1) + 0.25, rel=1e-11)


@pytest.mark.parametrize("activation", ["erf", "sigmoid"])
@pytest.mark.parametrize("task", [SpikedSLR(2.0, 3), SpikedSLR(2.0, {1: 0.5, 9: 0.5})])
def test_no_family_beats_the_bound(task, activation):
    m_k, offset = best_slope_and_offset(task, activation)

    def risk(slope, offset):
        moments = averages.over_lengths(task, activation, slope, offset=offset)
        return float(heads.best_read_out(moments)[1])

    best, bound = risk(m_k, offset), elementwise_bound(task)
    assert best >= bound - 1e-14
    for other in ((1.01 * m_k, offset), (m_k, offset + 0.02), (0.99 * m_k, offset)):
        assert risk(*other) > best
    if activation == "sigmoid":
        assert best == pytest.approx(bound, rel=1e-12)  # it is the optimum (5.7)


def test_erf_is_exactly_optimal_for_two_tokens_without_noise():
    """Weights 2 Phi(x) at m_k = 1 / sqrt(2), offset 0; risk 1/3 (5.10)."""
    task = MaxSLR(math.inf, 2)
    m_k, offset = best_slope_and_offset(task, "erf")
    assert m_k == pytest.approx(1 / math.sqrt(2), abs=1e-5)
    assert offset == pytest.approx(0, abs=1e-5)
    moments = averages.over_lengths(task, "erf", m_k, offset=offset)
    assert float(heads.best_read_out(moments)[1]) == pytest.approx(1 / 3, rel=1e-9)


def test_nothing_to_tell_apart():
    assert best_slope_and_offset(SpikedSLR(0.0, 3), "erf") == (0.0, 0.0)
    assert best_slope_and_offset(MaxSLR(3.0, 1), "sigmoid") == (0.0, 0.0)
    assert elementwise_bound(SpikedSLR(3.0, 1)) == pytest.approx(0, abs=1e-300)
