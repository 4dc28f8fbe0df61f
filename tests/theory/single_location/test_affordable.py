"""What would take minutes or gigabytes is refused, and the message says what is not."""

import math
import re

import pytest

from sharp_attention.tasks.single_location import MaxSLR, Overlaps, SpikedSLR
from sharp_attention.theory.single_location import population
from sharp_attention.theory.single_location.affordable import check_affordable
from sharp_attention.theory.single_location.heads import Head

SPIKED, MAX = SpikedSLR(1.0, 3), MaxSLR(50.0, 3)
HARD = Overlaps(math.inf, math.inf, 1.0, 1.0)


def key(square: float) -> Overlaps:
    return Overlaps(0.5 * math.sqrt(square), square, 1.0, 1.0)


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: population.risk(SPIKED, "softplus", key(1e9)), "q_k"),
        (lambda: population.risk(SPIKED, "erf", key(1e12)), "q_k"),
        (lambda: population.risk(SPIKED, "softmax", key(1e101)), "q_k"),
        (lambda: population.risk(MAX, "softmax", key(1e6)), "q_k"),
        (lambda: population.risk(MAX, "softplus", key(1e6)), "q_k"),
        (lambda: population.risk(MAX, "sigmoid", key(1e8)), "q_k"),
        (lambda: population.risk(MaxSLR(1e5, 3), "softmax", HARD), "signal"),
        (lambda: population.risk(MaxSLR(1e5, 3), "softplus", HARD), "signal"),
        (lambda: population.risk(SpikedSLR(1e10, 3), "softplus", HARD), "signal"),
        (lambda: population.bayes_risk(SpikedSLR(1e101, 3)), "signal"),
        (lambda: population.bayes_risk(MaxSLR(1e101, 10**101)), "signal"),
        (lambda: population.bayes_risk(MaxSLR(1e200, 3)), "signal"),
        (lambda: population.minimise(MaxSLR(1e200, 3), "erf"), "signal"),
        (lambda: population.minimise(MAX, "softplus"), "signal"),
        (lambda: population.minimise(SpikedSLR(1e5, 3), "softplus"), "signal"),
        (lambda: population.minimise(SpikedSLR(1e5, 3), "erf"), "signal"),
        (lambda: population.elementwise_bound(SpikedSLR(1e5, 3)), "signal"),
    ],
)
def test_argument_rule_and_value_are_named(call, argument):
    words = rf"{argument} must be at most [0-9.e+]+.*; received [0-9.e+]+$"
    with pytest.raises(ValueError, match=words):
        call()


def test_the_value_in_the_message_is_affordable_and_nearly_the_largest():
    head = Head(2.0, 3, 50.0, 1e4, m_kv=10.0)

    def cost(other: Head) -> float:
        assert other.m_k / other.slope == pytest.approx(0.5)
        return other.q_k / 777

    with pytest.raises(ValueError, match="q_k") as caught:
        check_affordable(head, cost)
    largest = float(re.findall(r"at most (\S+)", str(caught.value))[0])
    assert 700 < largest <= 777


def test_a_signal_that_is_too_large_for_any_key_is_named():
    head = Head(1e6, 3, 10.0, 100.0)
    with pytest.raises(ValueError, match=r"signal must be at most 4[89]00 "):
        check_affordable(head, lambda other: other.signal / 5e3 * other.q_k**0.0)


def test_both_may_be_too_large():
    head = Head(1e6, 3, 10.0, 100.0)
    with pytest.raises(ValueError, match="q_k must be smaller, and so has signal"):
        check_affordable(head, lambda other: other.signal / 5e3 + other.q_k / 50)
