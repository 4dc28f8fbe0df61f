"""What conditioning leaves, against linear algebra; risks in their two forms."""

import math

import numpy as np
import pytest

from sharp_attention.tasks.single_location import Overlaps
from sharp_attention.theory.single_location.heads import (
    Head,
    Moments,
    ReadOut,
    best_read_out,
    risk,
)

OVERLAPS = Overlaps(0.6, 1.1, 0.5, 0.9, m_kv=-0.3, m_vk=0.2, q_kv=0.35)
HEAD = Head(2.0, 3, *OVERLAPS.values())


def conditioned(known):
    """Covariance of (z*, z) given the known scores, and the regression on them."""
    gram = OVERLAPS.gram()  # of (chi*, z*, chi, z)
    values = [1, 3]
    slopes = np.linalg.solve(gram[np.ix_(known, known)], gram[np.ix_(known, values)])
    return gram[np.ix_(values, values)] - gram[np.ix_(values, known)] @ slopes, slopes


def test_conditioning_on_the_head_s_score():
    covariance, slopes = conditioned([2])
    read_out = ReadOut.in_spiked(HEAD)
    assert read_out.target_variance == pytest.approx(covariance[0, 0])
    assert read_out.value_variance == pytest.approx(covariance[1, 1])
    assert read_out.covariance == pytest.approx(covariance[0, 1])
    # Slopes per unit of score; the head's are per standard deviation.
    assert read_out.target_slope / HEAD.slope == pytest.approx(slopes[0, 0])
    assert read_out.value_slope / HEAD.slope == pytest.approx(slopes[0, 1])


def test_conditioning_on_both_scores():
    covariance, slopes = conditioned([0, 2])
    read_out = ReadOut.in_max(HEAD)
    assert read_out.target_variance == pytest.approx(covariance[0, 0])
    assert read_out.value_variance == pytest.approx(covariance[1, 1])
    assert read_out.covariance == pytest.approx(covariance[0, 1])
    # chi = m_k chi* + stray g, so that F = lean chi* + w g.
    w = read_out.value_slope
    assert w / HEAD.stray == pytest.approx(slopes[1, 1])
    lean = slopes[0, 1] + slopes[1, 1] * HEAD.m_k
    assert read_out.lean == pytest.approx(lean)


def test_keys_that_say_nothing_more():
    zero = Head(2.0, 3, 0.0, 0.0, 0.5, 0.9)
    assert ReadOut.in_spiked(zero) == ReadOut.on_manifold(zero)
    parallel = Head(2.0, 3, 0.7, 0.49, 0.5, 0.9)
    assert ReadOut.in_max(parallel) == ReadOut.on_manifold(parallel)
    assert parallel.stray == 0
    assert parallel.drift == pytest.approx(math.sqrt(2.0))


def make_moments(kept, squares, crossed=0.0):
    values = (kept, 1 - kept, squares, 1 - 2 * kept + squares, crossed)
    return Moments(*(np.array(x) for x in values))


@pytest.mark.parametrize("kept", [0.2, 0.499, 0.501, 0.9])
def test_both_forms_of_the_risk(kept):
    moments = make_moments(kept, 0.85, 0.1)
    target, value, covariance = 0.9, 0.8, 0.4
    read_out = ReadOut(0.3, target, 0.2, value, 0.1, covariance)
    expected = target - 2 * covariance * kept + value * 0.85 + 0.1
    assert risk(moments, read_out) == pytest.approx(expected, rel=1e-13)


def test_tiny_risks_keep_their_digits():
    lost, misplaced = 1e-30, 3e-31
    moments = Moments(*(np.array(x) for x in (1.0, lost, 1.0, misplaced, 0.0)))
    manifold = ReadOut(0.0, 1.0, 0.0, 1.0, 0.0, 1.0)
    assert risk(moments, manifold) == pytest.approx(misplaced, rel=1e-12)
    _, best = best_read_out(moments)
    assert best == pytest.approx(misplaced, rel=1e-12)


@pytest.mark.parametrize("kept", [0.3, 0.8])
def test_the_best_read_out(kept):
    moments = make_moments(kept, 0.9)
    m_v, best = best_read_out(moments)
    assert m_v == pytest.approx(kept / 0.9)

    def risk_at(m):
        return float(risk(moments, ReadOut(0.0, 1.0, 0.0, m**2, 0.0, m)))

    assert risk_at(float(m_v)) == pytest.approx(float(best))
    assert min(risk_at(float(m_v) - 0.01), risk_at(float(m_v) + 0.01)) > best


def test_completed_moments_come_from_the_smaller_part():
    raw = Moments(
        kept=np.array([0.7, 0.2]),
        lost=np.array([0.1, 0.8]),
        squares=np.array([0.5, 0.4]),
        misplaced=np.array([0.05, 1.0]),
        crossed=np.zeros(2),
    )
    done = raw.completed()
    np.testing.assert_allclose(done.kept, [0.9, 0.2])
    np.testing.assert_allclose(done.squares, [0.85, 0.4])
