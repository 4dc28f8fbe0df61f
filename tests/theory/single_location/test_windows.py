"""Weights in logarithms, and windows that hold what has to be integrated."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sharp_attention.theory.single_location import windows
from sharp_attention.theory.single_location.crowd import (
    Crowd,
    crowd_sums,
    gaussian_crowd,
    survival,
)
from sharp_attention.theory.single_location.rows import rung


def test_logarithms_of_weights():
    scores = np.array([-900.0, -50.0, -20.001, -19.999, -1.0, 0.0, 3.0, 800.0])
    np.testing.assert_array_equal(windows.log_weight("softmax", scores, np), scores)
    found = windows.log_weight("softplus", scores, np)
    middle = slice(2, 7)
    right = np.log(np.log1p(np.exp(scores[middle])))
    np.testing.assert_allclose(found[middle], right, rtol=1e-14)
    assert found[0] == -900
    assert found[-1] == pytest.approx(math.log(800))


def test_omega_is_cut_where_it_kills_for_certain():
    with jax.enable_x64(True):
        found = windows.log_omega("softmax", jnp.array([-3.0, 500.0]), 1.0)
    np.testing.assert_allclose(found, [-4.0, windows.LARGEST_LOG])


@pytest.mark.parametrize("levels", [(-1.0, 4.0, 1.0), (-60.0, 20.0, 5.0)])
def test_level_weights_are_the_steps_of_the_levels(levels):
    with jax.enable_x64(True):
        nodes, steps = windows.Levels(*levels).nodes(2000)
    middle = (np.asarray(nodes)[2:] - np.asarray(nodes)[:-2]) / 2
    np.testing.assert_allclose(steps[1:-1], middle, rtol=1e-4)
    assert nodes[-1] == pytest.approx(levels[1], abs=1e-9)


def test_steps_of_fields():
    assert windows.field_window(0.0, -12.0, 12.0).num_nodes == pytest.approx(96)
    steep = windows.field_window(10.0, -12.0, 12.0)
    assert steep.num_nodes == pytest.approx(24 / 0.022)


@pytest.mark.medium
@pytest.mark.parametrize("activation", ["softmax", "softplus"])
@pytest.mark.parametrize("slope", [0.1, 1.0, 4.0, 30.0])
@pytest.mark.parametrize("length", [1, 2, 50, 10**6, 10**30])
def test_the_window_holds_all_levels(activation, slope, length):
    """Sum of all weights: int du n N_1 N_0^{n-1} = 1, for any crowd."""
    crowd = Crowd.of(length)
    levels, count = windows.level_window(activation, slope, 0.0, crowd)
    highest = math.sqrt(windows.REACH**2 + 2 * crowd.log_count)
    fields = windows.field_window(slope, -windows.REACH, highest)
    with jax.enable_x64(True):
        level, steps = levels.nodes(rung(count))
        g = jnp.linspace(fields.lower, fields.upper, rung(fields.num_nodes))
        log_omega = windows.log_omega(activation, slope * g, level[:, None])
        sums = crowd_sums(log_omega, *gaussian_crowd(g, crowd), is_huge=False)
        alive = survival(sums.killed, crowd, crowd.one_less)
        total = float((sums.first[:, 0] * alive) @ steps)
    assert total == pytest.approx(1, abs=1e-12)


def test_no_crowd():
    levels, count = windows.level_window("softmax", 1.0, 0.0, Crowd.of(0))
    assert (levels.lower, levels.upper, count) == (-1.0, 1.0, 2)
