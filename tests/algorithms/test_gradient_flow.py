"""Gradient descent against L-BFGS on the very same texts."""

import math

import jax
import numpy as np
import pytest

from sharp_attention.algorithms import erm, gradient_flow
from sharp_attention.tasks.single_location import SpikedSLR

TASK = SpikedSLR(1.0, 3, math.sqrt(0.1))
KEY = jax.random.key(0)
SETUP = (KEY, TASK, "softmax", 40, 4.0, 1.0, 1.0)


@pytest.mark.medium
def test_full_batches_end_at_the_minimum():
    right = erm.fit(*SETUP)
    found = gradient_flow.descend(*SETUP, num_steps=300)
    assert found.fit.is_converged
    assert found.fit.energy == pytest.approx(right.energy, rel=1e-5)
    assert found.fit.test_risk == pytest.approx(right.test_risk, abs=1e-3)


def test_stochastic_descent_lands_on_the_same_risk():
    right = erm.fit(*SETUP)
    found = gradient_flow.descend(*SETUP, batch_size=16, num_steps=4000, rate=0.3)
    assert found.fit.energy == pytest.approx(right.energy, rel=1e-2)
    assert found.fit.test_risk == pytest.approx(right.test_risk, abs=2e-2)


def test_negative_control_a_short_descent_has_not_arrived():
    right = erm.fit(*SETUP)
    found = gradient_flow.descend(*SETUP, num_steps=3, init="random")
    assert not found.fit.is_converged
    assert found.fit.status.startswith("not converged")
    assert found.fit.energy > 1.05 * right.energy
    with pytest.raises(RuntimeError, match="not converged"):
        gradient_flow.descend(*SETUP, num_steps=3, init="random", throw=True)


def test_records_begin_at_the_start_and_end_at_the_head():
    found = gradient_flow.descend(*SETUP, num_steps=50, num_records=5)
    assert found.step.tolist() == [0, 10, 20, 30, 40, 50]
    assert found.overlaps.shape == (6,)
    assert found.overlaps.m_k[0] == pytest.approx(1.0, abs=1e-6)
    assert found.overlaps.q_k[-1] == pytest.approx(found.fit.overlaps.q_k)


def test_more_records_than_steps():
    found = gradient_flow.descend(*SETUP, num_steps=2, num_records=10)
    assert found.step.tolist() == [0, 1, 2]


def test_the_end_does_not_depend_on_the_records():
    ends = [
        gradient_flow.descend(*SETUP, num_steps=20, num_records=n, batch_size=8)
        for n in (1, 7)
    ]
    one, other = (end.fit.energy for end in ends)
    assert one == pytest.approx(other, rel=1e-12)


def test_too_large_a_rate_is_an_error_that_says_so():
    with pytest.raises(RuntimeError, match="ran away before step 60; lower the rate"):
        gradient_flow.descend(*SETUP, rate=500.0, num_steps=60, num_records=1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rate": 0.0}, "rate must be > 0"),
        ({"num_steps": 0}, "num_steps must be >= 1"),
        ({"num_records": 0}, "num_records must be >= 1"),
        ({"batch_size": 0}, "batch_size must be >= 1"),
        ({"instance": -1}, "instance must be >= 0"),
        ({"tol": -1.0}, "tol must be >= 0"),
        ({"init": "cold"}, "init must be one of"),
    ],
    ids=lambda case: "-".join(case) if isinstance(case, dict) else None,
)
def test_bad_input_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        gradient_flow.descend(*SETUP, **change)


def test_results_are_double():
    found = gradient_flow.descend(*SETUP, num_steps=5)
    assert found.fit.key.dtype == np.float64
