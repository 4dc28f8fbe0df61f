"""What the type checker of these tests stops, and users have none, is named."""

import jax
import jaxtyping
import numpy as np
import pytest

from sharp_attention.algorithms import amp, erm, fresh_risk, gradient_flow, landscape
from sharp_attention.algorithms.left_out import leave_out
from sharp_attention.tasks.single_location import Overlaps, SpikedSLR, sample
from sharp_attention.theory.single_location import replica, state_evolution
from sharp_attention.theory.single_location.optimal_ridge import optimal_ridge

KEY, HEAD = jax.random.key(0), Overlaps(0.5, 1.0, 0.5, 1.0)
TRAINED = ("softmax", 20, 2.0, 1.0, 1.0)

CALLS = {
    "sample": lambda task: sample(KEY, task, 4, 5),
    "solve": lambda task: replica.solve(task, "softmax", 2.0, 1.0, 1.0),
    "curve": lambda task: replica.curve(task, "softmax", [2.0], 1.0, 1.0),
    "solve_batch": lambda task: replica.solve_batch(task, "softmax", 2.0, 1.0, 1.0),
    "optimal_ridge": lambda task: optimal_ridge(task, "softmax", 2.0),
    "state_evolution": lambda task: state_evolution.solve(task, 2.0),
    "erm": lambda task: erm.fit(KEY, task, *TRAINED),
    "amp": lambda task: amp.fit(KEY, task, 20, 2.0),
    "descend": lambda task: gradient_flow.descend(KEY, task, *TRAINED),
    "explore": lambda task: landscape.explore(
        KEY, task, *TRAINED, num_starts={"random": 1}
    ),
    "leave_out": lambda task: leave_out(KEY, task, *TRAINED),
    "fresh_risk": lambda task: fresh_risk.fresh_risk(task, "softmax", HEAD),
}


@pytest.fixture
def _no_type_checks():
    """Let the library speak, which is second where types are checked."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.mark.usefixtures("_no_type_checks")
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("task", [3, "spiked", None])
def test_what_is_no_task_is_named(name, task):
    with pytest.raises(TypeError, match="task must be a SpikedSLR or a MaxSLR"):
        CALLS[name](task)


@pytest.mark.usefixtures("_no_type_checks")
@pytest.mark.parametrize("place", [0, 1, 2])
def test_arrays_in_place_of_numbers_are_named(place):
    numbers = [1.0, 1.0, 1.0]
    numbers[place] = np.array([1.0, 2.0])
    name = ("sample_ratio", "ridge_k", "ridge_v")[place]
    with pytest.raises(ValueError, match=f"{name} must be one number; received array"):
        replica.solve(SpikedSLR(1.0, 2), "softmax", *numbers)
