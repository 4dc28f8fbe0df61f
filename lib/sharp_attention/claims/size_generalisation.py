"""Claims about heads that are used at other lengths than they were trained at."""

import functools
import math

import numpy as np

from sharp_attention.claims.registry import Measurement, declare
from sharp_attention.tasks.single_location import MaxSLR, SpikedSLR, Task
from sharp_attention.theory.single_location import phases

__all__: list[str] = []

_ours = functools.partial(
    declare, paper="ours", chapter="size-generalisation", confidence="D"
)
_SPIKED = SpikedSLR(10.0, 64)

# Weights are summed in single precision.
ROUNDING = 1e-6


@_ours(
    "best-sharpness-knows-no-length",
    place="Size generalisation",
    statement="In the spiked task the best sharpness of a head with v = v* is sqrt(nu) "
    "at every length (measured: largest relative difference at 16 and 65,536 tokens).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-4,
)
def _best_sharpness() -> Measurement:
    gaps = [
        abs(phases.best_sharpness(SpikedSLR(10.0, length), 1.0) / math.sqrt(10.0) - 1)
        for length in (16, 2**16)
    ]
    return Measurement(max(gaps))


@_ours(
    "frozen-read-out-sharpness",
    place="Size generalisation",
    statement="In the spiked task a head with a short key is best sharpened, on long "
    "texts, to the root of sqrt(nu) exp(beta sqrt(nu)) = m_v beta exp(beta^2) "
    "(measured: best sharpness at 2^30 tokens over the root, nu = 10, m_v = 1.085).",
    quoted_value=1.0,
    tolerance=0.002,
)
def _frozen_read_out() -> Measurement:
    best = phases.best_sharpness(SpikedSLR(10.0, 2**30), 1.085)
    return Measurement(best / phases.asymptotic_sharpness(10.0, 1.085))


def _changes(task: Task, sharpness: float) -> np.ndarray:
    return phases.sample_changes(task, sharpness, num_samples=4_000)


@_ours(
    "adaptive-harms-bayes-tuned-spiked",
    place="Adaptive temperature, verdict 1",
    statement="Adaptive temperature can only harm a head with k = sqrt(nu) k*, "
    "v = v* in the spiked task, on no text it helps (measured: smallest change of the "
    "expected loss over 4,000 texts of 64 tokens).",
    quoted_value=0.0,
    comparison="at least",
    tolerance=ROUNDING,
)
def _bayes_tuned_spiked() -> Measurement:
    return Measurement(float(_changes(_SPIKED, math.sqrt(10.0)).min()))


@_ours(
    "adaptive-harms-bayes-tuned-max",
    place="Adaptive temperature, verdict 1",
    statement="Adaptive temperature can only harm a head with k = nu k*, v = v* in "
    "the max task, on no text it helps (measured: smallest change of the expected "
    "loss over 4,000 texts of 64 tokens).",
    quoted_value=0.0,
    comparison="at least",
    tolerance=ROUNDING,
)
def _bayes_tuned_max() -> Measurement:
    return Measurement(float(_changes(MaxSLR(6.0, 64), 6.0).min()))


def _bounded(max_sharpness: float) -> Measurement:
    """Change of a head trained at 16 tokens and tested at 64, with five errors."""
    head = phases.train(SpikedSLR(10.0, 16), max_sharpness)
    mean, error = phases.adaptive_change(
        _SPIKED, head.sharpness, head.read_out, num_samples=4_000
    )
    return Measurement(mean, (mean - 5 * error, mean + 5 * error))


@_ours(
    "adaptive-helps-clearly-soft",
    place="Adaptive temperature, verdict 2",
    statement="Adaptive temperature helps a head with a bounded key that is clearly "
    "too soft (measured: change of the risk at 64 tokens, spiked, nu = 10, trained at "
    "16 tokens with sharpness 1.5; five standard errors).",
    quoted_value=0.0,
    comparison="at most",
)
def _clearly_soft() -> Measurement:
    return _bounded(1.5)


@_ours(
    "adaptive-harms-slightly-soft",
    place="Adaptive temperature, verdict 2",
    statement="It harms a head that is only a little too soft (measured: the same with "
    "sharpness 2.8; the Bayes sharpness is 3.16).",
    quoted_value=0.0,
    comparison="at least",
)
def _slightly_soft() -> Measurement:
    return _bounded(2.8)


@_ours(
    "adaptive-helps-without-doubt",
    place="Adaptive temperature, verdict 3",
    statement="In the max task without doubt adaptive temperature helps every head "
    "with v = v* or changes nothing, on every text (measured: largest change of the "
    "loss over 4,000 texts of 64 tokens, three sharpnesses).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=ROUNDING,
)
def _without_doubt() -> Measurement:
    task = MaxSLR(math.inf, 64)
    changes = [_changes(task, sharpness).max() for sharpness in (0.5, 3.0, 10.0)]
    return Measurement(float(max(changes)))


@_ours(
    "adaptive-switches-itself-off",
    place="Adaptive temperature, reach",
    statement="On long texts the entropy of a dispersed head exceeds 5.94 nats, and "
    "adaptive temperature changes nothing (measured: largest change over 50 texts of "
    "twice the length exp(5.94 + beta^2/2), beta = 1).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=ROUNDING,
)
def _switches_off() -> Measurement:
    length = round(2 * math.exp(phases.adaptive_log_reach(1.0)))
    changes = phases.sample_changes(SpikedSLR(1.0, length), 1.0, num_samples=50)
    return Measurement(float(np.abs(changes).max()))
