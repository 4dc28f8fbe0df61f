"""Plausible wrong answers to the exercise on the spread of logits."""

import numpy as np


def spread(logits, where, axis=-1):
    inside = np.where(where, logits, np.nan)
    return np.nanmax(inside, axis=axis) - np.nanmin(inside, axis=axis)


def masked_with_zero(logits, where):
    return np.ptp(np.where(where, logits, 0.0), axis=-1) < np.log(where.sum(axis=-1))


WRONG = {
    "logit-spread/informative-rows": [
        (lambda e, where: np.ptp(e, axis=-1) < np.log(e.shape[-1]), "mask missing"),
        (
            lambda e, where: spread(e, where) < np.log(e.shape[-1]),
            "n counts the hidden ones",
        ),
        (
            lambda e, where: spread(e, where, 0) < np.log(where.sum(axis=0)),
            "wrong axis",
        ),
        (lambda e, where: spread(e, where) > np.log(where.sum(axis=-1)), "wrong sign"),
        (masked_with_zero, "wrong for a decoder's rows"),
    ],
}
