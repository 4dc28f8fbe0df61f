"""Plausible wrong answers to the exercises on the population risk."""

import numpy as np


def averages(scores, power, axis=1, raw=False):
    weights = np.log(1 + np.exp(scores)) ** power
    if not raw:
        weights = weights / weights.sum(axis=axis, keepdims=True)
    return np.mean(np.sum(weights**2, axis=1)), np.mean(weights[:, 0]), weights


def least(scores, power, **wrong):
    A, B, _ = averages(scores, power, **wrong)
    return 1 - B**2 / A


def fixed_value(scores, power):
    A, B, _ = averages(scores, power)
    return 1 - 2 * B + A


def mean_of_squares(scores, power):
    _, B, weights = averages(scores, power)
    return 1 - B**2 / np.mean(weights**2)


def linear_in_needle(scores, power):
    A, B, _ = averages(scores, power)
    return 1 - B / A


WRONG = {
    "population-risk/least-risk": [
        (lambda *a: least(*a, axis=0), "wrong axis"),
        (lambda *a: least(*a, raw=True), "normaliser"),
        (fixed_value, "read-out"),
        (mean_of_squares, "sum over the tokens"),
        (linear_in_needle, "wrong power"),
        (lambda scores, power: least(power * scores, 1), "inside softplus"),
        (lambda *a: 1 - least(*a), "too large"),
    ],
}
