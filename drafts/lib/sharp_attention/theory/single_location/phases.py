"""Many tokens: phases, windows and exponents of softmax attention, and other lengths.

At large L softmax is a random-energy model. Spiked task, k = beta k*, v = m_v v*, on
the scale of log L:

    sharpness b = beta / sqrt(log L),    signal c = nu / log L.

The relevant token has log weight b sqrt(c) log L; the others together have 1 + b^2/2
for b < sqrt(2), and sqrt(2) b beyond, where the few largest dominate (frozen). Hence
three phases, slr-population section 7: *retrieval*, where the relevant token wins,
*dispersed*, where the weight spreads over the crowd, *glass*, where it condenses on
wrong tokens. On the Bayes line b = sqrt(c) the transition is at c = 2, nu = 2 log L.

Max task, on the scale nu = n sqrt(log L): no transition but a kink (7.6).

The limits are approached slowly, through a window of width O(1) in sqrt(nu); exact
risks at finite L are in `population`. Size generalisation (section 8) is re-exported
from `size_generalisation`.
"""

import math
from typing import Literal

import numpy as np
from scipy import optimize, special

from sharp_attention._checks import check_choice, check_integer, check_real, require
from sharp_attention._typing import ArrayLike, Float64
from sharp_attention.attention import temperature
from sharp_attention.numerics import gaussian
from sharp_attention.theory.single_location.size_generalisation import (
    Estimate,
    TrainedHead,
    adaptive_change,
    best_read_out,
    best_sharpness,
    frozen_risk,
    train,
)

__all__ = [
    "Estimate",
    "Phase",
    "TrainedHead",
    "adaptive_change",
    "adaptive_log_reach",
    "asymptotic_sharpness",
    "best_read_out",
    "best_sharpness",
    "corrected_window_risk",
    "critical_signal",
    "decay_exponent",
    "elementwise_decay_exponent",
    "frozen_entropy",
    "frozen_participation",
    "frozen_risk",
    "limit_risk",
    "log_capacity",
    "max_agreement",
    "max_limit_risk",
    "mistuned_window_risk",
    "phase",
    "retrieval_threshold",
    "train",
    "window_risk",
]

Phase = Literal["retrieval", "dispersed", "glass"]

ROOT_TWO = math.sqrt(2)


def critical_signal(length: int) -> float:
    """Signal 2 log L around which the Bayes risk falls from 1 to 0, (7.2).

    Parameters
    ----------
    length : number of tokens L >= 1, of any size
    """
    check_integer("length", length, at_least=1)
    return 2 * math.log(length)


def retrieval_threshold(sharpness: float) -> float:
    """Signal c above which the relevant token wins, (7.1).

    Parameters
    ----------
    sharpness : b = beta / sqrt(log L) >= 0

    Returns
    -------
    (1 + b^2/2)^2 / b^2 for b < sqrt(2), at least 2; then 2
    """
    check_real("sharpness", sharpness, at_least=0)
    if sharpness == 0:
        return math.inf
    if sharpness >= ROOT_TWO:
        return 2.0
    return (1 + sharpness**2 / 2) ** 2 / sharpness**2


def phase(sharpness: float, signal: float) -> Phase:
    """Phase of the spiked task as L grows, (7.1).

    Parameters
    ----------
    sharpness : b = beta / sqrt(log L) >= 0
    signal : c = nu / log L >= 0
    """
    check_real("signal", signal, at_least=0)
    if signal > retrieval_threshold(sharpness):
        return "retrieval"
    return "glass" if sharpness > ROOT_TWO else "dispersed"


def limit_risk(
    sharpness: float, signal: float, read_out: Literal["fixed", "best"] = "fixed"
) -> float:
    """Risk in the spiked task in the limit L -> infinity, (7.1).

    Parameters
    ----------
    sharpness, signal : b and c, as for `phase`
    read_out : "fixed" for v = v*, "best" for the best multiple of it

    Returns
    -------
    0 in the retrieval, 1 in the dispersed phase; in the glass 2 - sqrt(2)/b at v = v*,
    worse than predicting 0
    """
    check_choice("read_out", read_out, ("fixed", "best"))
    found = phase(sharpness, signal)
    if found == "retrieval":
        return 0.0
    if found == "glass" and read_out == "fixed":
        return 1 + frozen_participation(sharpness)
    return 1.0


def frozen_participation(sharpness: float) -> float:
    """Limit of E sum alpha^2 over the wrong tokens: 1 - sqrt(2)/b in the glass, else 0.

    Parameters
    ----------
    sharpness : b >= 0
    """
    check_real("sharpness", sharpness, at_least=0)
    return 1 - ROOT_TWO / sharpness if sharpness > ROOT_TWO else 0.0


def frozen_entropy(sharpness: float) -> float:
    """Limit of the mean entropy of the weights in the glass, in nats.

    The weights are Poisson-Dirichlet with parameter x = sqrt(2)/b, whose entropy is
    psi(1) - psi(1 - x); it diverges as b falls to sqrt(2).

    Parameters
    ----------
    sharpness : b > sqrt(2)

    Raises
    ------
    ValueError
        If `sharpness` is not in the glass.
    """
    check_real("sharpness", sharpness, above=ROOT_TWO)
    return float(special.digamma(1) - special.digamma(1 - ROOT_TWO / sharpness))


def window_risk(offset: ArrayLike) -> Float64 | float:
    """Bayes risk at sqrt(nu) = sqrt(2 log L) + h in the limit, Q(h) = P(g > h), (7.3).

    Parameters
    ----------
    offset : h
    """
    check_real("offset", offset)
    return _number(special.ndtr(-np.asarray(offset, np.float64)))


def corrected_window_risk(offset: ArrayLike, length: int) -> Float64 | float:
    """Bayes risk in the window with the first correction in 1/sqrt(nu), (7.3).

    Q(h - h^2 / (2 sqrt(nu)) - log Phi(-h) / sqrt(nu)); good near h = 0, elsewhere the
    leading term can be better at accessible L.

    Parameters
    ----------
    offset : h, above -sqrt(2 log L)
    length : number of tokens L >= 2, of any size
    """
    check_integer("length", length, at_least=2)
    edge = math.sqrt(critical_signal(length))
    check_real("offset", offset, above=-edge)
    h = np.asarray(offset, np.float64)
    corrected = h - (h**2 / 2 + special.log_ndtr(-h)) / (edge + h)
    return _number(special.ndtr(-corrected))


def mistuned_window_risk(sharpness: float, signal: float, length: int) -> float:
    """Risk at v = v* near the edge of the retrieval phase, (7.4).

    Parameters
    ----------
    sharpness, signal : b > 0 and c
    length : number of tokens L >= 2, of any size
    """
    check_integer("length", length, at_least=2)
    check_real("sharpness", sharpness, above=0)
    check_real("signal", signal, at_least=0)
    root = math.sqrt(math.log(length))
    if sharpness < ROOT_TWO:
        edge = 1 / sharpness + sharpness / 2
        return float(special.ndtr((edge - math.sqrt(signal)) * root))
    below = float(special.ndtr((ROOT_TWO - math.sqrt(signal)) * root))
    return (1 + frozen_participation(sharpness)) * below


def decay_exponent(signal: float) -> float:
    """Kappa with Bayes risk L^(-kappa + o(1)) in the spiked task, (7.5).

    Parameters
    ----------
    signal : c = nu / log L >= 0; the exponent is 0 up to c = 2
    """
    check_real("signal", signal, at_least=0)
    if signal <= 2:
        return 0.0
    if signal <= 8:
        return (math.sqrt(signal) - ROOT_TWO) ** 2 / 2
    return signal / 4 - 1


def elementwise_decay_exponent(signal: float) -> float:
    """Exponent of the best element-wise weights, (c - 2)^2 / 8c above c = 2, (7.5).

    Parameters
    ----------
    signal : c = nu / log L >= 0
    """
    check_real("signal", signal, at_least=0)
    return (signal - 2) ** 2 / (8 * signal) if signal > 2 else 0.0


def log_capacity(signal: float, sharpness: float = math.inf) -> float:
    """Log of the length beyond which the relevant token drowns, (8.2) and (8.3).

    Parameters
    ----------
    signal : nu >= 0
    sharpness : beta >= 0, of a head that is not rescaled

    Returns
    -------
    nu/2 from beta = sqrt(nu) on, beta sqrt(nu) - beta^2/2 below
    """
    check_real("signal", signal, at_least=0)
    check_real("sharpness", sharpness, at_least=0, allow_infinite=True)
    root = math.sqrt(signal)
    useful = min(sharpness, root)
    return useful * root - useful**2 / 2


def max_limit_risk(signal: float, sharpness: float | None = None) -> float:
    """Risk in the max task at v = v* in the limit L -> infinity, (7.6).

    Parameters
    ----------
    signal : n = nu / sqrt(log L) >= 0, may be infinite
    sharpness : b = beta / sqrt(log L); that of the Bayes head, b = n, if None

    Returns
    -------
    min(1, sqrt(2)/n) for the Bayes head
    """
    check_real("signal", signal, at_least=0, allow_infinite=True)
    if sharpness is None:
        return min(1.0, ROOT_TWO / signal) if signal > 0 else 1.0
    check_real("sharpness", sharpness, at_least=0)
    both_frozen = min(signal, sharpness) > ROOT_TWO
    agreement = 0.0
    if both_frozen:
        agreement = max_agreement(ROOT_TWO / signal, ROOT_TWO / sharpness)
    return 1 - 2 * agreement + frozen_participation(sharpness)


def max_agreement(signal_index: float, sharpness_index: float) -> float:
    """Limit R of E p_l alpha_l summed over tokens, both frozen, (7.6).

    The largest scores form a Poisson process; p and alpha are two Poisson-Dirichlet
    laws on it, with x_n = sqrt(2)/n and x_b = sqrt(2)/b. R(x, x) = 1 - x.

    Parameters
    ----------
    signal_index : x_n in [0, 1); 0 for infinite signal
    sharpness_index : x_b in (0, 1)
    """
    check_real("signal_index", signal_index, at_least=0)
    check_real("sharpness_index", sharpness_index, above=0)
    require(signal_index < 1, "signal_index", "< 1", signal_index)
    require(sharpness_index < 1, "sharpness_index", "< 1", sharpness_index)
    if signal_index == 0:
        return _agreement_with_largest(sharpness_index)
    return _agreement(1 / signal_index, 1 / sharpness_index)


def asymptotic_sharpness(signal: float, read_out: float) -> float:
    """Best beta at a frozen m_v in the spiked task as L -> infinity, (8.3).

    The root of sqrt(nu) e^{beta sqrt(nu)} = m_v beta e^{beta^2} on the branch that ends
    at sqrt(nu) for m_v = 1.

    Parameters
    ----------
    signal : nu > 1
    read_out : m_v >= 1

    Raises
    ------
    ValueError
        If a number is out of range.
    """
    check_real("signal", signal, above=1)
    check_real("read_out", read_out, at_least=1)
    root = math.sqrt(signal)

    def excess(beta: float) -> float:
        """Logarithm of the ratio of the two sides."""
        return math.log(read_out * beta / root) + beta * (beta - root)

    # The excess is least at the larger zero of its derivative 1/beta + 2 beta - root.
    least = (root + math.sqrt(max(signal - 8, 0.0))) / 4
    rule = "small enough for a best sharpness to exist"
    require(excess(least) < 0 or read_out == 1, "read_out", rule, read_out)
    return root if read_out == 1 else float(optimize.brentq(excess, least, root))


def adaptive_log_reach(sharpness: float) -> float:
    """Log of the length from which adaptive temperature is off again, (8.5).

    In the dispersed phase the entropy is log L - beta^2/2, and the rule leaves weights
    alone whose entropy exceeds 5.94 nats.

    Parameters
    ----------
    sharpness : beta >= 0
    """
    check_real("sharpness", sharpness, at_least=0)
    return temperature.active_domain()[1] + sharpness**2 / 2


def _agreement_with_largest(x: float) -> float:
    """R at infinite signal: int_0^inf e^-t dt / (e^-t + t^x gamma(1 - x, t))."""
    rule = gaussian.gauss_legendre(16)
    starts = np.arange(0.0, 60.0, 0.5)
    t = (starts[:, None] + 0.5 * rule.nodes).ravel()
    weights = np.tile(0.5 * rule.weights, len(starts))
    incomplete = special.gammainc(1 - x, t) * special.gamma(1 - x)
    return float(weights @ (1 / (1 + np.exp(t) * t**x * incomplete)))


def _agreement(a: float, b: float) -> float:
    """R at 1/x_n = a, 1/x_b = b: a b int ddelta e^{-b delta} N(delta) / G(delta)."""
    least, largest = min(a, b), max(a, b)
    step = 0.12 / largest
    z = np.arange(-40 / (least - 1), 6.0, step)
    # The integrand falls like e^{-b delta} upwards and e^{a delta} downwards.
    delta = np.arange(-40 / a, 40 / b, step)[:, None]
    first, second = a * z, b * (z - delta)
    alive = -np.exp(np.minimum(first, 9.0)) - np.exp(np.minimum(second, 9.0))
    numerator = np.exp(first + second - z + alive) @ np.full_like(z, step)
    own = a * np.exp(first - z + alive) + b * np.exp(second - z + alive)
    ratio = numerator / (own @ np.full_like(z, step))
    return float(a * b * step * np.sum(ratio))


def _number(values: Float64) -> Float64 | float:
    return values if np.ndim(values) else float(values)
