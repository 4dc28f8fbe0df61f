"""Exercises of the chapter on the dispersion lemma."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from scipy import special

from sharp_attention.exercises.registry import exercise
from sharp_attention.theory import dispersion

__all__ = ["pairwise_sum", "share_of_bound"]

_RNG = np.random.default_rng(11)
_ROWS = _RNG.uniform(0, 4, size=(3, 7))
_ALL = np.ones((3, 7), dtype=bool)
_SEEN = np.array([list("1111111"), list("1011010"), list("0110001")]) == "1"


def _largest(logits: Any, where: Any, axis: int = -1) -> Any:
    return special.softmax(np.where(where, logits, -np.inf), axis=axis).max(axis=axis)


def _shape(logits: Any, where: Any, axis: int = -1) -> tuple[Any, Any]:
    """Return the spread and the number of the items that are seen."""
    highest = np.where(where, logits, -np.inf).max(axis=axis)
    lowest = np.where(where, logits, np.inf).min(axis=axis)
    return highest - lowest, np.sum(where, axis=axis)


def _wrong_axis(logits: Any, where: Any) -> Any:
    spread, count = _shape(logits, where, axis=0)
    return _largest(logits, where, axis=0) * (1 + (count - 1) * np.exp(-spread))


def _only_weights_masked(logits: Any, where: Any) -> Any:
    bound = dispersion.sharp_weight_bounds(np.ptp(logits, axis=-1), logits.shape[-1])
    return _largest(logits, where) / bound[1]


def _over(bound: Any, mask: bool = True) -> Any:
    """Return a function that holds the largest weight against `bound(δ, n)`."""

    def share(logits: Any, where: Any) -> Any:
        seen = where if mask else np.ones_like(where)
        return _largest(logits, seen) / bound(*_shape(logits, seen))

    return share


@exercise(
    "dispersion-lemma/share-of-bound",
    cases={
        "one row": (_ROWS[:1], _ALL[:1]),
        "three rows": (_ROWS, _ALL),
        "rows with hidden items": (_ROWS, _SEEN),
    },
    lookalikes={
        "Hidden items get weight and are counted: is the mask missing?": _over(
            lambda spread, n: 1 / (1 + (n - 1) * np.exp(-spread)), mask=False
        ),
        "Hidden items get no weight, but the bound still counts them: "
        "is the mask missing there?": _only_weights_masked,
        "Sums and extremes run over the wrong axis, down the columns.": _wrong_axis,
        "The spread has the wrong sign in the bound.": _over(
            lambda spread, n: 1 / (1 + (n - 1) * np.exp(spread))
        ),
        "The normaliser in the bound counts one item too many.": _over(
            lambda spread, n: np.exp(spread) / (np.exp(spread) + n)
        ),
        "This is the lemma's bound, whose normaliser is too small: "
        "the sharp one is asked for.": _over(lambda spread, n: np.exp(spread) / n),
    },
)
def share_of_bound(logits: Any, where: Any) -> Any:
    """Return, row by row, the largest weight over its sharp upper bound.

    Both arguments have the shape (rows, items); an item whose `where` is False
    is hidden: it gets no weight, and neither spread nor number of items counts it.
    """
    spread, count = _shape(logits, where)
    return _largest(logits, where) / dispersion.sharp_weight_bounds(spread, count)[1]


def _running_sum(terms: Any) -> Any:
    return np.add.accumulate(np.asarray(terms))[-1]


def _terms(number: int) -> Any:
    row = np.where(np.arange(number) == 0, 0.0, -6.0)
    return np.exp(row).astype(jnp.bfloat16)


def _halves(terms: Any, middle: int = 0) -> Any:
    """Sum pairwise; `middle` terms in the middle of each piece are lost."""
    half = len(terms) // 2
    if len(terms) == 1:
        return terms[0]
    second = terms[half + middle * (len(terms) % 2) :]
    return _halves(terms[:half], middle) + _halves(second, middle)


@exercise(
    "dispersion-lemma/pairwise-sum",
    cases={
        "one term": (_terms(1),),
        "64 terms": (_terms(64),),
        "1,000 terms": (_terms(1000),),
    },
    lookalikes={
        "The small terms are swallowed, as in a running sum.": _running_sum,
        "Terms are lost where a piece has an odd length.": lambda terms: _halves(
            terms, middle=1
        ),
        "The result is divided by the number of terms: a sum was asked for.": (
            lambda terms: _halves(terms) / len(terms)
        ),
    },
    tolerance=0.05,  # ten roundings, each of a relative size of 0.004
)
def pairwise_sum(terms: Any) -> Any:
    """Return the sum of bfloat16 numbers, in bfloat16, halves first."""
    return _halves(terms)
