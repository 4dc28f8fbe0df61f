"""Limits of the max task: identities of the agreement, and exact risks."""

import math

import numpy as np
import pytest
from scipy import special

from population_reference import VALUES
from sharp_attention.tasks.single_location import MaxSLR
from sharp_attention.theory.single_location import max_phases, population

ROWS = VALUES["phases"]["phase_diagram_max"]["rows"]
EDGE = math.sqrt(2)


class TestAgreement:
    @pytest.mark.parametrize("x", [0.01, 0.3, 0.7, 0.99])
    def test_with_itself(self, x):
        assert max_phases.max_agreement(x, x) == pytest.approx(1 - x, abs=1e-12)

    @pytest.mark.parametrize(("x", "y"), [(0.2, 0.7), (0.05, 0.5), (0.6, 0.95)])
    def test_is_symmetric_and_below_both_geometric_bounds(self, x, y):
        found = max_phases.max_agreement(x, y)
        assert max_phases.max_agreement(y, x) == found
        assert 0 < found < math.sqrt((1 - x) * (1 - y))  # Cauchy-Schwarz

    @pytest.mark.parametrize("x", [0.3, 0.8])
    def test_tends_to_that_with_the_largest(self, x):
        limit = max_phases.max_agreement(0.0, x)
        near = max_phases.max_agreement(1e-4, x)
        assert near == pytest.approx(limit, abs=1e-3)
        assert max_phases.max_agreement(x, 0.0) == limit

    def test_values_of_the_theory(self):
        found = [max_phases.max_agreement(0.0, EDGE / b) for b in (2.0, 4.0)]
        assert found == pytest.approx([0.44148, 0.74311], abs=1e-5)
        assert max_phases.max_agreement(0.0, 0.0) == 1

    def test_on_a_sampled_poisson_process(self):
        rng = np.random.default_rng(0)
        times = np.cumsum(rng.exponential(size=(4_000, 1_000)), axis=1)
        p, alpha = (special.softmax(-np.log(times) / x, axis=1) for x in (0.3, 0.6))
        sample = np.sum(p * alpha, axis=1)
        error = sample.std() / math.sqrt(len(sample))
        # Later arrivals hold about 1,000^(1 - 1/0.6) = 1e-2 of alpha, not of p alpha.
        assert abs(sample.mean() - max_phases.max_agreement(0.3, 0.6)) < (
            5 * error + 5e-3
        )


class TestLimitRisk:
    @pytest.mark.parametrize("row", ROWS, ids=lambda row: f"n={row[0]}, b={row[1]}")
    def test_reference(self, row):
        signal, sharpness, limit, _, agreement, _ = row
        found = max_phases.max_limit_risk(float(signal), float(sharpness))
        assert found == pytest.approx(limit, abs=1e-10)
        participation = max(0.0, 1 - EDGE / sharpness)
        assert found == pytest.approx(1 - 2 * agreement + participation, abs=1e-10)

    def test_kink_of_the_bayes_head(self):
        for n in (0.0, 1.0, EDGE, 2.0, 9.0, math.inf):
            bayes = max_phases.max_limit_risk(n)
            assert bayes == pytest.approx(min(1, EDGE / n) if n else 1)
            assert max_phases.max_limit_risk(n, n) == pytest.approx(bayes, abs=1e-12)

    def test_other_sharpnesses_are_worse(self):
        bayes = max_phases.max_limit_risk(3.0)
        for b in (0.5, 1.5, 2.5, 3.5, 8.0, math.inf):
            assert max_phases.max_limit_risk(3.0, b) > bayes

    def test_exact_bayes_risks_tend_to_it(self):
        for n in (1.0, 4.0):
            gaps = [
                population.bayes_risk(MaxSLR(n * math.sqrt(e * math.log(10)), 10**e))
                - max_phases.max_limit_risk(n)
                for e in (6, 60)
            ]
            assert abs(gaps[1]) < 0.5 * abs(gaps[0])


@pytest.mark.parametrize(
    ("function", "arguments", "words"),
    [
        ("max_limit_risk", (-1.0,), "signal must be >= 0"),
        ("max_limit_risk", (1.0, -1.0), "sharpness must be >= 0"),
        ("max_agreement", (1.0, 0.5), "signal_index must be < 1"),
        ("max_agreement", (0.5, 1.0), "sharpness_index must be < 1"),
        ("max_agreement", (-0.5, 0.5), "signal_index must be >= 0"),
    ],
)
def test_bad_input(function, arguments, words):
    with pytest.raises(ValueError, match=words):
        getattr(max_phases, function)(*arguments)
