"""Plausible wrong answers to the exercise on adaptive temperature."""

import numpy as np


def only_rescaled(m, norm, first, second, new):
    return np.exp(m - new) * np.array([norm, first, second])


def forgets_cross_term(m, norm, first, second, new):
    s, d = np.exp(m - new), m - new
    return s * np.array([norm, first + d * norm, second + d**2 * norm])


def wrong_sign(m, norm, first, second, new):
    s, d = np.exp(m - new), new - m
    parts = [norm, first + d * norm, second + 2 * d * first + d**2 * norm]
    return s * np.array(parts)


def not_rescaled(m, norm, first, second, new):
    d = m - new
    return norm, first + d * norm, second + 2 * d * first + d**2 * norm


def grown(m, norm, first, second, new):
    return np.exp(2 * (new - m)) * np.array(not_rescaled(m, norm, first, second, new))


WRONG = {
    "adaptive-temperature/moved-sums": [
        (only_rescaled, "only rescaled"),
        (forgets_cross_term, "cross term"),
        (wrong_sign, "wrong sign"),
        (not_rescaled, "factor of the exponentials is missing"),
        (grown, "Right for a maximum that stays, wrong for a larger maximum"),
    ],
}
