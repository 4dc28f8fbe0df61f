"""Long keys in the max task: the direct integrals, and the Bayes line at any signal."""

import math

import pytest

from sharp_attention.tasks.single_location import MaxSLR, Overlaps
from sharp_attention.theory.single_location import (
    bayes,
    maximum,
    population,
    steep_maximum,
)
from sharp_attention.theory.single_location.heads import Head


@pytest.mark.parametrize(
    "head",
    [Head(12.0, 3, 9.0, 81.0, 0.5, 1.0, m_vk=0.3, q_kv=2.7), Head(9.0, 6, 13.0, 169.0)],
)
def test_the_direct_integrals(head):
    found = steep_maximum.moments([head], 1.0)
    direct = maximum.moments("softmax", [head])
    for name in direct._fields:
        right = float(getattr(direct, name)[0])
        assert float(getattr(found, name)[0]) == pytest.approx(right, abs=2e-13), name


@pytest.mark.parametrize(
    ("signal", "length"), [(50.0, 3), (1e6, 3), (1e4, 10**100)], ids=str
)
def test_on_the_bayes_line(signal, length):
    """It has nothing in common with the law of the chosen score."""
    head = Overlaps(signal, signal**2, 1.0, 1.0)
    found = population.risk(MaxSLR(signal, length), "softmax", head)
    right = bayes.mean_score(signal, length) / signal
    assert found == pytest.approx(right, rel=1e-12)


def test_where_it_applies():
    assert steep_maximum.is_steep_head(Head(50.0, 3, 40.0, 1600.0))
    assert not steep_maximum.is_steep_head(Head(50.0, 3, -40.0, 1600.0))
    assert not steep_maximum.is_steep_head(Head(50.0, 3, 40.0, 1700.0))
    assert not steep_maximum.is_steep_head(Head(5.0, 3, 40.0, 1600.0))
    assert not steep_maximum.is_steep_head(Head(40.0, 10**100, 40.0, 1600.0))
    assert not steep_maximum.is_steep_head(Head(math.inf, 3, 40.0, 1600.0))


def test_the_cheaper_way_is_taken():
    """At a signal far above the key the panels are cheaper."""
    is_left = maximum._is_left_to_steep
    assert is_left("softmax", Head(50.0, 3, 50.0, 2500.0))
    assert not is_left("softmax", Head(1e6, 3, 50.0, 2500.0))
    assert not is_left("softmax", Head(2.0, 3, 2.0, 4.0))
    assert not is_left("softplus", Head(2.0, 3, 48.0, 2304.0))
