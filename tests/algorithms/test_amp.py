"""Message passing: the two traps, batches, Nishimori, statuses and bad input."""

import functools
import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sharp_attention.algorithms import amp, erm
from sharp_attention.channels.position_laws import SpikedLaw
from sharp_attention.tasks.single_location import MaxSLR, SpikedSLR

NOISE = math.sqrt(0.1)
SPIKED = SpikedSLR(2.0, 2, NOISE)
MAX = MaxSLR(math.inf, 2, NOISE)
KEY = jax.random.key(4)

# One size for all, so that each task is compiled once.
DIM, RATIO = 64, 3.0


@functools.cache
def passed(task=SPIKED, **settings) -> amp.AmpFit:
    return amp.fit(KEY, task, DIM, RATIO, **settings)


@pytest.mark.parametrize("task", [SPIKED, MAX], ids=["spiked", "max"])
def test_it_finds_the_teachers(task):
    found = passed(task)
    assert found.is_converged
    assert found.overlaps.m_k > 0.4
    assert found.overlaps.m_v > 0.6
    assert found.key.shape == (1, DIM)


@pytest.mark.medium
def test_the_instances_are_those_of_risk_minimisation():
    """The same random key and number: the Bayes-optimal reader is the better one."""
    trained = erm.fit(KEY, SPIKED, "softmax", DIM, RATIO, 1.0, 1.0)
    assert passed().test_risk < trained.test_risk
    cosine = trained.value[0] @ passed().value[0]
    lengths = np.linalg.norm(trained.value[0]) * np.linalg.norm(passed().value[0])
    assert cosine / lengths > 0.8


@dataclass(frozen=True)
class _NaiveLaw(SpikedLaw):
    """Takes the squared output functions for their derivative."""

    def tilt(self, signal):
        return jnp.zeros_like(signal)


def test_trap_one_naive_onsager_term(monkeypatch):
    with monkeypatch.context() as broken:
        broken.setattr(amp, "position_law", lambda task, length: _NaiveLaw(length))
        naive = amp.fit(KEY, SPIKED, DIM, RATIO, max_steps=100)
    # The true key has the squared length 1.
    assert not naive.is_converged or naive.overlaps.q_k > 2
    assert passed().overlaps.q_k < 1.2


def test_trap_two_no_damping():
    task = SpikedSLR(4.0, 2, NOISE)
    free = amp.fit(KEY, task, DIM, RATIO, damping=0.0, max_steps=100)
    damped = amp.fit(KEY, task, DIM, RATIO)
    assert not free.is_converged
    assert free.status.startswith("not converged: 0 of 1 instances")
    assert damped.is_converged
    assert abs(damped.overlaps.m_vk) < 4 / math.sqrt(DIM)
    # It goes round in a cycle, whose overlap with k* changes its sign.
    assert free.residual > 0.05


def test_damping_does_not_move_the_fixed_point():
    one, other = passed(tol=1e-5), passed(damping=0.7, tol=1e-5)
    assert one.is_converged
    assert other.is_converged
    np.testing.assert_allclose(one.key, other.key, atol=1e-3)
    np.testing.assert_allclose(one.value, other.value, atol=1e-3)


@pytest.mark.slow
def test_double_precision_texts_reach_a_smaller_residual():
    found = passed(dtype="float64")
    assert found.is_converged
    assert found.residual < 1e-9


@pytest.mark.slow
def test_batches_change_nothing():
    together = passed(num_instances=3, batch_size=2)
    alone = passed(num_instances=3)
    np.testing.assert_allclose(together.test_risk, alone.test_risk, atol=1e-4)
    third = passed(first_instance=2)
    np.testing.assert_allclose(third.test_risk, alone.test_risk[2], atol=1e-4)
    assert together.overlaps.shape == (3,)


def test_informed_start_ends_at_the_same_place():
    found = passed(init="informed")
    assert found.is_converged
    np.testing.assert_allclose(found.value, passed().value, atol=1e-3)


def test_statuses():
    stopped = passed(max_steps=2)
    assert not stopped.is_converged
    assert stopped.num_steps == 2
    assert stopped.status.startswith("not converged: 0 of 1 instances")
    with pytest.raises(RuntimeError, match="message passing: not converged"):
        passed(max_steps=2, throw=True)


def test_bad_input():
    with pytest.raises(ValueError, match="damping must be at least 0 and below 1"):
        passed(damping=1.0)
    with pytest.raises(ValueError, match="init must be one of"):
        passed(init="random")
    with pytest.raises(ValueError, match="num_instances must be >= 1"):
        passed(num_instances=0)
    with pytest.raises(ValueError, match="tol must be >= 0"):
        passed(tol=-1.0)
    with pytest.raises(ValueError, match="dtype must be one of"):
        passed(dtype="float16")
    with pytest.raises(ValueError, match="lengths must be fixed"):
        amp.fit(KEY, SpikedSLR(1.0, {2: 0.5, 3: 0.5}), DIM, RATIO)
    with pytest.raises(ValueError, match="signal must be infinite in the max task"):
        amp.fit(KEY, MaxSLR(2.0, 2), DIM, RATIO)
    with pytest.raises(ValueError, match="sample_ratio must be > 0"):
        amp.fit(KEY, SPIKED, DIM, 0.0)
    with pytest.raises(ValueError, match="dim must be >= 2"):
        amp.fit(KEY, SPIKED, 1, RATIO)
