"""Exact population risks against averages over sampled token matrices.

Tokens are drawn as L x D matrices, and heads as vectors of 500 entries: nothing here
knows of order parameters but `measure_overlaps`.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sharp_attention.attention import activations
from sharp_attention.tasks import single_location
from sharp_attention.tasks.single_location import MaxSLR, SpikedSLR
from sharp_attention.theory.single_location import population

DIM, HEADS, BATCH, BATCHES = 500, 20, 2000, 12
SHIFT = -0.4
PARAMETERS = {"erf": {"offset": SHIFT}, "sigmoid": {"bias": SHIFT}}
STANDARD_ERRORS = 5


@pytest.fixture(scope="module")
def teacher():
    return single_location.draw_teachers(jax.random.key(0), DIM)


@pytest.fixture(scope="module")
def heads(teacher):
    """Keys and values with all seven overlaps, of about the teachers' length."""
    rng = np.random.default_rng(1)
    own = rng.normal(size=(2, HEADS, DIM))
    keys, values = 0.4 * own + 0.3 * own[::-1]  # of a common part as well
    along_key, along_value = rng.normal(scale=0.5, size=(2, 2, HEADS, 1))
    key, value = (np.asarray(vector) for vector in teacher)
    keys = keys + (0.5 + along_key[0]) * key + along_key[1] * value
    values = values + along_value[0] * key + (0.5 + along_value[1]) * value
    return keys.astype(np.float32), values.astype(np.float32)


@jax.jit
def squared_errors(samples, keys, values):
    """Squared errors of each activation's heads, (activations, samples, heads)."""
    scale = DIM**-0.5
    scores = scale * jnp.einsum("nld,hd->nhl", samples.tokens, keys)
    reads = scale * jnp.einsum("nld,hd->nhl", samples.tokens, values)
    where = samples.mask[:, None, :]
    found = []
    for name in population.ACTIVATIONS:
        weigh = getattr(activations, name)
        weights = weigh(scores, where=where, **PARAMETERS.get(name, {}))
        error = samples.target[:, None] - jnp.sum(weights * reads, axis=-1)
        found.append(error**2)
    return jnp.stack(found)


@pytest.mark.slow
@pytest.mark.parametrize(
    "task", [SpikedSLR(2.0, {2: 0.5, 4: 0.5}, noise=0.3), MaxSLR(1.5, 3)]
)
def test_twenty_heads_off_the_manifold(task, teacher, heads):
    overlaps = single_location.measure_overlaps(*heads, *teacher)
    assert min(np.abs(overlaps.m_kv).max(), np.abs(overlaps.q_kv).max()) > 0.3
    total, squares = np.zeros((2, len(population.ACTIVATIONS), HEADS))
    for rng_key in jax.random.split(jax.random.key(2), BATCHES):
        samples = single_location.sample(rng_key, task, DIM, BATCH, teacher)
        errors = np.asarray(squared_errors(samples, *heads), np.float64)
        total += errors.sum(axis=1)
        squares += (errors**2).sum(axis=1)
    count = BATCH * BATCHES
    means = total / count
    standard_errors = np.sqrt((squares / count - means**2) / count)
    for index, name in enumerate(population.ACTIVATIONS):
        right = population.risk(task, name, overlaps, **PARAMETERS.get(name, {}))
        deviations = (means[index] - right) / standard_errors[index]
        assert np.abs(deviations).max() < STANDARD_ERRORS, (name, deviations)
        # They are deviations of unit variance, so that none is hidden in wide errors.
        assert standard_errors[index].max() < 0.05 * (1 + right.max()), name
