"""Population risks at large signal or large length, by expansion.

slr-population, sections 5.2 to 5.4. The exact risks are in `population`; these say what
they tend to, and with which constants.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import optimize, special

from sharp_attention._checks import check_integer, check_real, require
from sharp_attention._typing import Float64
from sharp_attention.numerics import gaussian

__all__ = [
    "Constant",
    "elementwise_tail",
    "erf_constant",
    "erf_max_limit",
    "linear_tail",
    "softmax_tail",
    "softplus_constant",
]


class Constant(NamedTuple):
    """The minimum over one slope, and where it is."""

    value: float
    slope: float


def softmax_tail(signal: float, length: int, num_terms: int = 2) -> float:
    """Risk of softmax in the spiked task at large signal, Corollary 4.3 and (5.5).

    (L - 1) sqrt(pi) / 2 e^{-nu/4} / sqrt(nu) (1 - pi^2 / 4 nu): the token is lost to a
    single other one, each of them with a chance of e^{-nu/4}.

    Parameters
    ----------
    signal : nu > 0, well above 4 log L
    length : number of tokens L >= 2
    num_terms : 1 or 2
    """
    check_real("signal", signal, above=0)
    check_integer("length", length, at_least=2)
    check_integer("num_terms", num_terms, at_least=1)
    require(num_terms <= 2, "num_terms", "1 or 2", num_terms)
    leading = (length - 1) * math.sqrt(math.pi / signal) / 2 * math.exp(-signal / 4)
    return leading * (1 - math.pi**2 / (4 * signal) if num_terms == 2 else 1.0)


def elementwise_tail(signal: float, length: int) -> float:
    """Risk of the best element-wise weights in the spiked task at large signal, (5.8).

    sqrt(pi (L - 1) / 2 nu) e^{-nu/8}: half of the exponent of softmax.

    Parameters
    ----------
    signal : nu > 0
    length : number of tokens L >= 2
    """
    check_real("signal", signal, above=0)
    check_integer("length", length, at_least=2)
    return math.sqrt(math.pi * (length - 1) / (2 * signal)) * math.exp(-signal / 8)


def linear_tail(signal: float, length: int) -> float:
    """Risk of linear attention in the spiked task at large signal, (5.2).

    L / nu - L^3 / ((L - 1) nu^2).

    Parameters
    ----------
    signal : nu > 0
    length : number of tokens L >= 2
    """
    check_real("signal", signal, above=0)
    check_integer("length", length, at_least=2)
    return length / signal - length**3 / ((length - 1) * signal**2)


def softplus_constant() -> Constant:
    """Kappa with risk kappa (L - 1) / nu of softplus in the spiked task, (5.11).

    min over m of [2 E sp(m g)^2 - (E sp(m g))^2] / m^2, sp(x) = log(1 + e^x).
    """
    rule = gaussian.trapezoid(step=0.02)

    def cost(slope: float) -> float:
        weight = np.logaddexp(0.0, slope * rule.nodes)
        mean, square = rule.weights @ weight, rule.weights @ weight**2
        return float(2 * square - mean**2) / slope**2

    return _minimum(cost, 1.0, 20.0)


def erf_constant() -> Constant:
    """Limit of the risk of erf over that of the best element-wise weights, (5.10).

    In units of the posterior log odds x of a token near the threshold, weights s cost
    int dx [(1 - s)^2 e^{x/2} + s^2 e^{-x/2}], which is pi for the sigmoid.

    Returns
    -------
    ratio, and the slope m_k / sqrt(nu) of the best erf
    """
    x = np.arange(-60.0, 60.0, 0.05)

    def cost(slope: float) -> float:
        missing, weight = (special.ndtr(math.sqrt(2) * slope * y) for y in (-x, x))
        integrand = missing**2 * np.exp(x / 2) + weight**2 * np.exp(-x / 2)
        return 0.05 * float(integrand.sum())

    value, slope = _minimum(cost, 0.1, 1.0)
    return Constant(value / math.pi, slope)


def erf_max_limit() -> Constant:
    """Risk of erf in the max task at infinite signal and L -> infinity, (5.10).

    The scores near the largest form a Poisson process of density e^-t, on which
    s(t) = Phi(sqrt(2) (slope t + shift)) is minimised over both.

    Returns
    -------
    risk, and the slope
    """
    t, step = np.linspace(-12.0, 40.0, 2601, retstep=True)
    largest, crowd = np.exp(-t - np.exp(-t)), np.exp(-t)

    def cost(point: Float64) -> float:
        log_weight = special.log_ndtr(math.sqrt(2) * (point[0] * t + point[1]))
        kept = step * (largest @ np.exp(log_weight))
        squares = step * np.sum(np.exp(2 * log_weight) * crowd)
        return float(1 - kept**2 / squares)

    found = optimize.minimize(
        cost, [0.8, -0.2], method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-13}
    )
    return Constant(float(found.fun), float(found.x[0]))


def _minimum(cost: Callable[[float], float], low: float, high: float) -> Constant:
    found = optimize.minimize_scalar(
        cost, bounds=(low, high), method="bounded", options={"xatol": 1e-9}
    )
    return Constant(float(found.fun), float(found.x))
