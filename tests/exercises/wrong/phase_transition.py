"""Plausible wrong answers to the exercises on the phase transition."""

import math

import numpy as np

EDGE = math.sqrt(2)


def gap(b, c, highest=EDGE, tokens=1.0, root=0.5):
    x = np.linspace(0, highest, 20_001)
    return b * c**root - np.max(tokens * (1 - x**2 / 2) + b * x)


WRONG = {
    "phase-transition/lead": [
        (lambda b, c: gap(b, c, highest=10.0), "scores that no token has"),
        (lambda b, c: gap(b, c, tokens=0.0), "top of the hay alone"),
        (lambda b, c: gap(b, c, root=1.0), "root of its signal"),
        (lambda b, c: -gap(b, c), "sign wrong"),
        (lambda b, c: np.sign(gap(b, c)), "too"),
    ],
}
