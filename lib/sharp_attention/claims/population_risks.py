"""Claims about the risks that attention can reach with infinitely many samples."""

import functools
import math

import numpy as np

from sharp_attention._typing import Float64
from sharp_attention.claims import _risks
from sharp_attention.claims.registry import Measurement, declare
from sharp_attention.tasks.single_location import MaxSLR, Overlaps, SpikedSLR
from sharp_attention.theory.single_location import (
    asymptotics,
    basins,
    bayes,
    population,
)

__all__: list[str] = []

_paper = functools.partial(
    declare, paper="single-location", chapter="population-risk", confidence="A"
)
_ours = functools.partial(
    declare, paper="ours", chapter="population-risk", confidence="D"
)


@_paper(
    "softmax-attains-bayes",
    place="Proposition 4.2",
    statement="Softmax attention with k = c k*, v = v*, c = sqrt(nu) in the spiked and "
    "c = nu in the max task, attains the Bayes risk (measured: largest relative "
    "excess over four tasks).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-9,
)
def _softmax_attains_bayes() -> Measurement:
    return Measurement(_risks.excess_over_bayes())


@_ours(
    "nishimori",
    place="Proposition 4.2, proof",
    statement="At the Bayes temperature the mean weight of the token that counts is "
    "the mean sum of squared weights (measured: largest relative difference).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-10,
)
def _nishimori() -> Measurement:
    gaps = []
    for task in (SpikedSLR(2.0, 3), SpikedSLR(10.0, 100), MaxSLR(2.0, 3)):
        scale = bayes.inverse_temperature(task)
        moments = population.weight_moments(task, "softmax", scale)
        gaps.append(abs(moments.kept / moments.squares - 1))
    return Measurement(float(np.max(gaps)))


@_paper(
    "linear-rate",
    place="Corollary 4.3",
    statement="In the spiked task the least risk of linear attention falls like 1/nu "
    "(measured: exponent of nu).",
    quoted_value=-1.0,
    tolerance=1e-4,
)
def _linear_rate() -> Measurement:
    return Measurement(_risks.linear_slope())


@_paper(
    "softmax-exponential",
    place="Corollary 4.3",
    statement="In the spiked task the risk of softmax falls exponentially, like "
    "exp(-c nu) with c > 0 (measured: c at ten tokens, at least 0.1).",
    quoted_value=0.1,
    comparison="at least",
)
def _softmax_exponential() -> Measurement:
    return Measurement(_risks.softmax_rate())


@_ours(
    "softmax-rate",
    place="Corollary 4.3, constants",
    statement="The rate of softmax is c = 1/4 at every length (measured: at ten tokens "
    "between nu = 400 and 800, without the factor 1/sqrt(nu)).",
    quoted_value=0.25,
    tolerance=1e-4,
)
def _softmax_rate() -> Measurement:
    return Measurement(_risks.softmax_rate())


@_ours(
    "softmax-prefactor",
    place="Corollary 4.3, constants",
    statement="The risk of softmax is (L-1) sqrt(pi/nu)/2 exp(-nu/4) (1 - pi^2/(4 nu)) "
    "at large nu (measured: ratio at nu = 400, three tokens).",
    quoted_value=1.0,
    tolerance=2e-4,
)
def _softmax_prefactor() -> Measurement:
    risk = population.bayes_risk(SpikedSLR(400.0, 3))
    return Measurement(risk / asymptotics.softmax_tail(400.0, 3))


@_ours(
    "linear-closed-form",
    place="Corollary 4.3, constants",
    statement="The least risk of linear attention in the spiked task is given by "
    "1/E = L/(L-1) + nu/L (measured: largest relative difference from a descent in "
    "all seven overlaps).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-8,
)
def _linear_closed_form() -> Measurement:
    gaps = []
    for signal, length in ((4.0, 3), (10.0, 10)):
        start = np.array([math.sqrt(signal), 0.1, 0.1, 0.0, 1 / length, 0.0, 0.0])
        found = basins.descend(SpikedSLR(signal, length), "linear", start)
        inverse = length / (length - 1) + signal / length
        gaps.append(abs(found.risk * inverse - 1))
    return Measurement(max(gaps))


def _linear_constant() -> Measurement:
    signal = 1e8
    return Measurement(
        signal * population.minimise(SpikedSLR(signal, 10), "linear").risk
    )


_CONSTANT = (
    "The constant of the 1/nu law of linear attention is {} (measured: nu times the "
    "least risk at ten tokens and nu = 1e8)."
)

_ours(
    "linear-constant",
    place="Corollary 4.3, constants",
    statement=_CONSTANT.format("L"),
    quoted_value=10.0,
    tolerance=1e-4,
)(_linear_constant)

_paper(
    "linear-constant-as-printed",
    place="Corollary 4.3, as one secondary source prints it",
    statement=_CONSTANT.format("L/(L-1)"),
    quoted_value=10 / 9,
    tolerance=0.01,
    expected="differs",
    confidence="C",
)(_linear_constant)

_paper(
    "linear-constant-as-printed-elsewhere",
    place="Corollary 4.3, as another secondary source prints it",
    statement=_CONSTANT.format("L-1"),
    quoted_value=9.0,
    tolerance=0.01,
    expected="differs",
    confidence="C",
)(_linear_constant)


@_paper(
    "linear-fails-in-long-max-texts",
    place="Corollary 4.3",
    statement="In the max task without doubt the least risk of linear attention tends "
    "to 1, that of predicting 0, as the text grows (measured: at 10^9 tokens).",
    quoted_value=1.0,
    tolerance=1e-6,
)
def _linear_fails() -> Measurement:
    return Measurement(_risks.linear_in_max())


@_paper(
    "softmax-perfect-without-doubt",
    place="Corollary 4.3",
    statement="In the max task without doubt softmax comes as close to risk 0 as one "
    "wants at any length (measured: limit of the risk for growing keys, largest of "
    "three lengths).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-12,
)
def _softmax_perfect() -> Measurement:
    return Measurement(_risks.perfect_softmax())


@_paper(
    "random-length-spares-softmax",
    place="Corollary 4.4",
    statement="A random length costs softmax nothing: one head is the best for all "
    "lengths (measured: relative excess over the mean of the least risks).",
    quoted_value=0.0,
    tolerance=1e-10,
)
def _random_length_softmax() -> Measurement:
    return Measurement(_risks.random_length_penalty("softmax"))


@_paper(
    "random-length-hurts-linear",
    place="Corollary 4.4",
    statement="A random length hurts linear attention (measured: relative excess over "
    "the mean of the least risks, at least 0.05).",
    quoted_value=0.05,
    comparison="at least",
)
def _random_length_linear() -> Measurement:
    return Measurement(_risks.random_length_penalty("linear"))


@_paper(
    "random-length-hurts-elementwise",
    place="Corollary 4.4",
    statement="A random length hurts every element-wise attention (measured: relative "
    "excess of the best of them over the mean of the least risks, at least 0.05).",
    quoted_value=0.05,
    comparison="at least",
)
def _random_length_elementwise() -> Measurement:
    return Measurement(_risks.random_length_penalty("any"))


def _num_felt(point: list[float]) -> int:
    """Count the overlaps that the risk of softmax depends on to first order."""
    step = 1e-4
    shifts = step * np.vstack([np.eye(7), -np.eye(7)])
    heads = Overlaps(*(np.asarray(point) + shifts).T)
    risks: Float64 = np.asarray(population.risk(SpikedSLR(2.0, 3), "softmax", heads))
    derivatives = (risks[:7] - risks[7:]) / (2 * step)
    return int(np.sum(np.abs(derivatives) > 1e-6))


@_paper(
    "seven-order-parameters",
    place="order parameters",
    confidence="B",
    statement="Seven overlaps describe a head (measured: number of overlaps on which "
    "the risk of softmax depends at a generic head).",
    quoted_value=7.0,
)
def _seven() -> Measurement:
    return Measurement(_num_felt([0.9, 1.5, 0.6, 0.9, 0.2, 0.3, 0.25]))


@_paper(
    "four-on-the-manifold",
    place="order parameters",
    confidence="B",
    statement="On the manifold, where the mixed overlaps vanish, four of them are left "
    "(measured: number of overlaps on which the risk depends to first order there).",
    quoted_value=4.0,
)
def _four() -> Measurement:
    return Measurement(_num_felt([0.9, 1.5, 0.6, 0.9, 0.0, 0.0, 0.0]))
