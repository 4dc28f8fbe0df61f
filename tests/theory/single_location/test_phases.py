"""Phases of long texts: what the boundaries must satisfy, and the exact risks."""

import math

import numpy as np
import pytest
from scipy import special

from population_reference import VALUES
from sharp_attention.attention.entropy import entropy
from sharp_attention.tasks.single_location import Overlaps, SpikedSLR
from sharp_attention.theory.single_location import (
    adaptive_heads,
    critical_window,
    decay,
    max_phases,
    phases,
    population,
    size_generalisation,
)

EDGE = math.sqrt(2)
DIAGRAM = VALUES["phases"]["phase_diagram_spiked"]["rows"]
NAMES = {"paramagnetic": "dispersed"}


def softmax_risk(b, c, exponent):
    """Exact risk at v = v* on the scale of log L, at 10**exponent tokens."""
    log_length = exponent * math.log(10)
    beta = b * math.sqrt(log_length)
    task = SpikedSLR(c * log_length, 10**exponent)
    return population.risk(task, "softmax", Overlaps(beta, beta**2, 1.0, 1.0))


def test_phases_is_the_door_to_the_modules_on_many_tokens():
    for module in (
        adaptive_heads, critical_window, decay, max_phases, size_generalisation
    ):  # fmt: skip
        offered = set(module.__all__)
        assert offered <= set(phases.__all__)
        assert all(getattr(phases, name) is getattr(module, name) for name in offered)


@pytest.mark.parametrize("length", [1, 2, 1000, 10**60])
def test_critical_signal(length):
    assert phases.critical_signal(length) == 2 * math.log(length)


class TestThreshold:
    @pytest.mark.parametrize("b", [0.3, 0.7, 1.0, 1.3])
    def test_needle_and_crowd_have_the_same_weight_there(self, b):
        c = phases.retrieval_threshold(b)
        assert b * math.sqrt(c) == pytest.approx(1 + b**2 / 2, rel=1e-14)

    def test_is_least_and_flat_in_the_glass(self):
        assert phases.retrieval_threshold(EDGE) == 2
        assert phases.retrieval_threshold(7.0) == 2
        b = np.linspace(0.1, EDGE, 50)
        assert (np.diff([phases.retrieval_threshold(x) for x in b]) < 0).all()

    @pytest.mark.parametrize("b", [0.0, 5e-324, 1e-200])
    def test_no_signal_is_enough_for_equal_weights(self, b):
        assert phases.retrieval_threshold(b) == math.inf
        assert phases.phase(b, 1e308) == "dispersed"

    def test_the_optimal_line_passes_through_the_triple_point(self):
        # b = sqrt(c) is optimal; it crosses the boundary at c = 2 only.
        for c in (0.5, 1.0, 1.9):
            assert phases.phase(math.sqrt(c), c) == "dispersed"
        for c in (2.1, 4.0, 9.0):
            assert phases.phase(math.sqrt(c), c) == "retrieval"


@pytest.mark.parametrize(
    ("b", "c", "name", "fixed"), [row[:4] for row in DIAGRAM], ids=str
)
def test_reference_phases(b, c, name, fixed):
    assert phases.phase(b, c) == NAMES.get(name, name)
    assert phases.limit_risk(b, c) == pytest.approx(fixed, abs=1e-12)
    best = 0.0 if name == "retrieval" else 1.0
    assert phases.limit_risk(b, c, read_out="best") == best


@pytest.mark.parametrize(("b", "c"), [row[:2] for row in DIAGRAM[:5]], ids=str)
def test_exact_risks_tend_to_the_limits(b, c):
    near, far = softmax_risk(b, c, 6), softmax_risk(b, c, 40)
    limit = phases.limit_risk(b, c)
    assert abs(far - limit) < abs(near - limit)
    row = next(row for row in DIAGRAM if row[:2] == [b, c])
    right = {exponent: risk for exponent, risk, _ in row[4]}
    assert near == pytest.approx(right[6], rel=1e-8)
    assert far == pytest.approx(right[40], rel=1e-8)


def test_the_glass_is_worse_than_silence_and_approached_slowly():
    risks = [softmax_risk(2.0, 1.0, exponent) for exponent in (6, 30, 100)]
    assert risks == pytest.approx([1.183, 1.313, 1.300], abs=6e-4)
    assert phases.limit_risk(2.0, 1.0) == pytest.approx(2 - EDGE / 2)


class TestFrozen:
    def test_participation(self):
        assert phases.frozen_participation(1.0) == 0
        assert phases.frozen_participation(2 * EDGE) == pytest.approx(0.5)

    def test_weights_of_a_poisson_process(self):
        # Scores -log(arrival times) / x, which have the density x e^{-x t}.
        rng = np.random.default_rng(0)
        b, num_rows = 3.0, 4_000
        arrivals = np.cumsum(rng.exponential(size=(num_rows, 2_000)), axis=1)
        logits = -np.log(arrivals) * b / EDGE
        weights = special.softmax(logits, axis=1)
        squares = np.sum(weights**2, axis=1)
        nats = np.asarray(entropy(logits), np.float64)
        for sample, right in (
            (squares, phases.frozen_participation(b)),
            (nats, phases.frozen_entropy(b)),
        ):
            error = sample.std() / math.sqrt(num_rows)
            # Arrivals beyond 2,000 hold 2,000^(1 - b/sqrt 2) = 2e-4 of the weight.
            assert abs(sample.mean() - right) < 5 * error + 3e-3

    def test_entropy_diverges_at_the_edge(self):
        assert phases.frozen_entropy(EDGE + 1e-6) > 1e5
        with pytest.raises(ValueError, match="sharpness must be > 1"):
            phases.frozen_entropy(EDGE / 2)


class TestCapacity:
    def test_is_where_the_phase_changes(self):
        # At log L = capacity the point (b, c) lies on the boundary.
        for signal, beta in ((10.0, 2.0), (9.0, 1.5)):
            log_length = phases.log_capacity(signal, beta)
            b = beta / math.sqrt(log_length)
            c = signal / log_length
            assert phases.retrieval_threshold(b) == pytest.approx(c, rel=1e-13)

    def test_is_largest_at_the_bayes_sharpness(self):
        assert phases.log_capacity(10.0) == pytest.approx(5.0)
        assert phases.log_capacity(10.0, math.sqrt(10.0)) == pytest.approx(5.0)
        assert phases.log_capacity(10.0, 3.0) < 5.0
        assert phases.critical_signal(10**30) == pytest.approx(
            2 * 30 * math.log(10), rel=1e-15
        )


@pytest.mark.parametrize(
    ("function", "arguments", "words"),
    [
        ("critical_signal", (0,), "length must be >= 1; received 0"),
        ("retrieval_threshold", (-1.0,), "sharpness must be >= 0"),
        ("phase", (1.0, -1.0), "signal must be >= 0"),
        ("limit_risk", (1.0, 1.0, "free"), "read_out must be one of 'fixed', 'best'"),
        ("frozen_participation", (math.nan,), "sharpness must be a number"),
        ("log_capacity", (-1.0,), "signal must be >= 0"),
    ],
)
def test_bad_input(function, arguments, words):
    with pytest.raises(ValueError, match=words):
        getattr(phases, function)(*arguments)
