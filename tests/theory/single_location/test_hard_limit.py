"""Keys of infinite length: right values, closed forms, and the way there."""

import math

import numpy as np
import pytest
from scipy import special

from population_reference import CELLS, is_right
from sharp_attention.tasks.single_location import MaxSLR, SpikedSLR
from sharp_attention.theory.single_location import averages, hard_limit, heads

KNOWN = [
    pytest.param(
        cell,
        id=str(cell),
        marks=[] if isinstance(cell.task, SpikedSLR) else pytest.mark.slow,
    )
    for cell in CELLS
    if "risk_at_m_inf" in cell.values["softplus"]
]


@pytest.mark.parametrize("cell", KNOWN)
def test_right_risks_of_relu_weights(cell):
    moments = averages.over_lengths(cell.task, "softplus", math.inf)
    risk = float(heads.best_read_out(moments)[1])
    assert is_right(risk, cell.values["softplus"]["risk_at_m_inf"])


@pytest.mark.parametrize("signal", [0.5, 4.0, 30.0])
def test_the_hard_maximum_of_two(signal):
    found = hard_limit.spiked_moments("softmax", signal, 2)
    wrong = special.ndtr(-math.sqrt(signal / 2))
    assert found.lost == pytest.approx(wrong, rel=1e-11)
    assert found.misplaced == pytest.approx(2 * wrong, rel=1e-11)
    assert found.squares == 1


def test_the_hard_maximum_with_infinite_signal_is_never_wrong():
    found = hard_limit.max_moments("softmax", math.inf, 10**9)
    assert (found.kept, found.squares, found.misplaced) == (1, 1, 0)


def test_the_hard_maximum_of_a_drawn_position():
    """L = 2: E sigmoid(nu |x_1 - x_2|)."""
    found = hard_limit.max_moments("softmax", 1.5, 2)
    difference, step = np.linspace(-17, 17, 8001, retstep=True)
    density = np.exp(-(difference**2) / 4) / math.sqrt(4 * math.pi)
    # |x| has a kink at a node: the trapezoid rule is of second order there, and a
    # Richardson step removes it.
    values = density * special.expit(1.5 * np.abs(difference))
    fine, coarse = step * values.sum(), 2 * step * values[::2].sum()
    assert found.kept == pytest.approx((4 * fine - coarse) / 3, rel=1e-9)


@pytest.mark.parametrize("task", [SpikedSLR(3.0, 4)])
def test_softplus_tends_to_relu(task):
    limit = averages.over_lengths(task, "softplus", math.inf)
    gaps = [
        abs(float(averages.over_lengths(task, "softplus", slope).kept - limit.kept))
        for slope in (10.0, 20.0, 40.0)
    ]
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 1e-3


@pytest.mark.slow
def test_softplus_tends_to_relu_in_the_max_task():
    """At infinite signal only as 1 / m_k: 0.0644 at m_k = 9 against 0.0484."""
    task = MaxSLR(math.inf, 2)
    finite = averages.over_lengths(task, "softplus", 9.0)
    limit = averages.over_lengths(task, "softplus", math.inf)
    assert float(heads.best_read_out(finite)[1]) == pytest.approx(0.0644, abs=5e-5)
    assert float(heads.best_read_out(limit)[1]) == pytest.approx(0.0484, abs=5e-5)
