"""What several claims on population risks measure."""

import math
from dataclasses import replace

from sharp_attention.tasks.single_location import MaxSLR, Overlaps, SpikedSLR, Task
from sharp_attention.theory.single_location import bayes, population

__all__ = [
    "UNIFORM",
    "excess_over_bayes",
    "linear_in_max",
    "linear_slope",
    "perfect_softmax",
    "random_length_penalty",
    "softmax_rate",
]

UNIFORM = {1: 1 / 3, 2: 1 / 3, 3: 1 / 3}
"""A random length."""

TASKS: tuple[Task, ...] = (
    SpikedSLR(2.0, 3),
    SpikedSLR(10.0, 100),
    MaxSLR(2.0, 3),
    SpikedSLR(5.0, UNIFORM),
)


def excess_over_bayes() -> float:
    """Largest relative excess of the head k = c k*, v = v* over the Bayes risk."""
    ratios = []
    for task in TASKS:
        risk = float(population.risk(task, "softmax", bayes.bayes_overlaps(task)))
        ratios.append(abs(risk / population.bayes_risk(task) - 1))
    return max(ratios)


def linear_slope() -> float:
    """Exponent of nu in the least risk of linear attention, spiked, ten tokens."""
    risks = [
        population.minimise(SpikedSLR(signal, 10), "linear").risk
        for signal in (1e6, 1e8)
    ]
    return math.log(risks[1] / risks[0]) / math.log(100.0)


def softmax_rate() -> float:
    """Rate c of e^{-c nu} / sqrt(nu) in the Bayes risk, spiked, ten tokens."""
    logs = [
        math.log(population.bayes_risk(SpikedSLR(signal, 10)) * math.sqrt(signal))
        for signal in (400.0, 800.0)
    ]
    return (logs[0] - logs[1]) / 400


def linear_in_max() -> float:
    """Least risk of linear attention in the max task without doubt, 10**9 tokens."""
    return population.minimise(MaxSLR(math.inf, 10**9), "linear").risk


def perfect_softmax() -> float:
    """Risk of ever sharper softmax in the max task without doubt, three lengths."""
    sharp = Overlaps(math.inf, math.inf, 1.0, 1.0)
    risks = [
        float(population.risk(MaxSLR(math.inf, length), "softmax", sharp))
        for length in (2, 10, 10**6)
    ]
    return max(risks)


def random_length_penalty(activation: str) -> float:
    """Least risk at a random length over the mean of least risks, minus one.

    Smallest over two signals in the spiked task. "any" stands for the best of all
    element-wise weights.
    """
    penalties = []
    for signal in (2.0, 20.0):
        task = SpikedSLR(signal, UNIFORM)
        single = [replace(task, lengths=length) for length in UNIFORM]
        if activation == "any":
            risks = [population.elementwise_bound(one) for one in (task, *single)]
        else:
            best = [population.minimise(one, activation) for one in (task, *single)]
            risks = [optimum.risk for optimum in best]
        penalties.append(3 * risks[0] / math.fsum(risks[1:]) - 1)
    return min(penalties)
