"""Plausible wrong answers to the exercises on single-location regression."""

import numpy as np
from scipy import special


def reader(tokens, where, key, value, sharpness, axis=1, root=4.0):
    scores, values = tokens @ key / root, tokens @ value / 4.0
    weights = special.softmax(np.where(where, sharpness * scores, -np.inf), axis=axis)
    return np.sum(weights * values, axis=1)


def unmasked(tokens, where, key, value, signal):
    return reader(tokens, np.full(where.shape, True), key, value, signal)


def spiked(tokens, where, key, value, signal):
    return reader(tokens, where, key, value, signal**0.5)


def decisive(tokens, where, key, value, signal):
    best = np.where(where, tokens @ key, -np.inf).argmax(axis=1)
    return (tokens @ value)[np.arange(len(tokens)), best] / 4.0


def without_normaliser(tokens, where, key, value, signal):
    odds = np.where(where, np.exp(signal * tokens @ key / 4.0), 0.0)
    return np.sum(odds * (tokens @ value), axis=1) / 4.0


WRONG = {
    "single-location-regression/best-reader": [
        (unmasked, "mask is missing"),
        (spiked, "spiked task"),
        (decisive, "bets all"),
        (without_normaliser, "normaliser"),
        (lambda *a: reader(*a, axis=0), "wrong axis"),
        (lambda *a: reader(*a, root=1.0), "scores are too large"),
        (lambda *a: -reader(*a), "sign is wrong"),
        (lambda *a: 4.0 * reader(*a), "same factor"),
    ],
}
