"""Expectations over one Gaussian variable, and integrals up to a moving end.

Three rules, all in float64:

* `trapezoid`: equal steps; for a function that is analytic in a strip of half-width a
  around the real axis, the error falls like exp(-2 pi a / step), faster than that of
  any rule of fixed order (Trefethen and Weideman, SIAM Review 56, 2014);
* `gauss_hermite`: n nodes, exact for polynomials of degree at most 2n - 1;
* `panels`: Gauss-Legendre nodes on many short intervals, for integrals from the lower
  end up to each of the nodes (`accumulate`).

A rule for a standard normal variable holds nodes and weights with
E f(g) = sum(weights * f(nodes)).
"""

import functools
from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from sharp_attention._checks import check_integer, check_real, require
from sharp_attention._typing import Float64

__all__ = [
    "Rule",
    "accumulate",
    "expectation",
    "gauss_hermite",
    "gauss_legendre",
    "integration_matrix",
    "panels",
    "trapezoid",
]

# Beyond 12 standard deviations lie 4e-33 of the mass; with steps of a quarter the
# trapezoid rule integrates the density itself to exp(-2 (4 pi)^2 / 2) = 3e-69.
HALF_WIDTH = 12.0
STEP = 0.25

# Beyond this order the Gauss-Hermite weights of numpy underflow.
LARGEST_ORDER = 250


class Rule(NamedTuple):
    """Nodes and weights of a quadrature rule, both of shape (nodes,)."""

    nodes: Float64
    weights: Float64


def trapezoid(
    lower: float = -HALF_WIDTH, upper: float = HALF_WIDTH, step: float = STEP
) -> Rule:
    """Trapezoid rule for a standard normal variable on [`lower`, `upper`].

    Parameters
    ----------
    lower, upper : the range that counts, in standard deviations
    step : largest distance of two nodes, > 0

    Raises
    ------
    ValueError
        If the range is empty or `step` is not positive.
    """
    check_real("lower", lower)
    check_real("upper", upper, above=lower)
    check_real("step", step, above=0)
    count = int(np.ceil((upper - lower) / step)) + 1
    nodes, spacing = np.linspace(lower, upper, count, retstep=True)
    return Rule(nodes, spacing * np.exp(-(nodes**2) / 2) / np.sqrt(2 * np.pi))


def gauss_hermite(num_nodes: int) -> Rule:
    """Gauss-Hermite rule for a standard normal variable.

    It is exact for polynomials of degree at most 2 `num_nodes` - 1.

    Parameters
    ----------
    num_nodes : 1 to 250

    Raises
    ------
    TypeError, ValueError
        If `num_nodes` is not an integer in that range.
    """
    check_integer("num_nodes", num_nodes, at_least=1)
    rule = f"at most {LARGEST_ORDER}"
    require(num_nodes <= LARGEST_ORDER, "num_nodes", rule, num_nodes)
    nodes, weights = np.polynomial.hermite_e.hermegauss(num_nodes)
    return Rule(nodes, weights / weights.sum())


def expectation(
    function: Callable[[Float64], Float64],
    mean: float = 0.0,
    variance: float = 1.0,
    rule: Rule | None = None,
) -> Float64 | float:
    """Average `function` over a normal variable.

    Parameters
    ----------
    function : takes the values of the variable, shape (nodes,); the last axis of what
        it returns runs over them
    mean, variance : of the variable; variance >= 0
    rule : for the standard normal variable; `trapezoid` with its defaults if None

    Returns
    -------
    the average over the last axis, a float where nothing else is left

    Raises
    ------
    ValueError
        If `variance` is negative or a moment is not finite.
    """
    check_real("mean", mean)
    check_real("variance", variance, at_least=0)
    nodes, weights = rule or trapezoid()
    values = np.asarray(function(mean + np.sqrt(variance) * nodes), dtype=np.float64)
    average = values @ weights
    return average if np.ndim(average) else float(average)


def gauss_legendre(num_nodes: int) -> Rule:
    """Gauss-Legendre rule on [0, 1], exact up to degree 2 `num_nodes` - 1.

    Raises
    ------
    TypeError, ValueError
        If `num_nodes` is not an integer >= 1.
    """
    check_integer("num_nodes", num_nodes, at_least=1)
    nodes, weights = np.polynomial.legendre.leggauss(num_nodes)
    return Rule((nodes + 1) / 2, weights / 2)


@functools.cache
def integration_matrix(num_nodes: int) -> Float64:
    """Integrals from 0 to each node of the Gauss-Legendre rule on [0, 1].

    Row i of the matrix turns the values of a polynomial of degree below `num_nodes`
    at the nodes into its integral from 0 to node i.

    Returns
    -------
    (num_nodes, num_nodes)
    """
    nodes, weights = gauss_legendre(num_nodes)
    # The Legendre polynomials P_j(2 t - 1) are orthogonal with squared norm
    # 1 / (2 j + 1), and their integrals are differences of neighbours.
    degrees = np.arange(num_nodes)
    values = np.polynomial.legendre.legvander(2 * nodes - 1, num_nodes)
    coefficients = (2 * degrees + 1)[:, None] * values[:, :-1].T * weights
    integrals = np.empty((num_nodes, num_nodes))
    integrals[:, 0] = nodes
    for degree in degrees[1:]:
        difference = values[:, degree + 1] - values[:, degree - 1]
        integrals[:, degree] = difference / (2 * (2 * degree + 1))
    return integrals @ coefficients


def panels(
    lower: Float[Array, ""] | float,
    upper: Float[Array, ""] | float,
    num_panels: int,
    num_nodes: int,
) -> tuple[Float[Array, "panels nodes"], Float[Array, ""]]:
    """Gauss-Legendre nodes on equal panels that cover [`lower`, `upper`].

    Returns
    -------
    nodes of shape (panels, nodes), and the width of a panel; the weight of node j is
    the width times ``gauss_legendre(num_nodes).weights[j]``
    """
    width = (jnp.asarray(upper) - lower) / num_panels
    starts = lower + width * jnp.arange(num_panels)
    return starts[:, None] + width * gauss_legendre(num_nodes).nodes, width


def accumulate(
    values: Float[Array, "*batch panels nodes"], width: Float[Array, ""]
) -> Float[Array, "*batch panels nodes"]:
    """Integral from the lower end to each node of `panels`.

    Parameters
    ----------
    values : of the integrand at the nodes
    width : of one panel
    """
    num_nodes = values.shape[-1]
    weights = gauss_legendre(num_nodes).weights
    within = values @ jnp.asarray(integration_matrix(num_nodes).T, values.dtype)
    whole = values @ jnp.asarray(weights, values.dtype)
    before = jnp.cumsum(whole, axis=-1) - whole
    return width * (within + before[..., None])
