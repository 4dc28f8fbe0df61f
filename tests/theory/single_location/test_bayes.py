"""The Bayes risk against right values, closed forms and Stein's identity."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import special, stats

from population_reference import CELLS, VALUES, is_right
from sharp_attention.tasks.single_location import MaxSLR, Overlaps, SpikedSLR
from sharp_attention.theory.single_location import bayes, population

ASYMPTOTICS = [row[:3] for row in VALUES["softmax_asymptotics"]["rows"]]
WINDOW = [row[:3] for row in VALUES["phases"]["critical_window"]["rows"]]


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_right_values(cell):
    assert is_right(bayes.bayes_risk(cell.task), cell.values["bayes"])


@pytest.mark.parametrize(("length", "signal", "right"), ASYMPTOTICS)
def test_small_risks_keep_their_digits(length, signal, right):
    found = bayes.bayes_risk(SpikedSLR(signal, length))
    assert found == pytest.approx(right, rel=1e-6)


@pytest.mark.parametrize(("log10_length", "h", "right"), WINDOW)
def test_the_critical_window_up_to_astronomical_lengths(log10_length, h, right):
    length = 10**log10_length
    signal = (math.sqrt(2 * math.log(length)) + h) ** 2
    found = bayes.bayes_risk(SpikedSLR(signal, length))
    assert found == pytest.approx(right, rel=1e-8)


@pytest.mark.parametrize("signal", [0.3, 4.0, 60.0])
def test_two_tokens_in_one_integral(signal):
    """E 1 / (1 + e^d) with d ~ N(nu, 2 nu), slr-population (5.4)."""
    # Equal steps: the integrand is analytic; it peaks at d = 0, not at the mean of d.
    width = math.sqrt(2 * signal)
    d, step = np.linspace(-12 * width, signal + 12 * width, 4001, retstep=True)
    density = stats.norm.pdf(d, signal, width)
    right = step * np.sum(density * special.expit(-d))
    assert bayes.bayes_risk(SpikedSLR(signal, 2)) == pytest.approx(right, rel=1e-10)


def test_nothing_known_and_nothing_to_know():
    assert bayes.bayes_risk(SpikedSLR(0.0, 7)) == pytest.approx(6 / 7, rel=1e-12)
    assert bayes.bayes_risk(MaxSLR(0.0, 7)) == pytest.approx(6 / 7, rel=1e-12)
    assert bayes.bayes_risk(SpikedSLR(3.0, 1)) == 0
    assert bayes.bayes_risk(MaxSLR(3.0, 1)) == 0
    assert bayes.bayes_risk(MaxSLR(math.inf, 10**60)) == 0


@pytest.mark.parametrize("task", [SpikedSLR(2.0, {2: 0.25, 5: 0.75}), MaxSLR(2.0, 3)])
def test_noise_and_random_lengths(task):
    each = [
        chance * bayes.bayes_risk(replace(task, lengths=length))
        for length, chance in task.length_probabilities.items()
    ]
    noisy = replace(task, noise=0.5)
    assert bayes.bayes_risk(noisy) == pytest.approx(sum(each) + 0.25, rel=1e-12)


@pytest.mark.parametrize("signal", [0.7, 5.0, 29.0, 31.0])
@pytest.mark.parametrize("length", [2, 100])
def test_stein_s_identity(signal, length):
    """mu_L = nu * risk (2.6), where the two are computed in different ways."""
    mean = bayes.mean_score(signal, length)
    risk = bayes.bayes_risk(MaxSLR(signal, length))
    assert mean == pytest.approx(signal * risk, rel=1e-10)


def test_the_mean_of_the_largest_score():
    assert bayes.mean_score(math.inf, 1) == pytest.approx(0, abs=1e-12)
    assert bayes.mean_score(math.inf, 2) == pytest.approx(1 / math.sqrt(math.pi))
    assert bayes.mean_score(math.inf, 3) == pytest.approx(1.5 / math.sqrt(math.pi))
    assert bayes.mean_score(0.0, 3) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    "task",
    [
        SpikedSLR(3.0, 4, noise=0.3),
        SpikedSLR(3.0, {1: 0.5, 4: 0.5}),
        MaxSLR(3.0, 4),
    ],
)
def test_proposition_4_2(task):
    """Softmax with the posterior's temperature attains the Bayes risk."""
    head = bayes.bayes_overlaps(task)
    assert head.m_k == bayes.inverse_temperature(task)
    right = bayes.bayes_risk(task)
    assert population.risk(task, "softmax", head) == pytest.approx(right, rel=1e-11)
    for factor in (0.8, 1.2):
        other = Overlaps(factor * head.m_k, factor**2 * head.q_k, 1.0, 1.0)
        assert population.risk(task, "softmax", other) > right + 1e-4
