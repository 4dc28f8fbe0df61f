"""Linear attention: closed forms against numerical minimisation and direct averages."""

import math

import numpy as np
import pytest
from scipy import optimize

from population_reference import CELLS, is_right
from sharp_attention.tasks.single_location import SpikedSLR
from sharp_attention.theory.single_location import bayes, linear
from sharp_attention.theory.single_location.heads import Head

SPIKED = [cell for cell in CELLS if isinstance(cell.task, SpikedSLR)]


def head_of(point, signal, length):
    """Overlaps of actual vectors, k in span(k*, v*, u) and v in span(all, w)."""
    k, v = np.append(point[:3], 0.0), point[3:7]
    (m_k, m_kv), (m_vk, m_v) = k[:2], v[:2]
    return Head(signal, length, m_k, k @ k, m_v, v @ v, m_kv, m_vk, k @ v)


@pytest.mark.parametrize("cell", SPIKED, ids=str)
def test_right_values(cell):
    task = cell.task
    risk, m_k, m_v = linear.best_spiked(task.signal, task.mean_length)
    overlaps, _, right = cell.head("linear")
    assert is_right(risk, right)
    assert m_k == pytest.approx(overlaps.m_k, rel=1e-9)
    assert m_v == pytest.approx(overlaps.m_v, rel=1e-9)


@pytest.mark.parametrize("length", [2, 3, 10])
def test_no_head_of_seven_overlaps_does_better(length):
    """A search from the closed form's neighbourhood returns to it (5.1)."""
    best, m_k, m_v = linear.best_spiked(3.0, length)

    def risk(point):
        return linear.risk_in_spiked(head_of(point, 3.0, length))

    rng = np.random.default_rng(length)
    start = np.array([m_k, 0, 0, 0, m_v, 0, 0]) + 0.1 * rng.normal(size=7)
    found = optimize.minimize(risk, start, method="BFGS", options={"gtol": 1e-9})
    assert found.fun == pytest.approx(best, rel=1e-8)
    at_best = np.array([m_k, 0.0, 0.0, 0.0, m_v, 0.0, 0.0])
    assert risk(at_best) == pytest.approx(best, rel=1e-13)


@pytest.mark.parametrize("signal", [1.5, math.inf])
def test_the_best_of_the_max_task(signal):
    score = bayes.mean_score(signal, 4)
    best, m_k, m_v = linear.best_max(score, 4)

    def risk(point):
        return linear.risk_in_max(head_of(point, signal, 4), score)

    rng = np.random.default_rng(0)
    start = np.array([m_k, 0, 0, 0, m_v, 0, 0]) + 0.1 * rng.normal(size=7)
    found = optimize.minimize(risk, start, method="BFGS", options={"gtol": 1e-9})
    assert found.fun == pytest.approx(best, rel=1e-8)


@pytest.mark.parametrize("length", [2, 3, 10, 1000])
def test_the_constant_of_corollary_4_3(length):
    """1 / risk = L / (L - 1) + nu / L, so that nu * risk tends to L."""
    for signal in (0.0, 2.0, 1e3):
        risk, *_ = linear.best_spiked(signal, length)
        inverse = length / (length - 1) + signal / length
        assert 1 / risk == pytest.approx(inverse, rel=1e-13)
    risk, *_ = linear.best_spiked(1e12, length)
    assert 1e12 * risk == pytest.approx(length, rel=1e-4)


def test_the_swapped_valley():
    """k along v*, v along k*: risk L / (L + nu), out at infinity (5.5)."""
    signal, length, shrink = 10.0, 2, 1e-5
    # S = m_kv m_vk is fixed by the best multiple of sigma = chi.
    best = optimize.minimize_scalar(
        lambda s: linear.risk_in_spiked(
            head_of(np.array([0, s / shrink, 0, shrink, 0, 0, 0]), signal, length)
        ),
        bounds=(0.0, 2.0),
        method="bounded",
        options={"xatol": 1e-10},
    )
    assert best.fun == pytest.approx(length / (length + signal), abs=1e-8)


def test_a_single_token_needs_no_key():
    assert linear.best_spiked(2.0, 1) == (0.0, 0.0, 1.0)
    assert linear.risk_in_spiked(Head(2.0, 1, 0.0, 0.0, 1.0, 1.0)) == 0


def test_texts_longer_than_a_float_can_count():
    length = 10**400
    manifold = Head(1.0, length, 0.5, 0.25, 0.0, 0.0)
    assert linear.risk_in_spiked(manifold) == 1
    assert linear.risk_in_spiked(manifold._replace(q_v=1.0)) == math.inf
    small = manifold._replace(q_v=1e-300)
    assert linear.risk_in_max(small._replace(length=10**299), 1.0) == pytest.approx(
        1 + 0.1 * 1.25
    )


def test_sampled_weights():
    """The closed forms against averages over sampled fields."""
    point = np.array([0.6, -0.3, 0.4, 0.2, 0.5, -0.2, 0.3])
    k, v = np.append(point[:3], 0.0), point[3:]
    signal, length, samples = 1.7, 3, 100_000
    rng = np.random.default_rng(1)
    fields = rng.normal(size=(samples, length, 4))

    def check(target, tokens, right):
        error = target - np.sum((1 + tokens @ k) * (tokens @ v), axis=1)
        squares = error**2
        standard_error = squares.std() / math.sqrt(samples)
        assert abs(squares.mean() - right) < 5 * standard_error

    position = np.argmax(fields[:, :, 0], axis=1)
    target = fields[np.arange(samples), position, 1]
    score = bayes.mean_score(math.inf, length)
    head = head_of(point, math.inf, length)
    check(target, fields, linear.risk_in_max(head, score))

    target = fields[:, 0, 1].copy()
    fields[:, 0, 0] += math.sqrt(signal)
    check(target, fields, linear.risk_in_spiked(head_of(point, signal, length)))
