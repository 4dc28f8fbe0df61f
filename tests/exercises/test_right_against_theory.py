"""Right answers of the part on single-location regression, held against the library."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sharp_attention.algorithms import objective
from sharp_attention.channels import bayes, interface
from sharp_attention.exercises import find
from sharp_attention.tasks.single_location import (
    MaxSLR,
    Overlaps,
    SpikedSLR,
    measure_overlaps,
    sample,
)
from sharp_attention.theory.single_location import phases, population

FIVE = 5
"""Standard errors that a measured mean may be off."""


@pytest.fixture
def rng():
    return np.random.default_rng(41)


def right(name):
    return find(name).right


def test_best_reader_has_the_bayes_risk():
    task = MaxSLR(3.0, {4: 0.5, 8: 0.5})
    texts = sample(jax.random.key(8), task, 16, 5_000)
    given = [np.asarray(x) for x in (texts.tokens, texts.mask, texts.key, texts.value)]
    predict = right("single-location-regression/best-reader")
    squared = (np.asarray(texts.target) - predict(*given, 3.0)) ** 2
    error = squared.std() / math.sqrt(len(squared))
    assert abs(squared.mean() - population.bayes_risk(task)) < FIVE * error


def test_overlaps_are_those_of_the_library(rng):
    vectors = rng.standard_normal((2, 12))
    teachers = np.linalg.qr(rng.standard_normal((12, 2)))[0].T * math.sqrt(12)
    o = measure_overlaps(*vectors, *teachers)
    expected = [o.m_k, o.q_k, o.m_v, o.q_v, o.m_kv, o.m_vk, o.q_kv]
    found = right("order-parameters/overlaps")(*vectors, *teachers)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_mirrored_head_has_the_opposite_output_on_mirrored_texts(rng):
    tokens = rng.standard_normal((20, 3, 6))
    k, v, teacher = rng.standard_normal((3, 6))
    unit = teacher / np.linalg.norm(teacher)
    mirrored = tokens - 2 * (tokens @ unit)[..., None] * unit
    new_k, new_v = right("order-parameters/mirror")(k, v, teacher)
    np.testing.assert_allclose(mirrored @ new_k, tokens @ k, atol=1e-12)
    np.testing.assert_allclose(mirrored @ new_v, -(tokens @ v), atol=1e-12)


def test_least_risk_of_softplus_is_that_of_the_library(rng):
    scores = rng.standard_normal((50, 4_000, 3)) + 2.0 * (np.arange(3) == 0)
    measure = right("population-risk/least-risk")
    risks = np.array([measure(rows, 1.0) for rows in scores])
    A, B = population.weight_moments(SpikedSLR(4.0, 3), "softplus", m_k=1.0)
    error = risks.std(ddof=1) / math.sqrt(len(risks))
    # A ratio of two means over 4,000 texts is biased by a number of order 1 / 4,000.
    assert abs(risks.mean() - (1 - B**2 / A)) < FIVE * error + 1e-3


def test_pulls_are_the_output_functions_of_the_library(rng):
    a, b = rng.standard_normal((2, 4, 3))
    y = rng.standard_normal(4)
    with jax.enable_x64(True):
        law = bayes.position_law(SpikedSLR(2.0, 3), 3)
        fields = interface.Fields(tuple(jnp.asarray(a.T)), tuple(jnp.asarray(b.T)), y)
        # In the spiked task the doubt about the scores does not matter.
        variances = interface.Variances(jnp.asarray(0.4), jnp.asarray(1 - 0.3))
        known = bayes.Known(jnp.asarray(2.0), jnp.asarray(0.5**2))
        output = bayes.g_out(law, fields, variances, known)
        expected = [np.stack(rows, axis=1) for rows in (output.key, output.value)]
    found = right("bayes-optimal/pulls")(a, b, y, 2.0, 0.3, 0.5)
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_head_in_place_of_the_cloud_is_admissible():
    Overlaps(*right("bayes-optimal/plug-in")(0.4, 0.7, 3.0))


def test_loss_has_no_slope_at_the_best_value(rng):
    tokens = rng.standard_normal((30, 3, 5))
    target, key = rng.standard_normal(30), 2 * rng.standard_normal(5)
    value = right("landscape/best-value")(tokens, target, key, 0.7)
    with jax.enable_x64(True):
        data = objective.Data(
            *map(jnp.asarray, (tokens, target, np.full((30, 3), True)))
        )
        head = objective.Head(jnp.asarray(key), jnp.asarray(value))
        _, slope = objective.loss_and_gradient(
            head, data, activation="softmax", offset=0.0
        )
        gradient = np.asarray(slope.value) + 0.7 * value
    np.testing.assert_allclose(gradient, 0, atol=1e-10)


def test_needle_leads_in_the_retrieval_phase_alone(rng):
    lead = right("phase-transition/lead")
    for b, c in rng.uniform([0.1, 0.1], [4, 6], size=(200, 2)):
        assert (lead(b, c) > 0) == (phases.phase(b, c) == "retrieval")
