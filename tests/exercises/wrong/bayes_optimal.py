"""Plausible wrong answers to the exercises on the Bayes-optimal reader."""

import numpy as np
from scipy import special


def outputs(a, b, y, signal, variance, axis=1, use_label=True):
    miss = y[:, None] - b
    logits = np.sqrt(signal) * a - use_label * miss**2 / (2 * variance)
    p = special.softmax(logits, axis=axis)
    return np.sqrt(signal) * p, p * miss / variance


def without_square(a, b, y, signal, q_v, noise):
    return outputs(a, b, y, signal, noise + 1 - q_v)


def without_noise(a, b, y, signal, q_v, noise):
    return outputs(a, b, y, signal, 1 - q_v)


def without_label(a, b, y, signal, q_v, noise):
    return outputs(a, b, y, signal, noise**2 + 1 - q_v, use_label=False)


def across_texts(a, b, y, signal, q_v, noise):
    return outputs(a, b, y, signal, noise**2 + 1 - q_v, axis=0)


def away(a, b, y, signal, q_v, noise):
    key, value = outputs(a, b, y, signal, noise**2 + 1 - q_v)
    return key, -value


def bare_posterior(a, b, y, signal, q_v, noise):
    key, value = outputs(a, b, y, signal, noise**2 + 1 - q_v)
    return key / np.sqrt(signal), value


def key_only(a, b, y, signal, q_v, noise):
    return outputs(a, b, y, signal, noise**2 + 1 - q_v)[0]


WRONG = {
    "bayes-optimal/pulls": [
        (without_square, "square is missing"),
        (without_noise, "noise of the label is missing"),
        (without_label, "does not use the label"),
        (across_texts, "wrong axis"),
        (away, "away from the label"),
        (bare_posterior, "inner factor"),
        (key_only, "shape (1, 3), not (2, 1, 3)"),
    ],
    "bayes-optimal/plug-in": [
        (lambda q_k, q_v, signal: (q_k, q_k, q_v, q_v), "not sharp enough"),
        (
            lambda q_k, q_v, signal: (signal**0.5 * q_k, q_k, q_v, q_v),
            "squared length does not",
        ),
        (
            lambda q_k, q_v, signal: (signal**0.5 * q_k, signal * q_k**2, q_v, q_v**2),
            "longer than its projection",
        ),
    ],
}
