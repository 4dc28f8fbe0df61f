"""Plausible wrong answers to the exercise on max retrieval."""

import numpy as np
from scipy import stats


def patterns(count):
    return 1 - 2 * ((np.arange(2**count)[:, None] >> np.arange(count)) & 1)


def one_sided(differences):
    means = patterns(len(differences)) @ differences / len(differences)
    return np.mean(means >= np.mean(differences) - 1e-12)


def more_than_observed(differences):
    means = np.abs(patterns(len(differences)) @ differences)
    return np.mean(means > abs(differences.sum()) + 1e-12)


def not_normalised(differences):
    means = np.abs(patterns(len(differences)) @ differences)
    return np.sum(means >= abs(differences.sum()) - 1e-12)


def binomial(differences):
    return stats.binomtest(int((differences > 0).sum()), len(differences)).pvalue


WRONG = {
    "max-retrieval/sign-test": [
        (one_sided, "one side"),
        (more_than_observed, "at least as far"),
        (not_normalised, "does not divide"),
        (binomial, "Only signs"),
    ],
}
