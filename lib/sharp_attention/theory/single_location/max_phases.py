"""Many tokens in the max task: a kink instead of a transition.

On the scale nu = n sqrt(log L) and beta = b sqrt(log L) the posterior p and the weights
alpha are two random-energy models on the same scores. Each is frozen on the largest
scores beyond sqrt(2), a Poisson-Dirichlet law of parameter x_n = sqrt(2)/n and
x_b = sqrt(2)/b; slr-population (7.6).
"""

import math

import numpy as np
from scipy import special

from sharp_attention._checks import check_real, require
from sharp_attention._typing import Float64

__all__ = ["max_agreement", "max_limit_risk"]

ROOT_TWO = math.sqrt(2)

# e^-40 = 4e-18 is what is left out at either end of an integral.
NEGLIGIBLE = 40.0

# The integrands are analytic in a strip of half-width pi/2, so that these steps leave
# exp(-pi^2 / 0.15) = 3e-29.
STEP = 0.15

# Steps grow from this many widths 1/a from zero on, plus the logarithm of the factor by
# which they grow; nearer to zero they are unchanged up to e^-5.
KNEE = 5.0

# exp(-e^4) = 2e-24.
DOUBLY_NEGLIGIBLE = 4.0

# e^-30 = 9e-14: a factor that no longer needs to be resolved.
UNRESOLVED = 30.0

# exp(-700) is the smallest number of its kind.
LARGEST_EXPONENT = 700.0


def max_limit_risk(signal: float, sharpness: float | None = None) -> float:
    """Risk in the max task at v = v* in the limit L -> infinity, (7.6).

    Parameters
    ----------
    signal : n = nu / sqrt(log L) >= 0, may be infinite
    sharpness : b = beta / sqrt(log L) >= 0, may be infinite; that of the Bayes head,
        b = n, if None

    Returns
    -------
    1 - 2 R + (1 - x_b)_+, R from `max_agreement` where both are frozen, else 0; for
    the Bayes head this is min(1, sqrt(2)/n)
    """
    check_real("signal", signal, at_least=0, allow_infinite=True)
    if sharpness is None:
        return min(1.0, ROOT_TWO / signal) if signal > 0 else 1.0
    check_real("sharpness", sharpness, at_least=0, allow_infinite=True)
    if sharpness <= ROOT_TWO:
        return 1.0
    sharpness_index = ROOT_TWO / sharpness
    agreement = 0.0
    if signal > ROOT_TWO:
        agreement = max_agreement(ROOT_TWO / signal, sharpness_index)
    return 2 - 2 * agreement - sharpness_index


def max_agreement(signal_index: float, sharpness_index: float) -> float:
    """Limit R of E sum p_l alpha_l, both frozen, (7.6).

    The largest scores form a Poisson process; p and alpha are two Poisson-Dirichlet
    laws on it. R(x, x) = 1 - x, and R is symmetric.

    Parameters
    ----------
    signal_index : x_n = sqrt(2)/n in [0, 1); 0 for infinite signal
    sharpness_index : x_b = sqrt(2)/b in [0, 1); 0 for infinite sharpness

    Returns
    -------
    R in [0, 1]
    """
    indices = {"signal_index": signal_index, "sharpness_index": sharpness_index}
    for name, value in indices.items():
        check_real(name, value, at_least=0)
        require(value < 1, name, "< 1", value)
    smaller, larger = sorted(indices.values())
    if larger == 0:
        return 1.0
    if smaller == 0:
        return _agreement_with_largest(larger)
    return _agreement(1 / smaller, 1 / larger)


def _agreement_with_largest(x: float) -> float:
    """R where one law has a single atom.

    int_0^inf e^-t dt / (e^-t + t^x gamma(1 - x, t)), integrated over log t, in
    which all singularities are at least pi/2 away.
    """
    log_t, step = np.linspace(-NEGLIGIBLE, math.log(60.0), 900, retstep=True)
    t = np.exp(log_t)
    incomplete = special.gammainc(1 - x, t) * special.gamma(1 - x)
    return float(step * np.sum(t / (1 + np.exp(t) * t**x * incomplete)))


def _agreement(a: float, b: float) -> float:
    """R at 1/x_n = a >= 1/x_b = b: a b int ddelta e^{-b delta} N(delta) / G(delta).

    With E = e^{a z} + e^{b (z - delta)},

    N = int dz e^{(a+b-1) z - E},  G = int dz e^{-z} (dE/dz) e^{-E}.

    Both variables vary over 1/a near zero. Further away they vary over 1/b: z below it,
    delta above, where the integrand falls like e^{-b delta}, and below, where it falls
    like exp(-e^{-b delta}) to e^{-a/b} and then like e^{a delta}.
    """
    ratio = a / b
    lowest = NEGLIGIBLE + DOUBLY_NEGLIGIBLE * ratio
    growth = max(1.0, ratio / UNRESOLVED)
    delta, ddelta = _nodes(lowest, NEGLIGIBLE * ratio, growth, ratio)
    z, dz = _nodes(lowest + NEGLIGIBLE * ratio, 7.0, ratio, 1.0)
    z, dz, delta, ddelta = z / a, dz / a, delta / a, ddelta / a
    first, second = a * z, b * (z - delta[:, None])
    alive = -np.exp(first) - np.exp(second)
    numerator = np.exp(first + second - z + alive) @ dz
    own = (a * np.exp(first - z + alive) + b * np.exp(second - z + alive)) @ dz
    # Near b = 1 the integrand of G falls slowly downwards. Below the first node, where
    # E vanishes, its nodes form two geometric series.
    own += _geometric(a, z[0], dz[0]) + np.exp(-b * delta) * _geometric(b, z[0], dz[0])
    return float(a * b * (numerator / own) @ ddelta)


def _geometric(slope: float, start: float, step: float) -> float:
    """Trapezoid sum of slope e^{(slope - 1) z} over all nodes below `start`."""
    ratio = min((slope - 1) * step, LARGEST_EXPONENT)
    return step * slope * math.exp((slope - 1) * start) / math.expm1(ratio)


def _nodes(
    low: float, high: float, growth_down: float, growth_up: float
) -> tuple[Float64, Float64]:
    """Nodes from -`low` to `high`, and steps, which grow away from zero."""
    knee_down, knee_up = (KNEE + math.log(x) for x in (growth_down, growth_up))
    lowest, highest = knee_down + low / growth_down, knee_up + high / growth_up
    s = np.arange(-lowest, highest, STEP)
    down, up = -s - knee_down, s - knee_up
    nodes = s + (growth_up - 1) * np.logaddexp(0.0, up)
    nodes -= (growth_down - 1) * np.logaddexp(0.0, down)
    steps = 1 + (growth_up - 1) * special.expit(up)
    return nodes, STEP * (steps + (growth_down - 1) * special.expit(down))
