"""Claims about long texts: phases, critical signal, window and exponents."""

import functools
import math

import numpy as np
from scipy import optimize

from sharp_attention.claims.registry import Measurement, declare
from sharp_attention.tasks.single_location import MaxSLR, Overlaps, SpikedSLR
from sharp_attention.theory.single_location import phases, population

__all__: list[str] = []

_ours = functools.partial(
    declare,
    paper="ours",
    chapter="phase-transition",
    confidence="D",
)
LONGEST = 60
LOG_LENGTH = LONGEST * math.log(10)


def _bayes_risk(signal: float) -> float:
    return population.bayes_risk(SpikedSLR(signal, 10**LONGEST))


@_ours(
    "critical-signal",
    place="Critical signal",
    statement="In the spiked task the Bayes risk passes 1/2 at the signal nu = 2 log L "
    "(measured: signal at which it does, over 2 log L, at 10^60 tokens).",
    quoted_value=1.0,
    tolerance=0.01,
)
def _critical_signal() -> Measurement:
    critical = phases.critical_signal(10**LONGEST)
    half = optimize.brentq(
        lambda signal: _bayes_risk(signal) - 0.5, 1.5 * LOG_LENGTH, 2.5 * LOG_LENGTH,
        rtol=1e-6,
    )  # fmt: skip
    return Measurement(half / critical)


@_ours(
    "critical-window",
    place="Critical window",
    statement="At sqrt(nu) = sqrt(2 log L) + h the Bayes risk tends to Q(h), a window "
    "of constant width (measured: largest difference over h = -2, 0, 2 at 10^60 "
    "tokens; the first correction is 0.017).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=0.02,
)
def _critical_window() -> Measurement:
    edge = math.sqrt(2 * LOG_LENGTH)
    offsets = np.array([-2.0, 0.0, 2.0])
    exact = np.array([_bayes_risk(root**2) for root in edge + offsets])
    return Measurement(float(np.abs(exact - phases.window_risk(offsets)).max()))


@_ours(
    "corrected-window",
    place="Critical window",
    statement="The first correction to the window takes the argument of Q to h - "
    "h^2/(2 sqrt(nu)) - log Phi(-h)/sqrt(nu) (measured: difference at h = 0 and 10^60 "
    "tokens).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=5e-4,
)
def _corrected_window() -> Measurement:
    corrected = phases.corrected_window_risk(0.0, 10**LONGEST)
    return Measurement(abs(_bayes_risk(2 * LOG_LENGTH) - float(corrected)))


def _softmax_risk(sharpness: float, signal: float) -> float:
    """Risk at v = v* on the scale of log L, at 10^40 tokens."""
    log_length = 40 * math.log(10)
    beta = sharpness * math.sqrt(log_length)
    task = SpikedSLR(signal * log_length, 10**40)
    risk = population.risk(task, "softmax", Overlaps(beta, beta**2, 1.0, 1.0))
    return float(risk)


@_ours(
    "retrieval-phase",
    place="Phases",
    statement="Above the threshold a softmax head of any sharpness of its phase finds "
    "the token (measured: largest risk of a soft and of a sharp one at 10^40 tokens).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-6,
)
def _retrieval() -> Measurement:
    points = ((1.2, 4.0), (3.0, 4.0))
    limits = [phases.limit_risk(*point) for point in points]
    risks = [_softmax_risk(*point) for point in points]
    return Measurement(max(abs(r - x) for r, x in zip(risks, limits, strict=True)))


@_ours(
    "dispersed-phase",
    place="Phases",
    statement="Below the threshold a soft head says nothing: its risk is 1 (measured: "
    "largest difference at sharpness 0.5, signal 1 and 10^40 tokens).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-6,
)
def _dispersed() -> Measurement:
    return Measurement(abs(_softmax_risk(0.5, 1.0) - phases.limit_risk(0.5, 1.0)))


@_ours(
    "glass-risk",
    place="Phases",
    statement="Below the critical signal a sharp head freezes on wrong tokens, at the "
    "risk 2 - sqrt(2)/b > 1 (measured: exact risk over it, sharpness b = 5, signal "
    "0.5, 10^40 tokens).",
    quoted_value=1.0,
    tolerance=0.01,
)
def _glass() -> Measurement:
    return Measurement(_softmax_risk(5.0, 0.5) / phases.limit_risk(5.0, 0.5))


@_ours(
    "decay-exponent",
    place="Above the transition",
    statement="At nu = c log L with c >= 8 the Bayes risk falls like L^-(c/4 - 1) "
    "(measured: slope between 10^15 and 10^30 tokens less the exponent, c = 12).",
    quoted_value=0.0,
    tolerance=0.02,
)
def _decay() -> Measurement:
    risks = [
        population.bayes_risk(SpikedSLR(12 * n * math.log(10), 10**n)) for n in (15, 30)
    ]
    slope = math.log10(risks[0] / risks[1]) / 15
    return Measurement(slope - phases.decay_exponent(12.0))


@_ours(
    "elementwise-decay-exponent",
    place="Above the transition",
    statement="The best element-wise weights have the same threshold c = 2 and the "
    "smaller exponent (c-2)^2/(8c) (measured: slope between 10^15 and 10^30 tokens "
    "less the exponent, c = 12).",
    quoted_value=0.0,
    tolerance=0.02,
)
def _elementwise_decay() -> Measurement:
    risks = [
        population.elementwise_bound(SpikedSLR(12 * n * math.log(10), 10**n))
        for n in (15, 30)
    ]
    slope = math.log10(risks[0] / risks[1]) / 15
    return Measurement(slope - phases.elementwise_decay_exponent(12.0))


@_ours(
    "kink-in-max",
    place="Max task",
    statement="In the max task with nu = n sqrt(log L) the Bayes risk tends to "
    "min(1, sqrt(2)/n), without a transition (measured: difference at n = 4 and 10^60 "
    "tokens).",
    quoted_value=0.0,
    tolerance=0.01,
)
def _kink() -> Measurement:
    exact = population.bayes_risk(MaxSLR(4 * math.sqrt(LOG_LENGTH), 10**LONGEST))
    return Measurement(exact - phases.max_limit_risk(4.0))
