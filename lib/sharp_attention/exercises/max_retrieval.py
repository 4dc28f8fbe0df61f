"""Exercises of the chapter on max retrieval."""

import itertools
from typing import Any

import numpy as np
from scipy import stats

from sharp_attention.exercises.registry import exercise

__all__ = ["sign_test"]

_MIXED = np.array([1.2, -0.4, 0.9, 2.0, 0.3, -0.1])
_TIED = np.array([1.0, 1.0, -1.0, 1.0])


def _share(differences: Any, *, sides: int = 2, strict: bool = False) -> Any:
    """Return the share of sign patterns whose mean is as far from 0 as observed."""
    patterns = np.array([*itertools.product((-1, 1), repeat=len(differences))])
    means, observed = patterns @ differences, np.sum(differences)
    if sides == 2:
        means, observed = np.abs(means), abs(observed)
    edge = 1e-9 if strict else -1e-9
    return np.mean(means >= observed + edge)


@exercise(
    "max-retrieval/sign-test",
    cases={
        "differences of one sign": (np.array([0.5, 1.0, 2.0, 0.7]),),
        "differences of both signs": (_MIXED,),
        "a negative mean": (-_MIXED,),
        "ties": (_TIED,),
    },
    lookalikes={
        "Only one side is counted: as far from zero means in both directions.": (
            lambda differences: _share(differences, sides=1)
        ),
        "The observed pattern and its ties are not counted: at least as far.": (
            lambda differences: _share(differences, strict=True)
        ),
        "This counts patterns and does not divide by how many there are.": (
            lambda differences: _share(differences) * 2 ** len(differences)
        ),
        "This is the t-test, which trusts that differences are Gaussian.": (
            lambda differences: stats.ttest_1samp(differences, 0).pvalue
        ),
        "Only signs are used, not the sizes: the mean hangs on both.": (
            lambda differences: _share(np.sign(differences))
        ),
    },
)
def sign_test(differences: Any) -> Any:
    """Return the share of sign patterns with a mean at least as far from 0.

    Every difference may have either sign; compare with the mean of those observed.
    """
    return _share(differences)
