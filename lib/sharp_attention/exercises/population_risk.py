"""Exercises of the chapter on the population risk."""

from typing import Any

import numpy as np

from sharp_attention.exercises.registry import exercise

__all__ = ["least_risk"]

_RNG = np.random.default_rng(23)
_SCORES = _RNG.standard_normal((400, 3)) + 2.0 * (np.arange(3) == 0)


def _weights(scores: Any, power: float, axis: int = -1) -> Any:
    raw = np.logaddexp(0, scores) ** power
    return raw / raw.sum(axis=axis, keepdims=True)


def _risk(weights: Any) -> Any:
    return 1 - weights[:, 0].mean() ** 2 / np.mean(np.sum(weights**2, axis=-1))


def _at_teacher(scores: Any, power: float) -> Any:
    weights = _weights(scores, power)
    return 1 - 2 * weights[:, 0].mean() + np.mean(np.sum(weights**2, axis=-1))


def _not_squared(scores: Any, power: float) -> Any:
    weights = _weights(scores, power)
    return 1 - weights[:, 0].mean() / np.mean(np.sum(weights**2, axis=-1))


def _mean_of_ratios(scores: Any, power: float) -> Any:
    weights = _weights(scores, power)
    return 1 - np.mean(weights[:, 0] ** 2 / np.sum(weights**2, axis=-1))


def _mean_over_tokens(scores: Any, power: float) -> Any:
    weights = _weights(scores, power)
    return 1 - weights[:, 0].mean() ** 2 / np.mean(weights**2)


def _square_of_sum(scores: Any, power: float) -> Any:
    return 1 - _weights(scores, power)[:, 0].mean() ** 2


def _any_token(scores: Any, power: float) -> Any:
    weights = _weights(scores, power)
    return 1 - weights.mean() ** 2 / np.mean(np.sum(weights**2, axis=-1))


def _power_inside(scores: Any, power: float) -> Any:
    return _risk(_weights(power * np.asarray(scores), 1.0))


@exercise(
    "population-risk/least-risk",
    cases={
        "softplus itself": (_SCORES, 1.0),
        "the square of softplus": (_SCORES, 2.0),
        "the eighth power": (_SCORES, 8.0),
    },
    lookalikes={
        "The weights are normalised over the texts, not within each: wrong axis.": (
            lambda scores, power: _risk(_weights(scores, power, axis=0))
        ),
        "The weights of a text don't add up to 1: is the normaliser missing?": (
            lambda scores, power: _risk(np.logaddexp(0, scores) ** power)
        ),
        "This is the risk at v = v*: the read-out is not the best one.": _at_teacher,
        "The mean weight of the needle enters in the wrong power.": _not_squared,
        "This is a mean of ratios; the risk has a ratio of means: "
        "one read-out serves all texts.": _mean_of_ratios,
        "A is a sum over the tokens of a text; here it is their mean.": (
            _mean_over_tokens
        ),
        "A is the mean of a sum of squares, not of the square of a sum.": (
            _square_of_sum
        ),
        "B is the weight of the needle, not of any token.": _any_token,
        "The power is on the score, inside softplus; it belongs on the outside.": (
            _power_inside
        ),
        "The sign of the scores is wrong: the needle gets the smallest weight.": (
            lambda scores, power: _risk(_weights(-np.asarray(scores), power))
        ),
    },
)
def least_risk(scores: Any, power: float) -> Any:
    """Return the risk at the best read-out of weights that go like softplus^power.

    `scores` has the shape (texts, tokens), and the first token is the needle.
    The weights of a text are proportional to softplus(score)^power; the averages A and
    B are means over the texts.
    """
    odds = np.exp(power * np.log(np.log1p(np.exp(scores))))
    weights = odds / odds.sum(axis=1)[:, None]
    A, B = np.einsum("nl,nl->", weights, weights), np.sum(weights[:, 0])
    # The parabola 1 - 2 m B + m^2 A at its lowest point m = B / A.
    readout = B / A
    return 1 - 2 * readout * B / len(scores) + readout**2 * A / len(scores)
