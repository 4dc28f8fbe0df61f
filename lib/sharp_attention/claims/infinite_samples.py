"""Claims of a popular account: section A of the second seed note, infinite samples."""

import functools
import math

from sharp_attention.claims import _risks
from sharp_attention.claims.registry import Measurement, declare
from sharp_attention.tasks.single_location import SpikedSLR
from sharp_attention.theory.single_location import asymptotics, bayes, population

__all__: list[str] = []

_note = functools.partial(
    declare,
    paper="single-location",
    place="second seed note, A",
    chapter="population-risk",
    confidence="B",
)


@_note(
    "note-softmax-attains-bayes",
    statement="With infinitely many samples softmax attains the Bayes risk, the least "
    "possible error (measured: largest relative excess over four tasks).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-9,
)
def _attains_bayes() -> Measurement:
    return Measurement(_risks.excess_over_bayes())


@_note(
    "note-softmax-always-finds",
    statement="With infinitely many samples softmax finds the needle every time "
    "(measured: its least risk at ten tokens and signal 10; where the signal is finite "
    "even the best reader errs).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-3,
    expected="differs",
    confidence="C",
)
def _always_finds() -> Measurement:
    return Measurement(population.minimise(SpikedSLR(10.0, 10), "softmax").risk)


@_note(
    "note-softmax-silences-hay",
    statement="Softmax presses the weight of irrelevant tokens almost to zero "
    "(measured: their mean total weight at the Bayes temperature, ten tokens, signal "
    "50).",
    quoted_value=1e-3,
    comparison="at most",
)
def _silences_hay() -> Measurement:
    task = SpikedSLR(50.0, 10)
    scale = bayes.inverse_temperature(task)
    return Measurement(
        1 - float(population.weight_moments(task, "softmax", scale).kept)
    )


@_note(
    "note-linear-misses-bayes",
    statement="Linear attention can't attain the Bayes risk and always makes errors "
    "(measured: smallest ratio of its least risk to the Bayes risk, three tokens, "
    "signals 0.5 to 50).",
    quoted_value=1.05,
    comparison="at least",
)
def _linear_misses() -> Measurement:
    tasks = [SpikedSLR(signal, 3) for signal in (0.5, 2.0, 10.0, 50.0)]
    ratios = [
        population.minimise(task, "linear").risk / population.bayes_risk(task)
        for task in tasks
    ]
    return Measurement(min(ratios))


@_note(
    "note-long-texts-drown-linear",
    statement="When the text is long the signal of linear attention drowns (measured: "
    "its least risk at signal 10 and 10^6 tokens; there softmax is lost as well, but "
    "only beyond about exp(nu/2) tokens).",
    quoted_value=1.0,
    tolerance=1e-3,
)
def _long_texts() -> Measurement:
    return Measurement(population.minimise(SpikedSLR(10.0, 10**6), "linear").risk)


@_note(
    "note-linear-rate",
    statement="In the spiked task the error of linear attention falls like 1/nu "
    "(measured: exponent of nu).",
    quoted_value=-1.0,
    tolerance=1e-4,
)
def _linear_rate() -> Measurement:
    return Measurement(_risks.linear_slope())


@_note(
    "note-softmax-rate",
    statement="In the spiked task the error of softmax falls exponentially (measured: "
    "rate c of exp(-c nu), at least 0.1).",
    quoted_value=0.1,
    comparison="at least",
)
def _softmax_rate() -> Measurement:
    return Measurement(_risks.softmax_rate())


@_note(
    "note-linear-fails-in-max",
    statement="In the max task the error of linear attention tends to 1 as the text "
    "grows: it fails completely (measured: at 10^9 tokens without doubt).",
    quoted_value=1.0,
    tolerance=1e-6,
)
def _linear_fails() -> Measurement:
    return Measurement(_risks.linear_in_max())


@_note(
    "note-softmax-perfect-in-max",
    statement="In the max task softmax predicts perfectly at every length (measured: "
    "limit of the risk for growing keys, without doubt, largest of three lengths).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-12,
)
def _softmax_perfect() -> Measurement:
    return Measurement(_risks.perfect_softmax())


@_note(
    "note-normalisation-is-the-cause",
    statement="The gap comes from normalisation together with the exponential: "
    "normalised softplus, without the exponential, falls only like 1/nu (measured: nu "
    "times its risk at the best slope over kappa (L-1), two tokens, nu = 10^5; the "
    "approach is like 1/sqrt(nu)).",
    quoted_value=1.0,
    tolerance=0.03,
)
def _normalisation() -> Measurement:
    signal, (kappa, slope) = 1e5, asymptotics.softplus_constant()
    moments = population.weight_moments(SpikedSLR(signal, 2), "softplus", slope)
    risk = 1 - float(moments.kept) ** 2 / float(moments.squares)
    return Measurement(signal * risk / kappa)


@_note(
    "note-normalisation-doubles-the-signal",
    statement="The exponential does not need normalisation: the best element-wise "
    "weights of two tokens have the Bayes risk of half the signal (measured: largest "
    "relative difference).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-9,
)
def _half_the_signal() -> Measurement:
    gaps = []
    for signal in (1.0, 20.0, 200.0):
        bound = population.elementwise_bound(SpikedSLR(signal, 2))
        gaps.append(abs(bound / population.bayes_risk(SpikedSLR(signal / 2, 2)) - 1))
    return Measurement(max(gaps))


@_note(
    "note-random-length-hurts-linear",
    statement="Linear attention gets worse when the length varies (measured: relative "
    "excess over the mean of the least risks, at least 0.05).",
    quoted_value=0.05,
    comparison="at least",
)
def _random_length() -> Measurement:
    return Measurement(_risks.random_length_penalty("linear"))


@_note(
    "note-noise-hurts-linear-more",
    statement="Linear attention gets worse than softmax when there is noise, read as "
    "noise of the labels (measured: what noise of variance 1 adds to its least risk, "
    "less what it adds to that of softmax; with infinitely many samples it adds the "
    "same to both).",
    quoted_value=1e-6,
    comparison="at least",
    expected="differs",
    confidence="C",
)
def _noise() -> Measurement:
    added = []
    for activation in ("linear", "softmax"):
        noisy, quiet = (
            population.minimise(SpikedSLR(5.0, 3, noise), activation).risk
            for noise in (1.0, 0.0)
        )
        added.append(noisy - quiet)
    return Measurement(math.fsum([added[0], -added[1]]))
