"""Claims about the order of activations, and the best element-wise one."""

import functools
import itertools
import math

from sharp_attention.claims.registry import Measurement, declare
from sharp_attention.tasks.single_location import MaxSLR, SpikedSLR, Task
from sharp_attention.theory.single_location import population

__all__: list[str] = []

_paper = functools.partial(
    declare,
    paper="single-location",
    place="Figure 2",
    chapter="population-risk",
    confidence="C",
)
_ours = functools.partial(
    declare,
    paper="ours",
    place="Best element-wise attention",
    chapter="population-risk",
    confidence="D",
)


@_paper(
    "activations-in-order",
    statement="Softmax is best, then normalised softplus, erf and linear attention "
    "(measured: largest ratio of a least risk to the next, spiked, three tokens, "
    "signal 2).",
    quoted_value=1.0,
    comparison="at most",
)
def _in_order() -> Measurement:
    names = ("softmax", "softplus", "erf", "linear")
    risks = [population.minimise(SpikedSLR(2.0, 3), name).risk for name in names]
    return Measurement(max(a / b for a, b in itertools.pairwise(risks)))


@_paper(
    "softmax-elementwise-linear-in-order",
    statement="Softmax is better than any element-wise attention, and the best of "
    "these is better than linear attention (measured: largest ratio of a least risk to "
    "the next, six tasks of both kinds).",
    quoted_value=1.0,
    comparison="at most",
)
def _three_in_order() -> Measurement:
    tasks: list[Task] = [MaxSLR(2.0, 3), MaxSLR(math.inf, 10)]
    tasks += [SpikedSLR(signal, n) for signal in (0.5, 10.0) for n in (2, 100)]
    ratios = []
    for task in tasks:
        bound = population.elementwise_bound(task)
        linear = population.minimise(task, "linear").risk
        ratios += [population.bayes_risk(task) / bound, bound / linear]
    return Measurement(max(ratios))


@_ours(
    "best-elementwise-in-max",
    statement="In the max task without doubt no element-wise weights have a risk below "
    "(L-1)/(2L-1) (measured: largest relative difference of the bound).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-9,
)
def _best_elementwise() -> Measurement:
    gaps = []
    for length in (2, 5, 1000):
        bound = population.elementwise_bound(MaxSLR(math.inf, length))
        gaps.append(abs(bound * (2 * length - 1) / (length - 1) - 1))
    return Measurement(max(gaps))


@_ours(
    "best-elementwise-rate",
    statement="In the spiked task the best element-wise risk falls like exp(-nu/8), at "
    "half the rate of softmax (measured: rate between nu = 400 and 800, two tokens).",
    quoted_value=0.125,
    tolerance=1e-4,
)
def _best_elementwise_rate() -> Measurement:
    logs = [
        math.log(population.elementwise_bound(SpikedSLR(x, 2)) * math.sqrt(x))
        for x in (400.0, 800.0)
    ]
    return Measurement((logs[0] - logs[1]) / 400)
