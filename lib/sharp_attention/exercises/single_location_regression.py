"""Exercises of the chapter on single-location regression."""

from typing import Any

import numpy as np
from scipy import special

from sharp_attention.exercises.registry import exercise

__all__ = ["best_reader"]

_DIM = 16
_RNG = np.random.default_rng(21)
_TOKENS = _RNG.standard_normal((5, 6, _DIM))
_KEY, _VALUE = _RNG.standard_normal((2, _DIM))
_ALL = np.ones((5, 6), dtype=bool)
_SEEN = np.arange(6) < np.array([[6], [3], [1], [4], [2]])


def _predict(
    tokens: Any,
    where: Any,
    key: Any,
    value: Any,
    signal: float,
    *,
    axis: int = -1,
    scale: float = np.sqrt(_DIM),
) -> Any:
    logits = np.where(where, signal * (tokens @ key) / scale, -np.inf)
    return _mean(special.softmax(logits, axis=axis), tokens, value)


def _mean(weights: Any, tokens: Any, value: Any) -> Any:
    return np.sum(weights * (tokens @ value), axis=-1) / np.sqrt(_DIM)


def _bet(tokens: Any, where: Any, key: Any, value: Any, signal: float) -> Any:
    return _predict(tokens, where, key, value, 1e6)


def _without_sum(tokens: Any, where: Any, key: Any, value: Any, signal: float) -> Any:
    odds = np.exp(signal * (tokens @ key) / np.sqrt(_DIM)) * where
    return _mean(odds, tokens, value)


@exercise(
    "single-location-regression/best-reader",
    cases={
        "one text": (_TOKENS[:1], _ALL[:1], _KEY, _VALUE, 2.0),
        "five texts": (_TOKENS, _ALL, _KEY, _VALUE, 3.0),
        "texts of different lengths": (_TOKENS, _SEEN, _KEY, _VALUE, 3.0),
    },
    lookalikes={
        "The mask is missing: places without a token still get weight.": (
            lambda tokens, where, *rest: _predict(tokens, np.ones_like(where), *rest)
        ),
        "The scores are too large: an inner product of a token with the key "
        "is not of order one.": lambda *a: _predict(*a, scale=1.0),
        "Scores and values are both too large: these inner products "
        "are not of order one.": (lambda *a: _predict(*a, scale=1.0) * np.sqrt(_DIM)),
        "This would be the best reader of the spiked task.": (
            lambda tokens, where, key, value, signal: _predict(
                tokens, where, key, value, np.sqrt(signal)
            )
        ),
        "The signal is missing: the weights are right for signal 1 only.": (
            lambda tokens, where, key, value, signal: _predict(
                tokens, where, key, value, 1.0
            )
        ),
        "The weights of one place add up to 1 over all texts: wrong axis.": (
            lambda *a: _predict(*a, axis=0)
        ),
        "The weights of a text don't add up to 1: is the normaliser missing?": (
            _without_sum
        ),
        "This reader bets all on the highest score, as if there were no doubt.": (_bet),
        "This reader looks for the lowest score: is a sign wrong?": (
            lambda tokens, where, key, value, signal: _predict(
                tokens, where, key, value, -signal
            )
        ),
    },
)
def best_reader(tokens: Any, where: Any, key: Any, value: Any, signal: float) -> Any:
    """Return the posterior mean of the answer in the max task, one for each text.

    `tokens` has the shape (texts, places, D), `where` (texts, places): a text may be
    shorter than the array, and has tokens only where `where` is True.
    `key` and `value` are the teacher's vectors, of length sqrt(D).
    """
    texts = zip(tokens, where, strict=True)
    found = []
    for text in (rows[is_there] for rows, is_there in texts):
        odds = np.exp(signal * (text @ key) / np.sqrt(len(key)))
        found.append(odds @ (text @ value) / np.sqrt(len(key)) / odds.sum())
    return np.array(found)
