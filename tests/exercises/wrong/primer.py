"""Plausible wrong answers to the exercise of the primer."""

import numpy as np
from scipy import optimize


def minimum(w, energy):
    points = np.atleast_1d(w)
    found = [
        optimize.minimize_scalar(
            lambda x, at=at: np.log(np.cosh(x)) + energy(x - at),
            (-0.1, 0.1),
            tol=1e-12,
        ).x
        for at in points
    ]
    return np.reshape(found, np.shape(w))


def wrong_sign(w, softness):
    return -minimum(w, lambda d: d**2 / (2 * softness))


WRONG = {
    "primer/prox-log-cosh": [
        (lambda w, softness: minimum(w, lambda d: d**2 / softness), "off by two"),
        (lambda w, softness: minimum(w, lambda d: d**2 / 2), "constant is missing"),
        (wrong_sign, "sign is wrong"),
        (lambda w, softness: w - softness * np.tanh(w), "iterate"),
        (lambda w, softness: minimum(w, lambda d: softness * d**2 / 2), "wrong side"),
    ],
}
