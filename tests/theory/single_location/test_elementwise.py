"""Element-wise weights against Owen's T function and plain quadrature."""

import math

import numpy as np
import pytest
from scipy import special

from sharp_attention.theory.single_location import elementwise, selection
from sharp_attention.theory.single_location.heads import Head


def erf_moments(mean, variance, offset):
    """E s and E s^2 of s = Phi(sqrt(2) (offset + chi)), slr-population (4.1)."""
    h = math.sqrt(2) * (offset + mean) / math.sqrt(1 + 2 * variance)
    first = special.ndtr(h)
    owen = special.owens_t(h, 1 / math.sqrt(1 + 4 * variance))
    return first, first - 2 * owen


@pytest.mark.parametrize("offset", [0.0, -1.5, 2.0])
@pytest.mark.parametrize("length", [2, 50])
def test_erf_in_the_spiked_task(offset, length):
    head = Head(3.0, length, 0.7, 0.8)
    found = elementwise.spiked_moments("erf", [head], offset)
    own, own_square = erf_moments(math.sqrt(3.0) * 0.7, 0.8, offset)
    _, square = erf_moments(0.0, 0.8, offset)
    assert found.kept[0] == pytest.approx(own, rel=1e-12)
    assert found.lost[0] == pytest.approx(1 - own, rel=1e-10)
    squares = own_square + (length - 1) * square
    assert found.squares[0] == pytest.approx(squares, rel=1e-11)
    misplaced = 1 - 2 * own + squares
    assert found.misplaced[0] == pytest.approx(misplaced, rel=1e-11)
    assert found.crossed[0] == 0


def test_very_negative_offsets_keep_their_digits():
    """Against sums of exp(2 log s); 1 + erf would be 0 for most of the tokens."""
    offset, slope = -8.0, 2.5
    head = Head(1.0, 1000, slope, slope**2)
    found = elementwise.spiked_moments("erf", [head], offset)
    g = np.linspace(-12, 25, 20_001)
    step = g[1] - g[0]
    log_s = special.log_ndtr(math.sqrt(2) * (offset + slope * g))
    square = step * np.sum(np.exp(2 * log_s - g**2 / 2)) / math.sqrt(2 * math.pi)
    own = step * np.sum(np.exp(log_s - (g - 1) ** 2 / 2)) / math.sqrt(2 * math.pi)
    others = found.squares[0]
    own_square = step * np.sum(np.exp(2 * log_s - (g - 1) ** 2 / 2))
    own_square /= math.sqrt(2 * math.pi)
    assert found.kept[0] == pytest.approx(own, rel=1e-11)
    assert others == pytest.approx(999 * square + own_square, rel=1e-11)
    assert 1 + math.erf(offset) == 0


def test_sigmoid_in_the_spiked_task():
    head = Head(2.0, 4, 0.9, 1.3)
    found = elementwise.spiked_moments("sigmoid", [head], -0.7)
    g, step = np.linspace(-14, 14, 4001, retstep=True)
    density = np.exp(-(g**2) / 2) * step / math.sqrt(2 * math.pi)
    own = special.expit(math.sqrt(2.0) * 0.9 + head.slope * g - 0.7)
    other = special.expit(head.slope * g - 0.7)
    assert found.kept[0] == pytest.approx(density @ own, rel=1e-12)
    squares = density @ own**2 + 3 * density @ other**2
    assert found.squares[0] == pytest.approx(squares, rel=1e-12)


@pytest.mark.parametrize("signal", [1.5, math.inf])
@pytest.mark.parametrize("stray", [0.0, 0.6])
def test_erf_in_the_max_task(signal, stray):
    m_k, offset, length = 0.8, -0.5, 6
    head = Head(signal, length, m_k, m_k**2 + stray**2)
    found = elementwise.max_moments("erf", [head], offset)
    _, square = erf_moments(0.0, head.q_k, offset)
    assert found.squares[0] == pytest.approx(length * square, rel=1e-11)
    scores, weights, _ = selection.select(signal, length)
    kept = [erf_moments(m_k * x, stray**2, offset)[0] for x in scores]
    assert found.kept[0] == pytest.approx(weights @ kept, rel=1e-11)
    assert found.lost[0] == pytest.approx(1 - found.kept[0], rel=1e-10)


def test_the_value_absorbs_the_largest_weight():
    head = Head(1.0, 2, 0.5, 0.5, 0.3, 0.4, 0.1, 0.2, 0.15)
    scaled = elementwise.rescale("erf", head)
    assert scaled[4:] == pytest.approx((0.6, 1.6, 0.1, 0.4, 0.3))
    assert elementwise.rescale("sigmoid", head) == head
