"""The smallest risk that each activation can reach, and the head that reaches it.

All minima lie on the manifold at k = m_k k*, v = m_v v*: proved for linear attention
(slr-population 5.1) and for softmax, which attains the Bayes risk; for the others noise
in k never helped, and searches over all seven overlaps returned to it (5.4).
m_v = B / A is elementary (2.2), so that one or two numbers remain.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import optimize

from sharp_attention._checks import check_choice, require
from sharp_attention._typing import ArrayLike, Float64
from sharp_attention.tasks.single_location import (
    Overlaps,
    SpikedSLR,
    Task,
    check_task,
)
from sharp_attention.theory.single_location import averages, bayes, heads, linear
from sharp_attention.theory.single_location.elementwise import LARGEST_WEIGHT
from sharp_attention.theory.single_location.elementwise_optimum import (
    best_slope_and_offset,
)

__all__ = ["ACTIVATIONS", "PARAMETERS", "PopulationOptimum", "minimise"]

PARAMETERS = {
    "softmax": None,
    "linear": None,
    "erf": "offset",
    "softplus": None,
    "sigmoid": "bias",
}
"""Every activation with the name of its parameter, as in `attention.activations`."""

ACTIVATIONS = tuple(PARAMETERS)

# Relative errors of closed forms and of the finest quadrature.
ROUNDING = 2e-14

# Softplus is searched up to this slope and then at infinity.
STEEPEST = 48.0

# At these signals its search takes ten seconds, and half a minute or more.
LARGEST_SPIKED, LARGEST_MAX = 1000.0, 20.0

# The risk may approach its limit at infinity from below, so that some key longer than
# that is better than the limit by next to nothing (at most 6e-7 where we looked, at
# L = 30 and infinite signal; 2e-8 in the spiked task): a finite key must gain more.
FLAT = 1e-7


@dataclass(frozen=True)
class PopulationOptimum:
    """The best head of an activation on a task.

    Attributes
    ----------
    risk : smallest risk, or its infimum, label noise included
    overlaps : of the head that attains it; m_k = q_k = infinity where it is approached
        as the key grows along k*
    parameters : {"offset": ...} for erf, {"bias": ...} for sigmoid, else empty
    attained : whether a head of finite length attains the risk; False where none of
        moderate length gains more than 1e-7 over the limit
    error : estimated absolute error of the risk at these overlaps, from a finer grid
    """

    risk: float
    overlaps: Overlaps
    parameters: Mapping[str, float]
    attained: bool
    error: float


def minimise(task: Task, activation: str) -> PopulationOptimum:
    """Minimise the population risk over k, v and the activation's parameter.

    Parameters
    ----------
    task : SpikedSLR or MaxSLR; one head serves all lengths of a random length
    activation : "softmax", "linear", "erf", "softplus" or "sigmoid"

    Returns
    -------
    PopulationOptimum; for erf, softplus and sigmoid the best of a search from many
    starts, for the others exact

    Raises
    ------
    ValueError
        If the activation is unknown, or the signal so large that the search would not
        be affordable: finite and above 20 for softplus in the max task, above 1000 for
        softplus and 40,000 for erf and sigmoid in the spiked one, and above 1e100.
    """
    check_task(task)
    check_choice("activation", activation, ACTIVATIONS)
    if activation == "linear":
        return _linear(task)
    if activation == "softmax":
        return _softmax(task)
    if activation in LARGEST_WEIGHT:
        m_k, offset = best_slope_and_offset(task, activation)
        return _optimum(task, activation, m_k, offset)
    return _optimum(task, activation, _best_softplus_slope(task))


def _linear(task: Task) -> PopulationOptimum:
    if isinstance(task, SpikedSLR):
        risk, m_k, m_v = linear.best_spiked(task.signal, task.mean_length)
    else:
        lengths = task.length_probabilities.items()
        score = sum(p * bayes.mean_score(task.signal, n) for n, p in lengths)
        risk, m_k, m_v = linear.best_max(score, task.mean_length)
    overlaps = Overlaps(m_k, m_k**2, m_v, m_v**2)
    error = ROUNDING * max(risk, 1.0)
    return PopulationOptimum(risk + task.noise**2, overlaps, {}, True, error)


def _softmax(task: Task) -> PopulationOptimum:
    risk = bayes.bayes_risk(task)
    scale = bayes.inverse_temperature(task)
    is_attained = math.isfinite(scale)
    if task.max_length == 1:
        scale, is_attained = 0.0, True  # a single token has weight 1 for every key
    overlaps = Overlaps(scale, scale**2, 1.0, 1.0)
    return PopulationOptimum(risk, overlaps, {}, is_attained, 10 * ROUNDING * risk)


def _optimum(
    task: Task, activation: str, m_k: float, offset: float = 0.0
) -> PopulationOptimum:
    """Complete the best key by the best value, and estimate the error."""

    def best(refinement: float) -> tuple[float, float]:
        moments = averages.over_lengths(
            task, activation, m_k, offset=offset, refinement=refinement
        )
        m_v, risk = heads.best_read_out(moments)
        return float(m_v), float(risk)

    (m_v, risk), (_, finer) = best(1.0), best(1.5)
    m_v /= LARGEST_WEIGHT.get(activation, 1.0)
    name = PARAMETERS[activation]
    return PopulationOptimum(
        risk=risk + task.noise**2,
        overlaps=Overlaps(m_k, m_k**2, m_v, m_v**2),
        parameters={name: offset} if name else {},
        attained=math.isfinite(m_k),
        error=3 * abs(finer - risk) + ROUNDING,
    )


def _best_softplus_slope(task: Task) -> float:
    """Return the best m_k of softplus, infinity where no finite one is as good."""
    if task.signal == 0 or task.max_length == 1:
        return 0.0
    is_spiked = isinstance(task, SpikedSLR)
    largest = LARGEST_SPIKED if is_spiked else LARGEST_MAX
    rule = f"at most {largest:g} for softplus"
    rule += " in the spiked task" if is_spiked else " in the max task, or infinite"
    is_searched = task.signal <= largest or math.isinf(task.signal)
    require(is_searched, "signal", rule, task.signal)

    def risk(slopes: ArrayLike) -> Float64:
        moments = averages.over_lengths(task, "softplus", slopes)
        return heads.best_read_out(moments)[1]

    # Softplus grows half as fast as softmax at 0: start below the softmax slope.
    lowest = 0.5 * min(bayes.inverse_temperature(task), 1.0)
    count = 2 + math.ceil(3 * math.log(STEEPEST / lowest))
    slopes = np.append(np.geomspace(lowest, STEEPEST, count), math.inf)
    values = risk(slopes)
    best = int(np.argmin(values[:-1]))
    if best == count - 1 and values[best] > values[-1] - FLAT:
        return math.inf  # it falls all the way
    above = slopes[best + 1] if best + 1 < count else 2 * STEEPEST
    bounds = np.log([slopes[max(best - 1, 0)], above])
    found = optimize.minimize_scalar(
        lambda log_slope: float(risk(math.exp(log_slope))),
        bounds=bounds,
        method="bounded",
        options={"xatol": 1e-5},
    )
    return math.exp(found.x) if found.fun < values[-1] - FLAT else math.inf
