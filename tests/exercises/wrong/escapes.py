"""Plausible wrong answers to the exercises on the ways out of dispersion."""

import numpy as np
from scipy import special


def kept(logits, number):
    edge = np.sort(logits, axis=1)[:, -number][:, None]
    return logits >= edge


def strictly_above(logits, num_kept):
    number = min(num_kept + 1, logits.shape[1])
    return special.softmax(np.where(kept(logits, number), logits, -np.inf), axis=1)


def cut_afterwards(logits, num_kept):
    weights = special.softmax(logits, axis=1)
    return np.where(kept(logits, num_kept), weights, 0.0)


def multiplied(logits, num_kept):
    return special.softmax(logits * kept(logits, num_kept), axis=1)


def smallest(logits, num_kept):
    mask = kept(-logits, num_kept)
    return special.softmax(np.where(mask, logits, -np.inf), axis=1)


WRONG = {
    "escapes/top-k-weights": [
        (strictly_above, "too many"),
        (cut_afterwards, "not normalised"),
        (multiplied, "no logit"),
        (smallest, "smallest"),
    ],
}
