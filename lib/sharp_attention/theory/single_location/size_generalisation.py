"""Train a softmax head at one length, use it at another.

The head is k = beta k*, v = m_v v* with a bounded key, beta <= K; slr-population,
section 8. With the averages A and B of its weights at length L its risk is

    1 - 2 m_v B_L(beta) + m_v^2 A_L(beta),

exact at any length. Which sharpness would be best at another length depends on the
task: always sqrt(nu) in the spiked task at m_v = 1, more and more in the max task.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy import optimize, special

from sharp_attention._checks import check_integer, check_real, require
from sharp_attention._typing import ArrayLike, Float64
from sharp_attention.tasks.single_location import Overlaps, Task, check_task
from sharp_attention.theory.single_location import bayes, population

__all__ = [
    "TrainedHead",
    "asymptotic_sharpness",
    "at_length",
    "best_read_out",
    "best_sharpness",
    "frozen_risk",
    "length_rescaling",
    "nearly_hard_risk",
    "train",
]

# Best sharpnesses are searched between these factors of a typical one.
SOFTEST, SHARPEST = 0.1, 4.0
NUM_SCANNED = 9

# Doubles hold the number of tokens.
LONGEST = 10**300


@dataclass(frozen=True)
class TrainedHead:
    """Softmax head k = sharpness k*, v = read_out v*.

    Attributes
    ----------
    sharpness : beta
    read_out : m_v
    risk : on the task that it was trained on, label noise included
    """

    sharpness: float
    read_out: float
    risk: float


def train(task: Task, max_sharpness: float = math.inf) -> TrainedHead:
    """Best softmax head with a bounded key, at infinitely many samples.

    Parameters
    ----------
    task : its length is the length of training
    max_sharpness : K > 0; the Bayes sharpness is used where it is smaller

    Returns
    -------
    TrainedHead with its read-out at the optimum B / A

    Raises
    ------
    ValueError
        If `max_sharpness` is not positive, or infinite where the best is (max task at
        infinite signal).
    """
    check_task(task)
    check_real("max_sharpness", max_sharpness, above=0, allow_infinite=True)
    sharpness = min(float(max_sharpness), bayes.inverse_temperature(task))
    rule = "finite where the signal of the max task is infinite"
    require(math.isfinite(sharpness), "max_sharpness", rule, max_sharpness)
    read_out = best_read_out(task, sharpness)
    return TrainedHead(sharpness, read_out, float(_risk(task, sharpness, read_out)))


def best_read_out(task: Task, sharpness: float) -> float:
    """Best m_v = B / A at a given sharpness, (2.2).

    Parameters
    ----------
    task : SpikedSLR or MaxSLR
    sharpness : beta >= 0

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.
    """
    check_task(task)
    check_real("sharpness", sharpness, at_least=0)
    moments = population.weight_moments(task, "softmax", sharpness)
    return float(moments.kept / moments.squares)


def frozen_risk(head: TrainedHead, task: Task) -> float:
    """Risk of a trained head on a task of any length, (8.1), label noise included."""
    if not isinstance(head, TrainedHead):
        raise TypeError(f"head must be a TrainedHead; received {head!r}")
    check_task(task)
    return float(_risk(task, head.sharpness, head.read_out))


def at_length(task: Task, length: int) -> Task:
    """Return the same task at another length."""
    check_task(task)
    return replace(task, lengths=length)


def best_sharpness(task: Task, read_out: float) -> float:
    """Sharpness of least risk at a frozen read-out.

    Parameters
    ----------
    task : of the test
    read_out : m_v > 0

    Returns
    -------
    beta, good to about 1e-6 relative, from a search up to four times the Bayes
    sharpness or, at infinite signal, four times 1 + sqrt(2 log L); infinity where the
    hard maximum is better than all of them

    Raises
    ------
    ValueError
        If `read_out` is not positive, or the signal is 0, where nothing is to be
        found.
    """
    check_task(task)
    check_real("read_out", read_out, above=0)
    require(task.signal > 0, "signal", "> 0", task.signal)
    typical = bayes.inverse_temperature(task)
    if math.isinf(typical):
        typical = 1 + math.sqrt(2 * math.log(task.max_length))
    scanned = typical * np.geomspace(SOFTEST, SHARPEST, NUM_SCANNED)
    values = np.asarray(_risk(task, scanned, read_out))
    best = int(np.argmin(values))
    bounds = np.log(scanned[[max(best - 1, 0), min(best + 1, NUM_SCANNED - 1)]])
    found = optimize.minimize_scalar(
        lambda log_beta: float(_risk(task, math.exp(log_beta), read_out)),
        bounds=bounds,
        method="bounded",
        options={"xatol": 1e-6},
    )
    hard = float(_risk(task, math.inf, read_out))
    return math.exp(found.x) if found.fun < hard else math.inf


def asymptotic_sharpness(signal: float, read_out: float) -> float:
    """Best beta at a frozen m_v in the spiked task as L -> infinity, (8.3).

    The root of sqrt(nu) e^{beta sqrt(nu)} = m_v beta e^{beta^2} on the branch that ends
    at sqrt(nu) for m_v = 1.

    Parameters
    ----------
    signal : nu > 0
    read_out : m_v >= 1, up to where the branch ends (above a signal of 8)

    Raises
    ------
    ValueError
        If a number is out of range.
    """
    check_real("signal", signal, above=0)
    check_real("read_out", read_out, at_least=1)
    root = math.sqrt(signal)

    def excess(beta: float) -> float:
        """Logarithm of the ratio of the two sides."""
        return math.log(read_out * beta / root) + beta * (beta - root)

    if read_out == 1:
        return root
    # The excess rises up to a signal of 8; then from the larger zero of its derivative
    # 1/beta + 2 beta - root on.
    lowest = root / (2 * read_out) * math.exp(-signal)
    if signal > 8:
        lowest = (root + math.sqrt(signal - 8)) / 4
    rule = "small enough for a best sharpness near sqrt(signal) to exist"
    require(excess(lowest) < 0, "read_out", rule, read_out)
    return float(optimize.brentq(excess, lowest, root))


def length_rescaling(trained_length: int, length: int) -> float:
    """Factor on beta that keeps b = beta / sqrt(log L), (8.4).

    In the max task at infinite signal it keeps A and B to leading order.

    Parameters
    ----------
    trained_length : L_0 >= 2, of any size
    length : L >= 1, of any size

    Returns
    -------
    sqrt(log L / log L_0)
    """
    check_integer("trained_length", trained_length, at_least=2)
    check_integer("length", length, at_least=1)
    return math.sqrt(math.log(length) / math.log(trained_length))


def nearly_hard_risk(length: int, sharpness: float, read_out: float) -> float:
    """Risk in the max task at infinite signal and large beta, to order 1 / beta, (8.4).

    (m_v - 1)^2 + f_0 / beta m_v (2 log 2 - m_v), f_0 the density at zero of the gap
    between the two largest scores: sharper is better only up to m_v = 2 log 2.

    Parameters
    ----------
    length : L from 2 to 1e300
    sharpness : beta > 0, well above f_0
    read_out : m_v
    """
    check_integer("length", length, at_least=2)
    require(length <= LONGEST, "length", "at most 1e300", length)
    check_real("sharpness", sharpness, above=0)
    check_real("read_out", read_out)
    # The two largest scores are near sqrt(2 log L) and vary by its inverse.
    largest = math.sqrt(2 * math.log(length))
    step = min(0.02, 0.2 / largest)
    g = np.linspace(-10.0, 9.5 + largest, math.ceil((19.5 + largest) / step) + 1)
    log_pairs = math.log(length) + math.log(length - 1) - math.log(2 * math.pi)
    log_density = log_pairs - g**2 + float(length - 2) * special.log_ndtr(g)
    gap = float((g[1] - g[0]) * np.sum(np.exp(log_density)))
    first_order = gap / sharpness * read_out * (2 * math.log(2) - read_out)
    return (read_out - 1) ** 2 + first_order


def _risk(task: Task, sharpness: ArrayLike, read_out: float) -> Float64 | float:
    beta = np.asarray(sharpness, np.float64)
    m_v = np.full_like(beta, read_out)
    return population.risk(task, "softmax", Overlaps(beta, beta**2, m_v, m_v**2))
