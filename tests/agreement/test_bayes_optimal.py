"""Message passing on texts against state evolution, and both against the file.

At dimension D the mean over instances deviates from the limit by its standard error
and by a finite-size term. Over 64 instances at D = 100 and 32 at D = 400 the term was
not seen: it is below 1 / D for the test risk and 2 / D for overlaps, and 2 / D is
allowed for. One instance fluctuates by about 0.7 / sqrt(D) in an overlap (0.3 to 0.8 in
the nine cases, the same at both dimensions).

The standard error of four instances is itself uncertain by a factor of two, up or
down: one set of four can lie 9 of its own standard errors off. So the error is taken
from 16 smaller instances, scaled by 1 / sqrt(D), where these fluctuate more.
"""

import functools
import math

import jax
import numpy as np
import pytest

from bayes_reference import bayes_id, bayes_rows, bayes_task
from sharp_attention.algorithms import amp
from sharp_attention.tasks.single_location import MaxSLR, SpikedSLR
from sharp_attention.theory.single_location import state_evolution

NOISE = math.sqrt(0.1)
TASKS = [SpikedSLR(1.0, 3, NOISE), SpikedSLR(2.0, 3, NOISE), MaxSLR(math.inf, 3, NOISE)]
SMALL, MANY = 100, 16


def measured(found: amp.AmpFit) -> dict[str, np.ndarray]:
    """Overlaps, risk, and the two Nishimori identities k.k* = k.k, v.v* = v.v."""
    overlaps = found.overlaps
    return {
        "m_k": np.asarray(overlaps.m_k),
        "q_k": np.asarray(overlaps.q_k),
        "m_v": np.asarray(overlaps.m_v),
        "q_v": np.asarray(overlaps.q_v),
        "test risk": np.asarray(found.test_risk),
        "m_k - q_k": np.asarray(overlaps.m_k) - np.asarray(overlaps.q_k),
        "m_v - q_v": np.asarray(overlaps.m_v) - np.asarray(overlaps.q_v),
    }


def predicted(task, ratio: float) -> dict[str, float]:
    found = state_evolution.solve(task, ratio, init="uninformed", num_points=2**14)
    q_k, q_v = found.overlaps.q_k, found.overlaps.q_v
    risk = found.test_risk
    overlaps = {"m_k": q_k, "q_k": q_k, "m_v": q_v, "q_v": q_v}
    return overlaps | {"test risk": risk, "m_k - q_k": 0.0, "m_v - q_v": 0.0}


@functools.cache
def run(task, ratio: float, dim: int, num_instances: int) -> amp.AmpFit:
    key = jax.random.key(1)
    return amp.fit(key, task, dim, ratio, num_instances=num_instances)


def deviations(task, ratio: float, dim: int, num_instances: int) -> dict[str, float]:
    """Deviation of the mean from the theory in units of what is allowed."""
    here = measured(run(task, ratio, dim, num_instances))
    small = measured(run(task, ratio, SMALL, MANY))
    theory = predicted(task, ratio)
    found = {}
    for name, values in here.items():
        scaled = np.std(small[name], ddof=1) * math.sqrt(SMALL / dim)
        error = max(np.std(values, ddof=1), scaled) / math.sqrt(num_instances)
        allowed = 5 * error + 2 / dim
        found[name] = abs(values.mean() - theory[name]) / allowed
    return found


@pytest.mark.slow
@pytest.mark.parametrize("ratio", [1.0, 2.0, 4.0])
@pytest.mark.parametrize("task", TASKS, ids=str)
def test_message_passing_attains_state_evolution(task, ratio):
    assert np.all(run(task, ratio, 800, 4).is_converged)
    found = deviations(task, ratio, 800, 4)
    assert max(found.values()) < 1, found


@pytest.mark.slow
def test_a_small_case():
    found = deviations(SpikedSLR(2.0, 2, NOISE), 4.0, SMALL, MANY)
    assert max(found.values()) < 1, found


@pytest.mark.medium
def test_negative_control_another_sample_ratio_is_told_apart():
    task = SpikedSLR(2.0, 2, NOISE)
    risks = measured(run(task, 4.0, SMALL, MANY))["test risk"]
    other = predicted(task, 2.5)["test risk"]
    allowed = 5 * np.std(risks, ddof=1) / math.sqrt(MANY) + 2 / SMALL
    assert abs(risks.mean() - other) > allowed


@pytest.mark.slow
@pytest.mark.parametrize("row", bayes_rows("amp"), ids=bayes_id)
def test_messages_on_file(row):
    """Another implementation's four instances, with the error that ours have."""
    task, ratio, dim = bayes_task(row), row["sample_ratio"], row["dim"]
    small = measured(run(task, ratio, SMALL, MANY))
    theory = predicted(task, ratio)
    names = {"m_k": "m_k", "m_v": "m_v", "q_k": "q_k", "q_v": "q_v"}
    for name, column in (names | {"test risk": "test_mse"}).items():
        values = np.asarray(row[column])
        scaled = np.std(small[name], ddof=1) * math.sqrt(SMALL / dim)
        error = max(np.std(values, ddof=1), scaled) / math.sqrt(len(values))
        assert abs(values.mean() - theory[name]) < 5 * error + 2 / dim, name
