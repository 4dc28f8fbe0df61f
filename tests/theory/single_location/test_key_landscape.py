"""The landscape of keys against minima that are known otherwise."""

import math

import numpy as np
import pytest

from sharp_attention.tasks.single_location import MaxSLR, Overlaps, SpikedSLR
from sharp_attention.theory.single_location import basins, key_landscape, population

TASK = SpikedSLR(10.0, 2, 0.3)
TASKS = [TASK, MaxSLR(2.0, 3)]
ACTIVATIONS = ["softmax", "softplus", "erf", "linear"]


@pytest.mark.medium
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("task", TASKS, ids=["spiked", "max"])
def test_the_best_value_has_the_least_risk_and_others_have_more(task, activation):
    m_k, m_kv = 0.7, -0.4
    least = key_landscape.least_risk(task, activation, m_k, m_kv)
    best = key_landscape.best_value(task, activation, m_k, m_kv)
    turns = np.array([(0, 0), (0.1, 0), (0, 0.1), (-0.1, 0.1)])
    m_vk, m_v = (best + turns).T
    heads = Overlaps(
        m_k,
        m_k**2 + m_kv**2,
        m_v,
        m_v**2 + m_vk**2,
        m_kv,
        m_vk,
        m_k * m_vk + m_kv * m_v,
    )
    risks = population.risk(task, activation, heads)
    assert risks[0] == pytest.approx(float(least), abs=1e-11)
    assert (risks[1:] > risks[0]).all()


@pytest.mark.parametrize("activation", ["softmax", "linear", "erf"])
def test_the_lowest_point_on_the_first_axis_is_the_best_head(activation):
    best = population.minimise(TASK, activation)
    m_k = best.overlaps.m_k * np.array([0.9, 1.0, 1.1])
    risks = key_landscape.least_risk(TASK, activation, m_k, 0.0, **best.parameters)
    assert risks[1] == pytest.approx(best.risk, abs=1e-10)
    assert risks[0] > risks[1] < risks[2]


def test_the_value_of_a_key_on_the_manifold_is_on_the_manifold():
    m_vk, m_v = key_landscape.best_value(TASK, "softmax", math.sqrt(10.0), 0.0)
    assert m_vk == pytest.approx(0.0, abs=1e-10)
    assert m_v == pytest.approx(1.0, abs=1e-10)


def test_far_along_the_second_axis_lies_the_valley_of_linear_attention():
    quiet, stretches = SpikedSLR(10.0, 2), np.array([3.0, 30.0, 300.0])
    found = key_landscape.least_risk(quiet, "linear", 0.0, stretches)
    # There the value has no part along v*: with one it can only be better.
    assert (found <= basins.linear_valley(quiet, stretches) + 1e-9).all()
    assert found[-1] == pytest.approx(basins.linear_valley_limit(10.0, 2), rel=1e-3)


def test_a_reflection_changes_nothing_and_shapes_broadcast():
    m_k, m_kv = np.array([[0.2], [1.0]]), np.array([0.5, 2.0, 3.0])
    here = key_landscape.least_risk(TASK, "softplus", m_k, m_kv)
    there = key_landscape.least_risk(TASK, "softplus", m_k, -m_kv)
    assert here.shape == (2, 3)
    np.testing.assert_allclose(here, there, atol=1e-11)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("linear", math.nan, 0.0), "m_k must be a number"),
        (("linear", 0.0, math.inf), "m_kv must be finite"),
        (("relu", 0.0, 0.0), "activation must be one of"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        key_landscape.least_risk(TASK, *arguments)
