"""Both forms of the selector: they choose one token, and they agree."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sharp_attention.theory.single_location import selection, selectors, windows
from sharp_attention.theory.single_location.crowd import Crowd, survival

LENGTH, HIGHEST = 20, 12.3


def direct(signal):
    crowd = Crowd.of(LENGTH)
    levels, _ = windows.level_window("softmax", signal, 0.0, crowd, 0.2)
    level, steps = levels.nodes(2048)
    g = jnp.linspace(-12.0, HIGHEST, 4096)
    found = selectors.direct(jnp.asarray(signal), crowd, level, g, g[1] - g[0])
    return found._replace(spacing=steps)


def sharp(signal):
    bounds = jnp.asarray(-12.0), jnp.asarray(HIGHEST)
    return selectors.sharp(jnp.asarray(signal), Crowd.of(LENGTH), *bounds, 1024)


def average(selector, function):
    """E f(score of the chosen token), and of the pairs' sum E sum_{l != e} f(x_l)."""
    crowd = Crowd.of(LENGTH)
    values = function(selector.fields)[None]
    nothing_else = jnp.ones_like(values)
    weight = selector.spacing * survival(selector.rivals[None], crowd, crowd.one_less)
    pair_weight = selector.spacing * survival(
        selector.rivals[None], crowd, crowd.two_less
    )
    own = jnp.sum(weight * selector.chosen(values))
    pairs = selector.chosen(nothing_else) * selector.beaten(values)
    return float(own), float(crowd.one_less * jnp.sum(pair_weight * pairs))


@pytest.mark.medium
@pytest.mark.parametrize(
    ("make", "signal"),
    [(direct, 1.0), (direct, 40.0), (sharp, 100.0), (sharp, math.inf)],
)
def test_one_token_is_chosen(make, signal):
    scores, weights, _ = selection.select(signal, LENGTH)
    with jax.enable_x64(True):
        selector = make(signal)
        one, others = average(selector, jnp.ones_like)
        mean, mean_of_others = average(selector, lambda x: x)
        square, square_of_others = average(selector, lambda x: x**2)
    assert one == pytest.approx(1, abs=1e-10)
    assert others == pytest.approx(LENGTH - 1, rel=1e-10)
    assert mean == pytest.approx(scores @ weights, rel=1e-9)
    assert square == pytest.approx(scores**2 @ weights, rel=1e-9)
    # All tokens together are standard normal.
    assert mean + mean_of_others == pytest.approx(0, abs=1e-9)
    assert square + square_of_others == pytest.approx(LENGTH, rel=1e-9)


def test_density_of_a_crowd():
    with jax.enable_x64(True):
        x = jnp.array([0.0, 1.0])
        found = selectors.crowd_density(x, Crowd.of(5))
        cut = selectors.crowd_density(x, Crowd.of(10**400))
    right = 5 * np.exp(-np.array([0.0, 1.0]) / 2) / math.sqrt(2 * math.pi)
    np.testing.assert_allclose(found, right, rtol=1e-14)
    assert np.isfinite(cut).all()
