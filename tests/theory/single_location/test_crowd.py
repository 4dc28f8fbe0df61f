"""Crowds of any size against exact arithmetic and direct sums."""

import math
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sharp_attention.theory.single_location.crowd import (
    Crowd,
    crowd_sums,
    gaussian_crowd,
    survival,
)


def test_counts():
    assert Crowd.of(0) == (-math.inf, 0.0, 0.0, 0.0)
    assert Crowd.of(1) == (0.0, 1.0, 0.0, 0.0)
    log_count, per_token, one_less, two_less = Crowd.of(4)
    assert log_count == pytest.approx(math.log(4))
    assert (per_token, one_less, two_less) == pytest.approx((0.25, 0.75, 0.5))
    huge = Crowd.of(10**400)
    assert huge.log_count == pytest.approx(400 * math.log(10))
    assert (huge.per_token, huge.one_less, huge.two_less) == (0.0, 1.0, 1.0)


@pytest.mark.parametrize("count", [1, 2, 7, 1000, 10**12])
@pytest.mark.parametrize("killed", [0.0, 1e-9, 0.3, 0.9])
def test_survival_is_a_power(count, killed):
    crowd = Crowd.of(count)
    each = 1 - Fraction(killed) / count
    for share, tokens in (
        (1.0, count),
        (crowd.one_less, count - 1),
        (crowd.two_less, max(count - 2, 0)),
    ):
        found = survival(np.array([killed]), crowd, share, np)[0]
        assert found == pytest.approx(
            math.exp(tokens * math.log1p(float(each - 1))), rel=1e-12
        )


def test_survival_of_no_and_of_countless_tokens():
    assert survival(np.array([0.0]), Crowd.of(0), 1.0, np)[0] == 1
    found = survival(np.array([0.3]), Crowd.of(10**400), 1.0, np)[0]
    assert found == pytest.approx(math.exp(-0.3), rel=1e-14)


@pytest.mark.parametrize("slope", [0.5, 2.0])
def test_sums_over_a_crowd(slope):
    """The direct sum, the one by logarithms, and a plain average."""
    with jax.enable_x64(True):
        g = jnp.linspace(-12.0, 12.0, 400)
        levels = jnp.array([-1.0, 0.5, 3.0])
        log_omega = jnp.minimum(slope * g - levels[:, None], 7.0)
        crowd = Crowd.of(50)
        density, powers = gaussian_crowd(g, crowd)
        direct = crowd_sums(log_omega, density, powers, is_huge=False)
        by_logarithms = crowd_sums(log_omega, density, powers, is_huge=True)
    for one, other in zip(direct, by_logarithms, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)

    nodes, weights = np.polynomial.hermite_e.hermegauss(120)
    weights = 50 * weights / weights.sum()
    omega = np.exp(slope * nodes - np.array(levels)[:, None])
    alive = np.exp(-omega)
    # Gauss-Hermite converges slowly on a double exponential.
    close = {"rtol": 3e-4, "atol": 1e-4}
    np.testing.assert_allclose(direct.killed, (1 - alive) @ weights, **close)
    for power in range(3):
        moment = weights * nodes**power
        np.testing.assert_allclose(
            direct.first[:, power], (omega * alive) @ moment, **close
        )
        second = (omega**2 * alive) @ moment
        np.testing.assert_allclose(direct.second[:, power], second, **close)


def test_a_crowd_that_no_float_can_count():
    """10**400 tokens: the density alone would overflow."""
    with jax.enable_x64(True):
        g = jnp.linspace(-12.0, 60.0, 2000)
        crowd = Crowd.of(10**400)
        level = crowd.log_count + 0.5  # with slope 1, E omega = e^0
        log_omega = jnp.minimum(g - level, 7.0)[None]
        sums = crowd_sums(log_omega, *gaussian_crowd(g, crowd), is_huge=True)
    # Each omega is tiny: killed = first = n E omega = 1.
    assert sums.killed[0] == pytest.approx(1, rel=1e-10)
    assert sums.first[0, 0] == pytest.approx(1, rel=1e-10)
    assert sums.first[0, 1] == pytest.approx(1, rel=1e-10)  # E g e^g = E e^g
