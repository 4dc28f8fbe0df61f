"""Ridge regression on the mean token: values, equations, the solver's limit."""

import math

import numpy as np
import pytest

from finite_samples import reference
from sharp_attention.tasks.single_location import MaxSLR, SpikedSLR
from sharp_attention.theory.single_location import replica
from sharp_attention.theory.single_location.uniform_attention import uniform_attention

RIGHT = reference()["ridge_limit"]
NOISE = math.sqrt(RIGHT["noise_var"])


def test_right_values():
    """From a replica solver of other code, at an infinite ridge of the key."""
    found = uniform_attention(3, 4.0, 0.5, noise=math.sqrt(0.1))
    assert found.m_v == pytest.approx(0.688262, abs=1e-6)
    assert found.q_v == pytest.approx(0.79573, abs=1e-6)
    assert found.variance_v == pytest.approx(0.623475, abs=1e-6)
    assert found.test_risk == pytest.approx(0.906402, abs=1e-6)


@pytest.mark.parametrize("length", [1, 3, 50])
@pytest.mark.parametrize("ridge_v", [1e-3, 1.0, 30.0])
def test_the_equations_hold(length, ridge_v):
    found = uniform_attention(length, 2.0, ridge_v, 0.5)
    response = 2.0 / length / (1 + found.variance_v / length)
    assert 1 / found.variance_v == pytest.approx(ridge_v + response, rel=1e-12)
    assert found.m_v == pytest.approx(response * found.variance_v, rel=1e-12)
    assert found.m_v**2 <= found.q_v


def test_one_token_without_noise_is_learned_from_many_samples():
    found = uniform_attention(1, 50.0, 1e-8)
    assert found.test_risk == pytest.approx(0.0, abs=1e-8)
    assert found.m_v == pytest.approx(1.0, abs=1e-8)


def test_few_samples_teach_nothing():
    found = uniform_attention(3, 1e-9, 1.0, 0.5)
    assert found.test_risk == pytest.approx(1.25, abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("task", [SpikedSLR(1.0, 2, NOISE), MaxSLR(math.inf, 2, NOISE)])
def test_the_replica_solver_tends_to_it(task):
    limit = uniform_attention(2, 4.0, 0.5, NOISE)
    risks = [
        replica.solve(task, "softmax", 4.0, ridge_k, 0.5).test_risk
        for ridge_k in (10.0, 1e2, 1e5)
    ]
    gaps = np.abs(np.array(risks) - limit.test_risk)
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 1e-3


@pytest.mark.slow
def test_the_replica_solver_at_the_right_values():
    task = SpikedSLR(1.0, RIGHT["L"], NOISE)
    found = replica.solve(
        task, "softmax", RIGHT["alpha"], 1e5, RIGHT["r_v"], num_points=2**14
    )
    assert found.test_risk == pytest.approx(RIGHT["test_mse"], abs=1e-3)
    assert found.overlaps.m_v == pytest.approx(RIGHT["m_v"], abs=1e-3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 1.0, 1.0, 0.0), "length must be >= 1"),
        ((2, 0.0, 1.0, 0.0), "sample_ratio must be > 0"),
        ((2, 1.0, 0.0, 0.0), "ridge_v must be > 0"),
        ((2, 1.0, 1.0, -1.0), "noise must be >= 0"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        uniform_attention(*arguments)
