"""Claims about the best temperature of a row, which the polynomial is fitted to."""

import functools

import numpy as np

from sharp_attention._typing import Float64
from sharp_attention.attention import temperature
from sharp_attention.claims.registry import Measurement, declare

__all__: list[str] = []

_ours = functools.partial(
    declare,
    paper="ours",
    place="how the polynomial was fitted",
    chapter="adaptive-temperature",
    confidence="D",
)


def _targets() -> tuple[Float64, np.ndarray, Float64]:
    """Random rows, a random target in each, and the optimal inverse temperature."""
    rng = np.random.default_rng(1)
    logits = rng.normal(scale=2.0, size=(400, 12))
    target = rng.integers(12, size=400)
    best = temperature.optimal_inverse_temperature(logits, target)
    return logits, target, np.asarray(best)


def _target_weight(logits: Float64, target: np.ndarray, beta: Float64) -> Float64:
    """Weight of the target under softmax(beta · logits), in NumPy."""
    scaled = beta[:, None] * (logits - logits[np.arange(len(logits)), target, None])
    return np.asarray(1.0 / np.exp(scaled).sum(axis=-1))


@_ours(
    "optimal-temperature-condition",
    statement="At the best finite inverse temperature the mean logit equals the "
    "target's (measured: largest difference on random rows).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-9,
)
def _optimal_temperature_condition() -> Measurement:
    logits, target, best = _targets()
    finite = np.isfinite(best)
    logits, target, best = logits[finite], target[finite], best[finite]
    gaps = logits - logits[np.arange(len(logits)), target, None]
    weights = np.exp(best[:, None] * gaps)
    means = (weights * gaps).sum(axis=-1) / weights.sum(axis=-1)
    return Measurement(float(np.abs(means).max()))


@_ours(
    "optimal-temperature-is-best",
    statement="No inverse temperature of a fine grid gives the target more weight "
    "than the solution of the condition (measured: largest gain).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-12,
)
def _optimal_temperature_is_best() -> Measurement:
    logits, target, best = _targets()
    finite = np.isfinite(best)
    logits, target, best = logits[finite], target[finite], best[finite]
    attained = _target_weight(logits, target, best)
    grid = [
        _target_weight(logits, target, best + step)
        for step in np.linspace(-1.0, 1.0, 81)
    ]
    return Measurement(float(np.max(np.array(grid) - attained)))


@_ours(
    "optimum-is-finite-inside-only",
    statement="The best inverse temperature is infinite for the largest logit, minus "
    "infinite for the smallest and finite for all others, so that only rows whose "
    "true winner is not in front can enter the fit (measured: exceptions).",
    quoted_value=0.0,
)
def _optimum_is_finite_inside_only() -> Measurement:
    logits, target, best = _targets()
    rank = (logits < logits[np.arange(len(logits)), target, None]).sum(axis=-1)
    want = np.select([rank == 11, rank == 0], [np.inf, -np.inf], 0.0)
    found = np.where(np.isfinite(best), 0.0, best)
    return Measurement(float(np.sum(found != want)))


@_ours(
    "optimum-negative-below-the-mean",
    statement="The best inverse temperature is negative exactly if the target's logit "
    "lies below the plain mean of the row (measured: exceptions).",
    quoted_value=0.0,
)
def _optimum_negative_below_the_mean() -> Measurement:
    logits, target, best = _targets()
    below = logits[np.arange(len(logits)), target] < logits.mean(axis=-1)
    return Measurement(float(np.sum((best < 0) != below)))


@_ours(
    "optimal-temperature-example",
    statement="For logits 3, 2.8, 1 and five zeros, the second key gets its largest "
    "weight at an inverse temperature of 1.57752.",
    quoted_value=1.57752,
    tolerance=5e-6,
)
def _optimal_temperature_example() -> Measurement:
    logits = [3.0, 2.8, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    return Measurement(float(temperature.optimal_inverse_temperature(logits, 1)))


@_ours(
    "weight-at-the-optimal-temperature",
    statement="In that example the best temperature lifts the weight of the second key "
    "from 0.3716 to 0.4016 (measured: the latter).",
    quoted_value=0.4016,
    tolerance=5e-5,
)
def _weight_at_the_optimal_temperature() -> Measurement:
    logits = np.array([[3.0, 2.8, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]])
    best = temperature.optimal_inverse_temperature(logits[0], 1)
    weight = _target_weight(logits, np.array([1]), np.array([best]))
    return Measurement(float(weight[0]))
