"""Plausible wrong answers to the exercises on size generalisation."""

import numpy as np
from scipy import special


def sharpened(logits, where, trained_length, length=None, ratio=0.5, axis=1):
    length = where.sum(axis=1)[:, None] if length is None else length
    factor = (np.log(length) / np.log(trained_length)) ** ratio
    return special.softmax(np.where(where, factor * logits, -np.inf), axis=axis)


def unmasked(logits, where, trained_length):
    return sharpened(logits, np.full(where.shape, True), trained_length)


def widest(logits, where, trained_length):
    return sharpened(logits, where, trained_length, length=where.shape[1])


def ratio_of_lengths(logits, where, trained_length):
    factor = np.sqrt(where.sum(axis=1)[:, None] / trained_length)
    return special.softmax(np.where(where, factor * logits, -np.inf), axis=1)


WRONG = {
    "size-generalisation/weights-by-length": [
        (unmasked, "mask is missing"),
        (widest, "empty places"),
        (ratio_of_lengths, "logarithm"),
        (lambda *a: sharpened(*a, ratio=-0.5), "upside down"),
        (lambda *a: sharpened(*a, ratio=1.0), "too fast"),
        (lambda *a: sharpened(*a, axis=0), "wrong axis"),
    ],
}
