"""Quadrature rules: exact to their degree and not beyond; running integrals."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sharp_attention.numerics import gaussian


def moment(power):
    """E g^power of a standard normal variable."""
    return 0.0 if power % 2 else float(math.prod(range(1, power, 2)))


@pytest.mark.parametrize("num_nodes", [1, 2, 5, 12])
def test_gauss_hermite_is_exact_to_its_degree_and_not_beyond(num_nodes):
    nodes, weights = gaussian.gauss_hermite(num_nodes)
    for power in range(2 * num_nodes):
        assert weights @ nodes**power == pytest.approx(
            moment(power), rel=1e-10, abs=1e-9 * moment(2 * (power // 2 + 1))
        )
    power = 2 * num_nodes
    # Short by n!, the squared norm of the polynomial that vanishes at all nodes.
    gap = moment(power) - weights @ nodes**power
    assert gap == pytest.approx(math.factorial(num_nodes), rel=1e-8)


@pytest.mark.parametrize("num_nodes", [1, 3, 16])
def test_gauss_legendre_is_exact_to_its_degree_and_not_beyond(num_nodes):
    nodes, weights = gaussian.gauss_legendre(num_nodes)
    for power in range(2 * num_nodes):
        assert weights @ nodes**power == pytest.approx(1 / (power + 1), rel=1e-13)
    if num_nodes < 10:  # else the gap is below rounding
        power = 2 * num_nodes
        assert weights @ nodes**power < (1 - 1e-6) / (power + 1)


def test_the_trapezoid_rule():
    nodes, weights = gaussian.trapezoid()
    for power in range(12):
        assert weights @ nodes**power == pytest.approx(moment(power), abs=1e-10)
    half = gaussian.trapezoid(lower=0.0)
    assert half.nodes[0] == 0
    assert np.diff(half.nodes).max() <= gaussian.STEP + 1e-15


def test_the_trapezoid_rule_converges_faster_than_any_power():
    """E 1 / (1 + g^2), whose poles at +-i leave about exp(-2 pi / step)."""
    right = math.sqrt(math.pi / 2) * math.exp(0.5) * math.erfc(math.sqrt(0.5))

    def function(g):
        return 1 / (1 + g**2)

    errors = [
        abs(gaussian.expectation(function, rule=gaussian.trapezoid(step=s)) - right)
        for s in (1.0, 0.5, 0.25)
    ]
    assert errors[1] < errors[0] ** 1.6
    assert errors[2] < errors[1] ** 1.6


def test_expectations():
    found = gaussian.expectation(np.exp, mean=0.3, variance=0.5)
    assert isinstance(found, float)
    assert found == pytest.approx(math.exp(0.3 + 0.25), rel=1e-13)
    several = gaussian.expectation(lambda g: np.stack([g, g**2]), variance=2.0)
    np.testing.assert_allclose(several, [0.0, 2.0], atol=1e-12)
    assert gaussian.expectation(np.exp, 0.3, 0.0) == pytest.approx(math.exp(0.3))


def test_running_integrals():
    with jax.enable_x64(True):
        nodes, width = gaussian.panels(-1.0, 2.0, num_panels=5, num_nodes=8)
        running = gaussian.accumulate(jnp.stack([jnp.cos(nodes), 3 * nodes**2]), width)
    np.testing.assert_allclose(running[0], np.sin(nodes) + math.sin(1), atol=1e-12)
    np.testing.assert_allclose(running[1], np.asarray(nodes) ** 3 + 1, atol=1e-12)
    assert width == pytest.approx(0.6)


@pytest.mark.parametrize("num_nodes", [1, 4, 9])
def test_the_integration_matrix_is_exact_to_its_degree(num_nodes):
    nodes, _ = gaussian.gauss_legendre(num_nodes)
    matrix = gaussian.integration_matrix(num_nodes)
    for power in range(num_nodes):
        right = nodes ** (power + 1) / (power + 1)
        np.testing.assert_allclose(matrix @ nodes**power, right, atol=1e-13)
    beyond = matrix @ nodes**num_nodes - nodes ** (num_nodes + 1) / (num_nodes + 1)
    assert np.abs(beyond).max() > 1e-12


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: gaussian.gauss_hermite(0), ValueError, "num_nodes must be >= 1"),
        (lambda: gaussian.gauss_hermite(251), ValueError, "num_nodes must be at most"),
        (lambda: gaussian.gauss_legendre(0), ValueError, "num_nodes must be >= 1"),
        (lambda: gaussian.trapezoid(1.0, 1.0), ValueError, "upper must be > 1"),
        (lambda: gaussian.trapezoid(step=0.0), ValueError, "step must be > 0"),
        (lambda: gaussian.expectation(np.exp, 0.0, -1.0), ValueError, "variance must"),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
