"""Window formulas against the exact risks that they approximate."""

import math

import numpy as np
import pytest
from scipy import special

from population_reference import VALUES
from sharp_attention.tasks.single_location import Overlaps, SpikedSLR
from sharp_attention.theory.single_location import critical_window, phases, population

WINDOW = VALUES["phases"]["critical_window"]["rows"]


def bayes_risk(exponent, offset):
    root = math.sqrt(phases.critical_signal(10**exponent)) + offset
    return population.bayes_risk(SpikedSLR(root**2, 10**exponent))


@pytest.mark.parametrize("row", WINDOW, ids=lambda row: f"1e{row[0]}, h={row[1]}")
def test_reference(row):
    exponent, offset, exact, leading, corrected, elementwise, _ = row
    assert bayes_risk(exponent, offset) == pytest.approx(exact, rel=1e-8)
    assert critical_window.window_risk(offset) == pytest.approx(leading, rel=1e-12)
    found = critical_window.corrected_window_risk(offset, 10**exponent)
    assert found == pytest.approx(corrected, rel=1e-12)
    root = math.sqrt(phases.critical_signal(10**exponent)) + offset
    bound = population.elementwise_bound(SpikedSLR(root**2, 10**exponent))
    assert bound == pytest.approx(elementwise, rel=1e-8)


def test_the_correction_is_of_the_right_order():
    # h = 0: what the leading term leaves falls like 1/sqrt(nu), the corrected like
    # 1/nu up to a logarithm, so their ratio goes to zero.
    ratios = []
    for exponent in (6, 60):
        exact = bayes_risk(exponent, 0.0)
        corrected = critical_window.corrected_window_risk(0.0, 10**exponent)
        leading = critical_window.window_risk(0.0)
        ratios.append(abs(exact - corrected) / abs(exact - leading))
    assert ratios[1] < 0.4 * ratios[0] < 0.05


def test_the_window_has_the_same_width_at_all_lengths():
    widths = [bayes_risk(exponent, -1.0) - bayes_risk(exponent, 1.0)
              for exponent in (3, 60)]  # fmt: skip
    assert widths[0] == pytest.approx(widths[1], abs=0.05)
    assert widths[1] == pytest.approx(1 - 2 * special.ndtr(-1.0), abs=0.03)


@pytest.mark.parametrize(("b", "tolerance"), [(1.0, 0.05), (2.5, 0.12)])
def test_mistuned(b, tolerance):
    """At the edge the exact risk is within the next order of the formula."""
    exponent = 60
    log_length = exponent * math.log(10)
    beta = b * math.sqrt(log_length)
    for offset in (-1.0, 0.0, 1.0):
        root = math.sqrt(phases.retrieval_threshold(b) * log_length) + offset
        task = SpikedSLR(root**2, 10**exponent)
        exact = population.risk(task, "softmax", Overlaps(beta, beta**2, 1.0, 1.0))
        found = critical_window.mistuned_window_risk(
            b, root**2 / log_length, 10**exponent
        )
        assert found == pytest.approx(exact, abs=tolerance)


def test_mistuned_meets_the_limits_of_the_phases():
    huge = 10**10_000
    for b, c in ((1.0, 1.0), (1.0, 4.0), (3.0, 1.0), (3.0, 3.0)):
        found = critical_window.mistuned_window_risk(b, c, huge)
        assert found == pytest.approx(phases.limit_risk(b, c), abs=1e-12)


def test_arrays():
    h = np.array([-1.0, 0.0, 1.0])
    assert critical_window.window_risk(h) == pytest.approx(special.ndtr(-h))
    assert critical_window.corrected_window_risk(h, 1000).shape == (3,)
    assert isinstance(critical_window.window_risk(0.3), float)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: critical_window.window_risk(math.inf), "offset must be finite"),
        (lambda: critical_window.corrected_window_risk(0.0, 1), "length must be >= 2"),
        (lambda: critical_window.corrected_window_risk(-9.0, 2), "offset must be >"),
        (
            lambda: critical_window.mistuned_window_risk(0.0, 1.0, 9),
            "sharpness must be > 0",
        ),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(ValueError, match=words):
        call()
