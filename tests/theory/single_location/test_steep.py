"""Long keys: the same sums as with short steps, and the way to infinite length."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special

from sharp_attention.tasks.single_location import Overlaps, SpikedSLR
from sharp_attention.theory.single_location import population, steep, windows
from sharp_attention.theory.single_location.crowd import (
    Crowd,
    crowd_sums,
    gaussian_crowd,
    log_normal_below,
)

SLOPE, DRIFT = 25.0, 1.5
LEVEL = np.array([-60.0, -5.0, 0.0, 40.0, 200.0, 400.0])


def on_fields():
    """Equally spaced fields in short steps, and log omega there."""
    g = np.linspace(-14.0, 20.0, 2**12)
    return g, np.minimum(SLOPE * g - LEVEL[:, None], windows.LARGEST_LOG)


@pytest.mark.parametrize("length", [2, 10**40])
def test_sums_over_the_crowd(length):
    crowd = Crowd.of(length)
    g, log_omega = on_fields()
    with jax.enable_x64(True):
        fields = gaussian_crowd(jnp.asarray(g), crowd)
        direct = crowd_sums(jnp.asarray(log_omega), *fields, is_huge=False)
        found = steep.steep_crowd_sums(jnp.asarray(LEVEL), SLOPE, crowd)
    for one, other in zip(found, direct, strict=True):
        scale = np.abs(other).max(axis=-1, keepdims=True)
        assert np.abs(one - other).max() <= 1e-11 * np.max(scale)
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-13 * scale.min())


def test_sums_over_the_relevant_token():
    scores, log_omega = on_fields()
    g, omega = scores - DRIFT, np.exp(log_omega)
    density = np.exp(-(g**2) / 2) / math.sqrt(2 * math.pi) * (g[1] - g[0])
    powers = density[:, None] * np.stack([g**0, g, g**2], axis=-1)
    with jax.enable_x64(True):
        found = steep.steep_own_sums(jnp.asarray(LEVEL), SLOPE, DRIFT)
    alive = np.exp(-omega)
    np.testing.assert_allclose(found.alive, alive @ powers, atol=1e-13)
    np.testing.assert_allclose(found.first, (omega * alive) @ density, rtol=1e-11)
    second = (omega**2 * alive) @ density
    np.testing.assert_allclose(found.second, second, rtol=1e-11)


@pytest.mark.parametrize("square", [1e10, 1e100])
def test_the_risk_of_a_long_key_approaches_that_of_an_infinite_one(square):
    """At a cost that does not grow; what is left falls like 1 / sqrt(q_k)."""
    task, root = SpikedSLR(4.0, 3), math.sqrt(square)
    found = population.risk(task, "softmax", Overlaps(root, square, 1.0, 1.0))
    limit = population.risk(task, "softmax", Overlaps(math.inf, math.inf, 1.0, 1.0))
    assert found == pytest.approx(limit, rel=2 / root + 1e-12)


def test_a_large_signal_costs_no_more():
    assert population.bayes_risk(SpikedSLR(1e8, 2)) == 0
    # Far below the transition at nu = 2 log L nothing is known.
    assert population.bayes_risk(SpikedSLR(100.0, 10**200)) == pytest.approx(1)


def test_where_it_applies():
    levels = windows.Levels(-5.0, 600.0, 1.0)
    assert not steep.is_steep(0.0, levels)
    assert not steep.is_steep(29.9, levels)
    assert steep.is_steep(30.1, levels)


def test_logarithm_of_the_lower_tail():
    """JAX's own is off by 4e-9 at -20.001."""
    x = np.array([-300.0, -40.0, -20.001, -19.9, -3.0, 0.0])
    with jax.enable_x64(True):
        found = log_normal_below(jnp.asarray(x))
    np.testing.assert_allclose(found, special.log_ndtr(x), rtol=2e-15)
