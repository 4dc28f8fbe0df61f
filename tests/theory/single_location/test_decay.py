"""Exponents of the risk above the transition against slopes of exact risks."""

import math

import pytest

from population_reference import VALUES
from sharp_attention.tasks.single_location import SpikedSLR
from sharp_attention.theory.single_location import decay, population

ROWS = VALUES["phases"]["decay_exponents"]["rows"]


def slope(risk, ratio):
    """Minus the slope of log risk between 10**15 and 10**30 tokens."""
    values = [risk(SpikedSLR(ratio * n * math.log(10), 10**n)) for n in (15, 30)]
    return math.log10(values[0] / values[1]) / 15


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"c={row[0]}")
def test_reference(row):
    ratio, softmax, softmax_slope, element, element_slope = row
    assert decay.decay_exponent(ratio) == pytest.approx(softmax, rel=1e-14)
    assert decay.elementwise_decay_exponent(ratio) == pytest.approx(element, rel=1e-14)
    assert slope(population.bayes_risk, ratio) == pytest.approx(softmax_slope, rel=1e-8)
    found = slope(population.elementwise_bound, ratio)
    assert found == pytest.approx(element_slope, rel=1e-8)
    # The prefactor varies like a power of log L.
    assert softmax_slope == pytest.approx(softmax, abs=0.03)
    assert element_slope == pytest.approx(element, abs=0.03)


def test_softmax_falls_faster_and_both_start_at_two():
    for ratio in (0.0, 1.0, 2.0):
        assert decay.decay_exponent(ratio) == 0
        assert decay.elementwise_decay_exponent(ratio) == 0
    for ratio in (2.1, 5.0, 8.0, 50.0):
        element = decay.elementwise_decay_exponent(ratio)
        assert decay.decay_exponent(ratio) > element > 0


def test_the_two_ways_of_losing_the_needle_join_smoothly():
    below, at, above = (decay.decay_exponent(8 + x) for x in (-1e-6, 0.0, 1e-6))
    assert above - at == pytest.approx(at - below, rel=1e-5)
    assert at == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["decay_exponent", "elementwise_decay_exponent"])
def test_bad_input(name):
    with pytest.raises(ValueError, match="signal must be >= 0; received -1"):
        getattr(decay, name)(-1)
