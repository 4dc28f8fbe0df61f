"""The solver on its way to the closed limit of a large key ridge."""

import math

import numpy as np
import pytest

from finite_samples import reference
from sharp_attention.tasks.single_location import MaxSLR, SpikedSLR
from sharp_attention.theory.single_location import replica
from sharp_attention.theory.single_location.uniform_attention import uniform_attention

RIGHT = reference()["ridge_limit"]
NOISE = math.sqrt(RIGHT["noise_var"])


@pytest.mark.parametrize("task", [SpikedSLR(1.0, 2, NOISE), MaxSLR(math.inf, 2, NOISE)])
def test_the_solver_tends_to_it(task):
    limit = uniform_attention(2, 4.0, 0.5, NOISE)
    risks = [
        replica.solve(task, "softmax", 4.0, ridge_k, 0.5).test_risk
        for ridge_k in (10.0, 1e2, 1e5)
    ]
    gaps = np.abs(np.array(risks) - limit.test_risk)
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 1e-3


@pytest.mark.slow
def test_the_solver_at_the_right_values():
    task = SpikedSLR(1.0, RIGHT["L"], NOISE)
    found = replica.solve(
        task, "softmax", RIGHT["alpha"], 1e5, RIGHT["r_v"], num_points=2**14
    )
    assert found.test_risk == pytest.approx(RIGHT["test_mse"], abs=1e-3)
    assert found.overlaps.m_v == pytest.approx(RIGHT["m_v"], abs=1e-3)
