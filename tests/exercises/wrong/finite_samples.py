"""Plausible wrong answers to the exercises on finite samples."""

import numpy as np
from scipy import optimize


def scalar_root(a, b, y, V_k, V_v, one=1, quarter=4, swap=False):
    root = np.sqrt(V_k * V_v)
    plus, minus = (
        np.sum((np.sqrt(V_v) * (one + a) + s * np.sqrt(V_k) * b) ** 2) / quarter / root
        for s in ((-1, 1) if swap else (1, -1))
    )

    def excess(u):
        return plus / (1 - u) ** 2 - minus / (1 + u) ** 2 + u / root - y

    return optimize.brentq(excess, -1 + 1e-10, 1 - 1e-10), root


def error(*given, **wrong):
    u, root = scalar_root(*given, **wrong)
    return u / root


WRONG = {
    "finite-samples/error-after": [
        (lambda *a: error(*a, one=0), "constant in the weights"),
        (lambda *a: scalar_root(*a)[0], "one more step"),
        (lambda a, b, y, V_k, V_v: y - np.sum((1 + a) * b), "before the text pulls"),
        (lambda *a: error(*a, swap=True), "exchanged"),
        (lambda *a: error(*a, quarter=1), "denominator"),
        (lambda *a: -error(*a), "sign is wrong"),
    ],
}
