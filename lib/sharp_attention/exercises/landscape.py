"""Exercises of the chapter on the landscape."""

import math
from typing import Any

import numpy as np
from scipy import special

from sharp_attention.exercises.registry import exercise

__all__ = ["best_value"]

_RNG = np.random.default_rng(26)


def _texts(count: int, length: int, dim: int) -> tuple[Any, Any, Any]:
    return (
        _RNG.standard_normal((count, length, dim)),
        _RNG.standard_normal(count),
        2.0 * _RNG.standard_normal(dim),
    )


_CASES = {
    "more texts than dimensions": (*_texts(30, 3, 5), 1.0),
    "fewer texts than dimensions": (*_texts(6, 2, 10), 0.5),
}


def _features(tokens: Any, key: Any, *, axis: int = -1, scale: float = 1.0) -> Any:
    logits = scale * (tokens @ key) / math.sqrt(len(key))
    weights = special.softmax(logits, axis=axis)
    return np.einsum("nl,nld->nd", weights, tokens) / math.sqrt(len(key))


def _ridge(rows: Any, target: Any, ridge: float) -> Any:
    square = rows.T @ rows + ridge * np.eye(rows.shape[1])
    return np.linalg.lstsq(square, rows.T @ target, rcond=1e-12)[0]


def _fit(tokens: Any, target: Any, key: Any, ridge: float, **wrong: Any) -> Any:
    return _ridge(_features(tokens, key, **wrong), target, ridge)


def _plain_tokens(tokens: Any, target: Any, key: Any, ridge: float) -> Any:
    return _ridge(_features(tokens, key) * math.sqrt(len(key)), target, ridge)


@exercise(
    "landscape/best-value",
    cases=_CASES,
    lookalikes={
        "The ridge is missing.": (
            lambda tokens, target, key, ridge: _fit(tokens, target, key, 0.0)
        ),
        "The ridge is twice too strong: where do the halves of the loss go?": (
            lambda tokens, target, key, ridge: _fit(tokens, target, key, 2 * ridge)
        ),
        "The ridge is half as strong as it should be: where do the halves "
        "of the loss go?": (
            lambda tokens, target, key, ridge: _fit(tokens, target, key, ridge / 2)
        ),
        "The loss is a sum over the texts; this is the best value for their mean.": (
            lambda tokens, target, key, ridge: _fit(
                tokens, target, key, ridge * len(target)
            )
        ),
        "The values of the tokens are too large: a value is a field.": _plain_tokens,
        "The scores are too large: a score is a field.": (
            lambda tokens, target, key, ridge: _fit(
                tokens, target, key, ridge, scale=math.sqrt(len(key))
            )
        ),
        "The key is not used: all tokens weigh the same.": (
            lambda tokens, target, key, ridge: _fit(
                tokens, target, key, ridge, scale=0.0
            )
        ),
        "The weights of one place add up to 1 over all texts: wrong axis.": (
            lambda tokens, target, key, ridge: _fit(tokens, target, key, ridge, axis=0)
        ),
        "The sign of the scores is wrong.": (
            lambda tokens, target, key, ridge: _fit(
                tokens, target, key, ridge, scale=-1.0
            )
        ),
    },
)
def best_value(tokens: Any, target: Any, key: Any, ridge: float) -> Any:
    """Return the value vector with the smallest loss for a given key, softmax weights.

    `tokens` has the shape (texts, tokens, D), `target` (texts,) and `key` (D,).
    The loss is half the sum of the squared errors plus half the ridge times the
    squared length of the value.
    """
    # Brute force: stack the penalty under the texts as D more rows of a regression.
    root = math.sqrt(len(key))
    rows = []
    for text in tokens:
        odds = np.exp(text @ key / root)
        rows.append(odds / odds.sum() @ text / root)
    stacked = np.vstack([rows, math.sqrt(ridge) * np.eye(len(key))])
    answers = np.concatenate([target, np.zeros(len(key))])
    return np.linalg.lstsq(stacked, answers, rcond=None)[0]
