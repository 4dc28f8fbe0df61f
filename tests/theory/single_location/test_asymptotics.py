"""Expansions against the exact risks that they expand."""

import math

import numpy as np
import pytest

from population_reference import VALUES
from sharp_attention.tasks.single_location import MaxSLR, SpikedSLR
from sharp_attention.theory.single_location import asymptotics, population

ROWS = VALUES["softmax_asymptotics"]["rows"]
CONSTANTS = VALUES["constants"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"L={row[0]}, nu={row[1]}")
def test_reference(row):
    length, signal, risk, leading, next_order, _, element = row
    exact = population.bayes_risk(SpikedSLR(signal, length))
    assert exact == pytest.approx(risk, rel=1e-6)
    one = asymptotics.softmax_tail(signal, length, num_terms=1)
    assert risk / one == pytest.approx(leading, rel=1e-8)
    two = asymptotics.softmax_tail(signal, length)
    assert risk / two == pytest.approx(next_order, rel=1e-8)
    bound = population.elementwise_bound(SpikedSLR(signal, length))
    tail = asymptotics.elementwise_tail(signal, length)
    # At a signal of 400 the file is off by 1.5e-5: the next test decides.
    assert bound / tail == pytest.approx(element, rel=2e-5 if signal == 400 else 1e-6)


@pytest.mark.parametrize("signal", [1.0, 20.0, 400.0])
def test_of_two_tokens_normalisation_is_worth_half_the_signal(signal):
    bound = population.elementwise_bound(SpikedSLR(signal, 2))
    bayes = population.bayes_risk(SpikedSLR(signal / 2, 2))
    assert bound == pytest.approx(bayes, rel=1e-10)
    element = asymptotics.elementwise_tail(signal, 2)
    softmax = asymptotics.softmax_tail(signal / 2, 2, num_terms=1)
    assert element == pytest.approx(softmax, rel=1e-14)


@pytest.mark.parametrize("length", [2, 3, 10])
def test_orders_of_the_softmax_tail(length):
    """What one term leaves falls like 1/nu, what two leave like 1/nu^2."""
    errors = {1: [], 2: []}
    for signal in (200.0, 400.0):
        exact = population.bayes_risk(SpikedSLR(signal, length))
        for terms, found in errors.items():
            tail = asymptotics.softmax_tail(signal, length, num_terms=terms)
            found.append(abs(exact / tail - 1))
    for terms, (near, far) in errors.items():
        assert math.log2(near / far) == pytest.approx(terms, abs=0.1)


@pytest.mark.parametrize("length", [2, 3, 10, 1000])
def test_linear_tail(length):
    signal = 1e6 * length
    exact = population.minimise(SpikedSLR(signal, length), "linear").risk
    assert asymptotics.linear_tail(signal, length) == pytest.approx(exact, rel=1e-10)
    # The constant is L, neither L / (L - 1) nor L - 1.
    assert signal * exact == pytest.approx(length, rel=2e-6)


def test_normalised_softplus_falls_like_one_over_the_signal():
    kappa, slope = asymptotics.softplus_constant()
    right = CONSTANTS["J_softplus"]
    assert kappa == pytest.approx(right["value"], rel=1e-10)
    assert slope == pytest.approx(right["m"], abs=1e-4)
    assert kappa < right["relu"]


def test_erf_is_nearly_the_best_function_of_a_token():
    ratio, slope = asymptotics.erf_constant()
    right = CONSTANTS["J_erf"]
    assert ratio * math.pi == pytest.approx(right["value"], rel=1e-10)
    assert slope == pytest.approx(right["argmin_slope"], abs=1e-5)


def test_erf_in_long_max_texts():
    risk, slope = asymptotics.erf_max_limit()
    right = CONSTANTS["erf_max_inf_Linf"]
    assert risk == pytest.approx(right["risk"], rel=1e-10)
    assert slope == pytest.approx(right["slope"], abs=1e-5)
    # The bound for any function of one token tends to one half from above.
    bounds = [population.elementwise_bound(MaxSLR(math.inf, n)) for n in (10, 1000)]
    assert bounds == pytest.approx([n / (2 * n + 1) for n in (9, 999)], rel=1e-9)
    assert np.all(np.array(bounds) < risk)


@pytest.mark.parametrize("name", ["softmax_tail", "elementwise_tail", "linear_tail"])
def test_bad_input(name):
    function = getattr(asymptotics, name)
    with pytest.raises(ValueError, match="signal must be > 0; received 0"):
        function(0, 2)
    with pytest.raises(ValueError, match="length must be >= 2; received 1"):
        function(1.0, 1)
