"""Plausible wrong answers to the exercise on CLRS-Text."""

import numpy as np


def wald(correct, texts):
    share = correct / texts
    error = 1.96 * (share * (1 - share) / texts) ** 0.5
    return np.array([share - error, share + error])


def roots(correct, texts, z=1.96):
    share, extra = correct / texts, z * z / texts
    return np.sort(np.roots([1 + extra, -2 * share - extra, share**2]).real)


def one_error(correct, texts):
    return roots(correct, texts, z=1.0)


def high_first(correct, texts):
    return roots(correct, texts)[::-1]


WRONG = {
    "clrs-text/share-interval": [
        (wald, "no width at 0 and 1"),
        (one_error, "one standard error"),
        (high_first, "wrong order"),
    ],
}
