"""Exercises of the chapter on the Bayes-optimal reader."""

import math
from typing import Any

import numpy as np
from scipy import special

from sharp_attention.exercises.registry import exercise

__all__ = ["plug_in", "pulls"]

_RNG = np.random.default_rng(25)


def _text(count: int, length: int) -> tuple[Any, Any, Any]:
    fields = _RNG.standard_normal((2, count, length))
    return (*fields, _RNG.standard_normal(count))


_CASES = {
    "one text": (*_text(1, 3), 1.0, 0.5, 0.7),
    "four texts": (*_text(4, 3), 2.0, 0.3, 0.5),
    "a label without noise": (*_text(4, 3), 2.0, 0.3, 0.0),
}

_STEP = 1e-5


def _evidence(a: Any, b: Any, y: Any, signal: float, q_v: float, noise: float) -> Any:
    """Logarithm of Z up to a constant that depends on neither a nor b."""
    variance = noise**2 + 1 - q_v
    miss = np.asarray(y)[:, None] - b
    terms = math.sqrt(signal) * np.asarray(a) - miss**2 / (2 * variance)
    return special.logsumexp(terms, axis=1)


def _wrong(
    a: Any,
    b: Any,
    y: Any,
    signal: float,
    q_v: float,
    noise: float,
    *,
    variance: float | None = None,
    axis: int = -1,
    label: float = 1.0,
    text: float = 1.0,
    push: float | None = None,
) -> Any:
    """Return the two pulls by their formulas; the keywords make them wrong."""
    variance = noise**2 + 1 - q_v if variance is None else variance
    miss = np.asarray(y)[:, None] - b
    scores = text * math.sqrt(signal) * np.asarray(a)
    p = special.softmax(scores - label * miss**2 / (2 * variance), axis=axis)
    push = math.sqrt(signal) if push is None else push
    return np.stack([push * p, p * miss / variance])


@exercise(
    "bayes-optimal/pulls",
    cases=_CASES,
    lookalikes={
        "The noise is a standard deviation; its square is missing.": (
            lambda a, b, y, signal, q_v, noise: _wrong(
                a, b, y, signal, q_v, noise, variance=noise + 1 - q_v
            )
        ),
        "The noise of the label is missing.": (
            lambda a, b, y, signal, q_v, noise: _wrong(
                a, b, y, signal, q_v, noise, variance=1 - q_v
            )
        ),
        "The reader's own doubt about the values is missing: "
        "the label's noise is not all.": (
            lambda a, b, y, signal, q_v, noise: _wrong(
                a, b, y, signal, q_v, noise, variance=noise**2 + 1e-300
            )
        ),
        "The posterior of the position does not use the label.": (
            lambda *args: _wrong(*args, label=0.0)
        ),
        "The posterior of the position does not use the scores.": (
            lambda *args: _wrong(*args, text=0.0)
        ),
        "The exponent of a Gaussian density is off by a factor of two.": (
            lambda *args: _wrong(*args, label=2.0)
        ),
        "The positions of all texts compete with each other: wrong axis.": (
            lambda *args: _wrong(*args, axis=0)
        ),
        "The pull on the scores is a derivative: is an inner factor missing?": (
            lambda *args: _wrong(*args, push=1.0)
        ),
        "The pull on the scores has the signal in the wrong power.": (
            lambda *args: _wrong(*args, push=args[3])
        ),
        "The pull on the values points away from the label: is its sign wrong?": (
            lambda *args: _wrong(*args) * np.array([1.0, -1.0])[:, None, None]
        ),
        "The pull on the values is not divided by the variance of the label.": (
            lambda a, b, y, signal, q_v, noise: (
                _wrong(a, b, y, signal, q_v, noise)
                * np.array([1.0, noise**2 + 1 - q_v])[:, None, None]
            )
        ),
        "The two pulls have changed places.": lambda *args: _wrong(*args)[::-1],
    },
)
def pulls(a: Any, b: Any, y: Any, signal: float, q_v: float, noise: float) -> Any:
    """Return the output functions g_k and g_v of the spiked task, stacked.

    `a` and `b` have the shape (texts, tokens) and are the reader's means of scores and
    values; `y` holds the labels, (texts,).
    `q_v` is the overlap of the value, and `noise` is the standard deviation of the
    label noise.
    The result has the shape (2, texts, tokens), the pull on the scores first.
    """
    found = np.zeros((2, *np.shape(a)))
    for column in range(np.shape(a)[1]):
        shift = _STEP * (np.arange(np.shape(a)[1]) == column)
        for row, (x, z) in enumerate(((shift, 0 * shift), (0 * shift, shift))):
            up = _evidence(a + x, b + z, y, signal, q_v, noise)
            down = _evidence(a - x, b - z, y, signal, q_v, noise)
            found[row, :, column] = (up - down) / (2 * _STEP)
    return found


@exercise(
    "bayes-optimal/plug-in",
    cases={
        "signal 1": (0.4, 0.7, 1.0),
        "signal 4": (0.4, 0.7, 4.0),
        "an overlap of one half": (0.5, 0.5, 9.0),
    },
    lookalikes={
        "The key is that of signal 1: the head is not sharp enough.": (
            lambda q_k, q_v, signal: (q_k, q_k, q_v, q_v)
        ),
        "The overlap of the key knows the signal, its squared length does not.": (
            lambda q_k, q_v, signal: (math.sqrt(signal) * q_k, q_k, q_v, q_v)
        ),
        "The key is longer than sqrt(signal) times the posterior mean.": (
            lambda q_k, q_v, signal: (signal * q_k, signal**2 * q_k, q_v, q_v)
        ),
        "The key points exactly along the teacher's: the posterior mean "
        "is longer than its projection.": (
            lambda q_k, q_v, signal: (
                math.sqrt(signal) * q_k,
                signal * q_k**2,
                q_v,
                q_v**2,
            )
        ),
        "The lengths are those of the teacher: the posterior mean is shorter.": (
            lambda q_k, q_v, signal: (math.sqrt(signal) * q_k, signal, q_v, 1.0)
        ),
        "Key and value have changed places.": (
            lambda q_k, q_v, signal: (q_v, q_v, math.sqrt(signal) * q_k, signal * q_k)
        ),
    },
)
def plug_in(q_k: float, q_v: float, signal: float) -> Any:
    """Return m_k, q_k, m_v, q_v of the head that predicts as the best reader does.

    `q_k` and `q_v` are the overlaps of the posterior means with the teachers, in the
    spiked task with this signal.
    """
    # Vectors in the plane of a teacher and one other direction, D = 1.
    means = [np.array([q, math.sqrt(q - q**2)]) for q in (q_k, q_v)]
    key, value = math.sqrt(signal) * means[0], means[1]
    return np.array([key[0], key @ key, value[0], value @ value])
