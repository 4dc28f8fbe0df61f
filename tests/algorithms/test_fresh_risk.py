"""The risk from overlaps against closed forms and against actual fresh texts."""

import math

import jax
import numpy as np
import pytest
from scipy import special

from sharp_attention.algorithms.fresh_risk import fresh_risk
from sharp_attention.tasks.single_location import (
    MaxSLR,
    Overlaps,
    SpikedSLR,
    measure_overlaps,
    sample,
)

OFF = Overlaps(0.7, 1.4, 0.6, 0.9, 0.2, -0.15, 0.1)
TASKS = {
    "spiked": SpikedSLR(2.0, 3, 0.3),
    "max": MaxSLR(math.inf, 3, 0.3),
    "soft-max": MaxSLR(1.5, 3, 0.3),
    "random-length": SpikedSLR(1.0, {2: 0.4, 4: 0.6}, 0.3),
}
WEIGHTS = {
    "softmax": lambda x: special.softmax(x, axis=-1),
    "linear": lambda x: 1 + x,
    "erf": lambda x: 1 + special.erf(x),
    "softplus": lambda x: (
        np.logaddexp(0, x) / np.logaddexp(0, x).sum(axis=-1, keepdims=True)
    ),
}


def linear_spiked(signal, length, noise, o):
    """Closed form of linear attention in the spiked task, off the manifold."""
    h, mean = 1 + math.sqrt(signal) * o.m_k, math.sqrt(signal) * o.m_vk
    w, q, p = o.q_kv, o.q_k, o.q_v
    return (
        1
        - 2 * (h * o.m_v + mean * o.m_kv)
        + h**2 * p
        + mean**2 * q
        + 2 * h * mean * w
        + q * p
        + w**2
        + (length - 1) * (p * (1 + q) + w**2)
        + (h * mean + length * w) ** 2
        + noise**2
    )


@pytest.mark.parametrize("overlaps", [OFF, Overlaps(0.7, 1.4, 0.6, 0.9)])
def test_linear_attention_in_closed_form(overlaps):
    found = fresh_risk(TASKS["spiked"], "linear", overlaps)
    expected = linear_spiked(2.0, 3, 0.3, overlaps)
    assert found == pytest.approx(expected, abs=5e-4)  # 2^15 Sobol points


@pytest.mark.medium
@pytest.mark.parametrize("activation", WEIGHTS)
@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_fresh_texts(activation, task):
    # A head at D = 8 has overlaps off the manifold; 40,000 texts, five standard errors.
    dim = 8
    samples = sample(jax.random.key(3), task, dim, 40_000)
    rng = np.random.default_rng(4)
    teachers = [np.asarray(x, float) for x in (samples.key, samples.value)]
    key, value = (0.7 * t + 0.4 * rng.normal(size=dim) for t in teachers)
    tokens = np.asarray(samples.tokens, float)
    logits, outputs = (tokens @ x / math.sqrt(dim) for x in (key, value))
    mask = np.asarray(samples.mask)
    if activation in ("softmax", "softplus"):
        logits = np.where(mask, logits, -np.inf)
    weights = np.where(mask, WEIGHTS[activation](logits), 0.0)
    squared = (np.asarray(samples.target) - np.sum(weights * outputs, axis=-1)) ** 2
    error = squared.std() / math.sqrt(squared.size)
    found = fresh_risk(task, activation, measure_overlaps(key, value, *teachers))
    assert abs(squared.mean() - found) < 5 * error


def test_a_head_that_ignores_everything_costs_one_plus_noise():
    nothing = Overlaps(0.0, 0.0, 0.0, 0.0)
    assert fresh_risk(TASKS["max"], "softmax", nothing) == pytest.approx(1.09)


def test_a_key_exactly_along_the_teacher():
    # Then the fields of k and k* have one direction only.
    found = fresh_risk(TASKS["spiked"], "softmax", Overlaps(1.0, 1.0, 1.0, 1.0))
    near = fresh_risk(TASKS["spiked"], "softmax", Overlaps(1.0, 1.0 + 1e-6, 1.0, 1.0))
    assert found == pytest.approx(near, abs=1e-4)


def test_offset_reaches_erf():
    off = fresh_risk(TASKS["spiked"], "erf", Overlaps(0.1, 0.1, 0.5, 0.5), offset=-6.0)
    assert off == pytest.approx(1.09, abs=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"overlaps": Overlaps([0.1, 0.2], 1.0, 0.1, 1.0)}, "those of one head"),
        ({"overlaps": Overlaps(np.inf, np.inf, 0.1, 1.0)}, "must be finite"),
        ({"activation": "relu"}, "activation must be one of"),
        ({"num_points": 0}, "num_points must be >= 1"),
    ],
)
def test_bad_input_is_named(change, message):
    arguments = {"task": TASKS["max"], "activation": "softmax", "overlaps": OFF}
    with pytest.raises(ValueError, match=message):
        fresh_risk(**{**arguments, **change})
