"""Plausible wrong answers to the exercises on the landscape."""

import numpy as np
from scipy import special


def regression(tokens, target, key, ridge, axis=1, field=True, score=True):
    root = np.sqrt(len(key))
    weights = special.softmax(tokens @ key / (root if score else 1), axis=axis)
    rows = np.sum(weights[:, :, None] * tokens, axis=1) / (root if field else 1)
    square = rows.T @ rows + ridge * np.eye(len(key))
    return np.linalg.pinv(square, rcond=1e-12) @ rows.T @ target


WRONG = {
    "landscape/best-value": [
        (lambda x, y, k, ridge: regression(x, y, k, 0.0), "ridge is missing"),
        (lambda x, y, k, ridge: regression(x, y, k, 2 * ridge), "twice too strong"),
        (lambda x, y, k, ridge: regression(x, y, k, ridge * len(y)), "mean"),
        (lambda *a: regression(*a, axis=0), "wrong axis"),
        (lambda *a: regression(*a, field=False), "values of the tokens are too large"),
        (lambda *a: regression(*a, score=False), "scores are too large"),
        (lambda *a: -regression(*a), "sign is wrong"),
    ],
}
