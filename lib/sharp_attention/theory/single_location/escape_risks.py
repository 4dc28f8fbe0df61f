"""Population risks of maps that escape dispersion, spiked task, k = m k*, v = m_v v*.

With p the posterior of the place and weights α of any kind the risk is
Bayes + E ‖m_v α − p‖², slr-population (2.5).  p = softmax(√ν χ*) has no zero and knows
no length, so a map reaches the Bayes risk at every length only if m_v α = softmax.

Beyond the five activations of `population` we compute exactly

- log-n: softmax of sharpness c log L, at fixed and at random length;
- hard: the hard maximum;
- windowed: softmax over `width` of the L tokens, the needle anywhere;
- stick-breaking: tokens are independent, so that A and B are geometric sums;
- sparsemax, entmax-1.5: at two tokens, where weights depend on one difference;

and say so where there is no value: sparsemax, entmax and top-k at three tokens or more
need order statistics and are not computed here.
A = E Σ α², B = E α_ε; the risk is 1 − B² / A at the best read-out (2.2).
"""

import math
from collections.abc import Callable

import numpy as np
from scipy import optimize, special

from sharp_attention._checks import check_choice, check_integer, check_real, require
from sharp_attention._typing import Float64
from sharp_attention.numerics import gaussian
from sharp_attention.tasks.single_location import SpikedSLR
from sharp_attention.theory.single_location import population

__all__ = [
    "best_log_n",
    "best_stick_breaking",
    "best_two_tokens",
    "best_windowed",
    "hard",
    "log_n",
    "stick_breaking",
    "two_tokens",
    "windowed",
]

_SLOPES = np.geomspace(0.05, 20.0, 13)
"""Slopes and sharpnesses from which the search for the best one starts."""


def log_n(task: SpikedSLR, sharpness: float) -> float:
    """Risk of softmax(c log(L) χ*) at the best read-out for all lengths.

    Parameters
    ----------
    task : spiked; one c and one m_v serve all its lengths
    sharpness : c ≥ 0
    """
    check_real("sharpness", sharpness, at_least=0)
    kept = squares = 0.0
    for length, probability in task.length_probabilities.items():
        slope = sharpness * math.log(length)
        alone = SpikedSLR(task.signal, length)
        moments = population.weight_moments(alone, "softmax", slope)
        kept += probability * float(moments.kept)
        squares += probability * float(moments.squares)
    return _risk(task, kept, squares)


def best_log_n(task: SpikedSLR) -> tuple[float, float]:
    """Least risk of `log_n` and its sharpness c."""
    return _search(lambda c: log_n(task, c))


def hard(task: SpikedSLR) -> float:
    """Risk of all weight to the largest score, at the best read-out."""
    moments = population.weight_moments(task, "softmax", math.inf)
    return _risk(task, float(moments.kept), float(moments.squares))


def windowed(task: SpikedSLR, width: int, slope: float) -> float:
    """Risk of softmax over `width` tokens of which the needle may not be one.

    A text outside the window is one of independent Gaussian scores.

    Parameters
    ----------
    task : spiked, of one length L
    width : 1 … L
    slope : m ≥ 0

    Raises
    ------
    TypeError, ValueError
        If the window is longer than the text or the length is random.
    """
    check_integer("width", width, at_least=1)
    length = _single_length(task)
    require(width <= length, "width", f"at most {length}", width)
    seen = width / length
    inside = population.weight_moments(SpikedSLR(task.signal, width), "softmax", slope)
    outside = population.weight_moments(SpikedSLR(0.0, width), "softmax", slope)
    squares = seen * inside.squares + (1 - seen) * outside.squares
    return _risk(task, seen * float(inside.kept), float(squares))


def best_windowed(task: SpikedSLR, width: int) -> tuple[float, float]:
    """Least risk of `windowed` and its slope."""
    return _search(lambda slope: windowed(task, width, slope))


def stick_breaking(task: SpikedSLR, slope: float, offset: float = 0.0) -> float:
    """Risk of stick-breaking attention with the needle at a uniform place.

    With s = σ(m χ + offset), a_j = E s^j and k_j = E (1 − s)^j over the hay, r_j and
    q_j the same over the needle, and t keys after the needle:
    B = r_1 mean_t k_1^t and A = mean_t [a_2 Σ_{d<t} k_2^d + r_2 k_2^t
    + a_2 q_2 Σ_{t≤d<L−1} k_2^d].

    Parameters
    ----------
    task : spiked, of one length
    slope : m ≥ 0
    offset : added to every score
    """
    check_real("slope", slope, at_least=0)
    check_real("offset", offset)
    length = _single_length(task)
    rule = gaussian.trapezoid(step=min(0.25, 0.2 / max(1.0, slope)))
    hay = slope * rule.nodes + offset
    needle = hay + slope * math.sqrt(task.signal)
    a_2, k_1, k_2 = (
        float(rule.weights @ special.expit(sign * hay) ** power)
        for sign, power in ((1, 2), (-1, 1), (-1, 2))
    )
    r_1, r_2, q_2 = (
        float(rule.weights @ special.expit(sign * needle) ** power)
        for sign, power in ((1, 1), (1, 2), (-1, 2))
    )
    powers = k_2 ** np.arange(length)
    sums = np.append(0.0, np.cumsum(powers))  # Σ_{d < t} k_2^d
    after, before = sums[:length], sums[length - 1] - sums[:length]
    squares = np.mean(a_2 * after + r_2 * powers + a_2 * q_2 * before)
    kept = r_1 * np.mean(k_1 ** np.arange(length))
    return _risk(task, float(kept), float(squares))


def best_stick_breaking(task: SpikedSLR) -> tuple[float, float, float]:
    """Least risk of `stick_breaking` found, its slope and its offset."""

    def value(point: Float64) -> float:
        return stick_breaking(task, math.exp(min(point[0], 5.0)), float(point[1]))

    scale = math.sqrt(task.signal)
    starts = [(math.log(scale * f), -scale * x) for f in (0.5, 1, 2) for x in (0, 1, 3)]
    found = [
        optimize.minimize(value, start, method="Nelder-Mead", options={"xatol": 1e-5})
        for start in starts
    ]
    best = min(found, key=lambda result: float(result.fun))
    return float(best.fun), math.exp(min(best.x[0], 5.0)), float(best.x[1])


def two_tokens(signal: float, name: str, slope: float) -> float:
    """Risk of sparsemax or 1.5-entmax on texts of two tokens.

    The needle's weight f depends on the difference d ~ N(m √ν, 2 m²) of the scores
    alone: 0 below −edge, 1 above edge, smooth in between, so that Gauss-Legendre there
    and the normal law outside are exact to rounding.

    Parameters
    ----------
    signal : ν > 0
    name : "sparsemax" or "entmax-1.5"
    slope : m > 0
    """
    check_choice("name", name, _TWO_TOKENS)
    check_real("signal", signal, above=0)
    check_real("slope", slope, above=0)
    edge, weight = _TWO_TOKENS[name]
    mean, deviation = slope * math.sqrt(signal), math.sqrt(2) * slope
    low, high = ((sign * edge - mean) / deviation for sign in (-1, 1))
    low, high = max(low, -12.0), min(high, 12.0)
    below, above = special.ndtr(low), special.ndtr(-high)
    kept, squares = above, below + above
    if low < high:
        nodes, weights = gaussian.gauss_legendre(200)
        g = low + (high - low) * nodes
        density = np.exp(-(g**2) / 2) / math.sqrt(2 * math.pi)
        measure = (high - low) * weights * density
        f = weight(np.clip(mean + deviation * g, -edge, edge))
        kept += measure @ f
        squares += measure @ (f**2 + (1 - f) ** 2)
    return _risk(SpikedSLR(signal, 2), float(kept), float(squares))


def best_two_tokens(signal: float, name: str) -> tuple[float, float]:
    """Least risk of `two_tokens` and its slope."""
    return _search(lambda slope: two_tokens(signal, name, slope))


_TWO_TOKENS: dict[str, tuple[float, Callable[[Float64], Float64]]] = {
    "sparsemax": (1.0, lambda d: (1 + d) / 2),
    "entmax-1.5": (2.0, lambda d: ((d + np.sqrt(8 - d**2)) / 4) ** 2),
}
"""Difference beyond which one weight is 0, and the first weight within it."""


def _risk(task: SpikedSLR, kept: float, squares: float) -> float:
    return 1 - kept**2 / squares + task.noise**2


def _single_length(task: SpikedSLR) -> int:
    lengths = list(task.length_probabilities)
    require(len(lengths) == 1, "task", "of one length", lengths)
    return int(lengths[0])


def _search(risk: Callable[[float], float]) -> tuple[float, float]:
    """Scan, then refine between the neighbours of the best; good to 1e-10 or so."""
    values = [risk(float(slope)) for slope in _SLOPES]
    best = int(np.argmin(values))
    ends = _SLOPES[[max(best - 1, 0), min(best + 1, len(_SLOPES) - 1)]]
    found = optimize.minimize_scalar(
        lambda log_slope: risk(math.exp(log_slope)),
        bounds=np.log(ends),
        method="bounded",
        options={"xatol": 1e-6},
    )
    return float(found.fun), math.exp(float(found.x))
