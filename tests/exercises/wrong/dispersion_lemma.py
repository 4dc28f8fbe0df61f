"""Plausible wrong answers to the exercises on the dispersion lemma."""

import numpy as np
from scipy import special


def ratio(logits, where, axis=-1, extra=-1, sign=1):
    logits = np.where(where, logits, -np.inf)
    low = np.where(where, logits, np.inf).min(axis=axis)
    top = np.exp(sign * (logits.max(axis=axis) - low))
    largest = np.exp(logits.max(axis=axis) - special.logsumexp(logits, axis=axis))
    return largest * (top + where.sum(axis=axis) + extra) / top


def unmasked_sums(logits, where):
    everything = np.exp(logits).sum(axis=-1)
    largest = np.exp(np.where(where, logits, -np.inf).max(axis=-1)) / everything
    return largest * ratio(logits, where) / ratio(logits, where)


def every_other(terms):
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def sum_of_pairs(terms):
    while len(terms) > 1:
        terms = [a + b for a, b in zip(terms[::2], terms[1::2], strict=False)]
    return terms[0]


WRONG = {
    "dispersion-lemma/share-of-bound": [
        (lambda e, where: ratio(e, where, axis=0), "wrong axis"),
        (lambda e, where: ratio(e, np.ones_like(where)), "mask missing"),
        (lambda e, where: ratio(e, where, extra=0), "normaliser"),
        (lambda e, where: ratio(e, where, sign=-1), "wrong sign"),
        (unmasked_sums, "too small"),
    ],
    "dispersion-lemma/pairwise-sum": [
        (every_other, "swallowed"),
        (sum_of_pairs, "odd length"),
        (lambda terms: np.asarray(terms, dtype=float).mean(), "divided by the number"),
    ],
}
