"""Max retrieval by a head that ranks without error: what softmax alone would cost.

The toy model: item i has a priority rho_i, uniform on (0, 1), and exactly the logit
a rho_i; every item gives its weight to its class, one of C, and the class with the
most weight is the answer.
Seen from the top, the logits of many items are a Poisson process with n/a items per
unit of logit, so that all that follows depends on the crowding n/a alone, up to terms
of order 1/n and exp(-a) (our derivation).

Notation
--------
lam = n/a             crowding: items per nat of logit
Ein(s) = int_0^1 (1 - exp(-s u))/u du      the entire exponential integral
D ~ GD(t)             generalised Dickman law, E exp(-s D) = exp(-t Ein(s))

With y_i >= 0 the distances from the top logit, Z = 1 + sum exp(-y_i) has the law of
1 + GD(lam), because E exp(-s Z) = exp(-s - lam int (1 - exp(-s exp(-y))) dy).
"""

import itertools
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy import integrate, optimize, special

from sharp_attention._checks import check_integer, check_real, require
from sharp_attention._typing import Float64

__all__ = ["implied_slope", "mean_entropy", "top_weight", "vote_accuracy"]

_STEPS = 512
"""Grid points per unit of the Dickman law's argument; the error is below 1e-4."""

_LARGEST_CROWDING = 1e3


def top_weight(num_items: int, slope: float) -> float:
    """Give the expected softmax weight of the maximum.

    E[1/Z] = int_0^inf exp(-s - lam Ein(s)) ds.

    Parameters
    ----------
    num_items : n, >= 1
    slope : a > 0, logit per unit of priority (nats)

    Returns
    -------
    in (0, 1]; close to 1/lam for large lam

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number in its range, or n/a exceeds 1000.
    """
    return _top_weight(_crowding(num_items, slope))


def mean_entropy(num_items: int, slope: float) -> float:
    """Give the expected entropy of the weights, in nats.

    About 1 + log(n/a) for n much larger than a; exactly
    E[log Z] + E[sum y exp(-y)/Z], where the first is
    int (exp(-s) - exp(-s - lam Ein(s)))/s ds and the second, by Campbell's formula,
    lam int exp(-s - lam Ein(s)) Ein(s)/s ds.

    Parameters
    ----------
    num_items, slope : as for `top_weight`

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number in its range, or n/a exceeds 1000.
    """
    crowding = _crowding(num_items, slope)

    def density(s: float) -> float:
        ein = _ein(s)
        left = -np.expm1(-crowding * ein)
        return float(np.exp(-s) * (left + crowding * ein * (1 - left)) / s)

    return _integral(density)


def vote_accuracy(num_items: int, slope: float, num_classes: int = 10) -> float:
    """Probability that the class with the most weight is the maximum's class.

    The C classes are independent Poisson processes, so their weights, divided by the
    top's, are 1 + D_0 and D_1, ..., D_(C-1) with independent D_c ~ GD(lam/C):

    P(1 + D_0 > max_c D_c) = int F(1 + x)^(C-1) dF(x),

    where the distribution function F of GD(t) solves
    x F'(x) = t (F(x) - F(x - 1)) with F(x) proportional to x^t on (0, 1).

    Parameters
    ----------
    num_items, slope : as for `top_weight`
    num_classes : C >= 2

    Returns
    -------
    in (1/C, 1], with an error below 1e-3

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number in its range, or n/a exceeds 1000.
    """
    crowding = _crowding(num_items, slope)
    check_integer("num_classes", num_classes, at_least=2)
    distribution = _dickman(crowding / num_classes)
    ahead = distribution[_STEPS:] ** (num_classes - 1)
    ahead = np.concatenate([ahead, np.ones(_STEPS)])  # beyond the grid F is 1
    return float(np.diff(distribution) @ (ahead[1:] + ahead[:-1]) / 2)


def implied_slope(num_items: int, weight: float) -> float:
    """Slope a whose expected top weight is `weight`: what a head is worth in the toy.

    Parameters
    ----------
    num_items : n, >= 1
    weight : of the maximum, in (0, 1), attained for n/a between 1e-6 and 1000

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number in its range.
    """
    check_integer("num_items", num_items, at_least=1)
    lowest, highest = (_top_weight(lam) for lam in (_LARGEST_CROWDING, 1e-6))
    check_real("weight", weight)
    within = lowest < weight < highest
    require(within, "weight", f"between {lowest:.1e} and {highest:.6f}", weight)
    crowding = optimize.brentq(
        lambda log: _top_weight(np.exp(log)) - weight,
        np.log(1e-6),
        np.log(_LARGEST_CROWDING),
        xtol=1e-10,
    )
    return float(num_items / np.exp(crowding))


def _crowding(num_items: int, slope: float) -> float:
    check_integer("num_items", num_items, at_least=1)
    check_real("slope", slope, above=0.0)
    crowding = num_items / float(slope)
    require(crowding <= _LARGEST_CROWDING, "num_items / slope", "<= 1000", crowding)
    return crowding


def _top_weight(crowding: float) -> float:
    return _integral(lambda s: float(np.exp(-s - crowding * _ein(s))))


def _ein(s: float) -> float:
    """Ein(s) = E1(s) + log s + gamma; the series where that would cancel."""
    if s < 1e-3:
        return s - s**2 / 4 + s**3 / 18
    return float(special.exp1(s) + np.log(s) + np.euler_gamma)


def _integral(function: Callable[[float], float]) -> float:
    """Integrate over (0, inf) what varies on the scale 1/lam and falls like exp(-s)."""
    quad = partial(integrate.quad, epsabs=1e-13, epsrel=1e-11, limit=200)
    pieces = itertools.pairwise((0.0, 1e-4, 1e-2, 1.0, 60.0))
    return float(sum(quad(function, low, high)[0] for low, high in pieces))


def _dickman(shape: float) -> Float64:
    """Distribution function of GD(shape) on a grid of step 1/512 from 0.

    The trapezoidal rule for F' = shape (F(x) - F(x - 1))/x, started from x^shape on
    (0, 1), with the scale found at the end: F tends to 1.  The mean is `shape`, the
    variance half of that, and the tail falls faster than exponentially.
    """
    length = int(np.ceil(shape + 12 * np.sqrt(shape) + 12))
    grid = np.arange(length * _STEPS + 1) / _STEPS
    values = np.zeros_like(grid)
    values[: _STEPS + 1] = grid[: _STEPS + 1] ** shape
    half = shape / (2 * _STEPS)
    for j in range(_STEPS, len(grid) - 1):
        window = values[j] - values[j - _STEPS]
        known = values[j] + half * (
            window / grid[j] - values[j + 1 - _STEPS] / grid[j + 1]
        )
        values[j + 1] = known / (1 - half / grid[j + 1])
        if values[j + 1] > 1e200:  # a large shape starts from very little
            values *= 1e-200
    return values / values[-1]
