"""Claims about Lemma 2.1: what a bounded spread does to each weight."""

import functools
import math

import numpy as np

from sharp_attention._typing import Float64
from sharp_attention.claims import _weights
from sharp_attention.claims.registry import Measurement, declare
from sharp_attention.theory import dispersion

__all__: list[str] = []

_lemma = functools.partial(
    declare,
    paper="softmax-not-enough",
    place="Lemma 2.1",
    chapter="dispersion-lemma",
    confidence="A",
)
_ours = functools.partial(
    declare,
    paper="ours",
    place="Lemma 2.1, sharpened",
    chapter="dispersion-lemma",
    confidence="D",
)
_SPREADS = np.linspace(0.0, 12.0, 13)
_SIZES = (1, 2, 3, 16, 1000)


def _to_bounds(name: str) -> tuple[Float64, Float64]:
    """Smallest and largest weight of random rows, each over its bound."""
    low, high = [], []
    for size in (2, 5, 16):
        rows = _weights.random_rows()[:, :size]
        for theta in (0.5, 1.0, 4.0):
            weights = _weights.softmax(rows / theta)
            spread = dispersion.spread(rows)
            lower, upper = getattr(dispersion, name)(spread, size, theta)
            low.append(weights.min(-1) / lower)
            high.append(weights.max(-1) / upper)
    return np.array(low), np.array(high)


@_lemma(
    "lemma-upper-bound",
    statement="With n logits of spread delta at temperature theta no weight exceeds "
    "exp(delta/theta)/n (measured: largest weight over bound on random rows).",
    quoted_value=1.0,
    comparison="at most",
    tolerance=1e-12,
)
def _lemma_upper_bound() -> Measurement:
    return Measurement(float(_to_bounds("weight_bounds")[1].max()))


@_lemma(
    "lemma-lower-bound",
    statement="No weight is below exp(-delta/theta)/n (measured: smallest weight over "
    "bound on random rows).",
    quoted_value=1.0,
    comparison="at least",
    tolerance=1e-12,
)
def _lemma_lower_bound() -> Measurement:
    return Measurement(float(_to_bounds("weight_bounds")[0].min()))


@_lemma(
    "lemma-rate",
    statement="At fixed spread and temperature every weight is Theta(1/n) (measured: "
    "exponent of n in the largest and in the smallest possible weight, whichever is "
    "further from -1).",
    quoted_value=-1.0,
    tolerance=1e-6,
)
def _lemma_rate() -> Measurement:
    bounds = np.array(dispersion.sharp_weight_bounds(5.0, [10**12, 10**24]))
    exponents = np.log(bounds[:, 1] / bounds[:, 0]) / math.log(10**12)
    return Measurement(float(exponents[np.abs(exponents + 1).argmax()]))


@_lemma(
    "lemma-threshold",
    statement="Every weight is below epsilon once n exceeds exp(delta/theta)/epsilon "
    "(measured: largest possible weight over epsilon, just beyond).",
    quoted_value=1.0,
    comparison="at most",
)
def _lemma_threshold() -> Measurement:
    ratios = []
    for epsilon in (0.9, 0.1, 1e-6):
        sizes = [math.floor(math.exp(x) / epsilon) + 1 for x in _SPREADS]
        upper = dispersion.sharp_weight_bounds(_SPREADS, sizes)[1]
        ratios.append(float(np.max(upper)) / epsilon)
    return Measurement(max(ratios))


def _leader(sign: int) -> Float64:
    """Weight of one logit that is ahead (+1) or behind (−1), over spreads and sizes."""
    return np.array(
        [
            _weights.softmax(sign * _weights.leader_rows(list(_SPREADS), size))[:, 0]
            for size in _SIZES
        ]
    )


@_ours(
    "sharp-upper-bound",
    statement="No weight exceeds exp(x)/(exp(x)+n-1), x = delta/theta (measured: "
    "largest weight over bound on random rows).",
    quoted_value=1.0,
    comparison="at most",
    tolerance=1e-12,
)
def _sharp_upper_bound() -> Measurement:
    return Measurement(float(_to_bounds("sharp_weight_bounds")[1].max()))


@_ours(
    "sharp-lower-bound",
    statement="No weight is below 1/(1+(n-1)exp(x)), x = delta/theta (measured: "
    "smallest weight over bound on random rows).",
    quoted_value=1.0,
    comparison="at least",
    tolerance=1e-12,
)
def _sharp_lower_bound() -> Measurement:
    return Measurement(float(_to_bounds("sharp_weight_bounds")[0].min()))


@_ours(
    "sharp-upper-attained",
    statement="The upper bound is attained: one logit at the top, all others at the "
    "bottom (measured: largest relative difference).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-12,
)
def _sharp_upper_attained() -> Measurement:
    sizes = np.array(_SIZES)[:, None]
    upper = np.asarray(dispersion.sharp_weight_bounds(_SPREADS, sizes)[1])
    return Measurement(float(np.abs(_leader(+1) / upper - 1).max()))


@_ours(
    "sharp-lower-attained",
    statement="The lower bound is attained: one logit at the bottom, all others at the "
    "top (measured: largest relative difference).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-12,
)
def _sharp_lower_attained() -> Measurement:
    sizes = np.array(_SIZES)[:, None]
    lower = np.asarray(dispersion.sharp_weight_bounds(_SPREADS, sizes)[0])
    return Measurement(float(np.abs(_leader(-1) / lower - 1).max()))


@_ours(
    "half-weight-limit",
    statement="One item can hold half of the weight exactly as long as n is at most "
    "1+exp(delta/theta) (measured: largest error of the first n without).",
    quoted_value=0.0,
)
def _half_weight_limit() -> Measurement:
    # Away from integers, so that rounding cannot decide.
    whole = np.array([1, 2, 7, 150, 10_000])
    first = [
        dispersion.min_items_to_disperse(2 * math.log(k + 0.5), 0.5, 2.0) for k in whole
    ]
    return Measurement(float(np.abs(np.array(first) - (whole + 2)).max()))


@_ours(
    "top-weight-limit",
    statement="A top weight of 1-epsilon requires n-1 <= exp(delta/theta) "
    "epsilon/(1-epsilon) (measured: largest distance from 1-epsilon at equality).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-12,
)
def _top_weight_limit() -> Measurement:
    gaps = []
    for epsilon in (0.5, 0.1, 0.01):
        others = np.array([1, 10, 1000])
        spread = np.log(others * (1 - epsilon) / epsilon)
        upper = dispersion.sharp_weight_bounds(spread, others + 1)[1]
        gaps.append(np.abs(upper - (1 - epsilon)))
    return Measurement(float(np.max(gaps)))


def _declare_items(
    id: str, spread: float, weight: float, items: float, tolerance: float = 0.0
) -> None:
    @_ours(
        id,
        place="section 3, turned into numbers",
        statement=f"At the quoted spread of {spread} a weight of {weight} is out of "
        f"reach from about {items:.6g} items on.",
        quoted_value=items,
        tolerance=tolerance,
    )
    def _items() -> Measurement:
        return Measurement(float(dispersion.min_items_to_disperse(spread, weight)))


_declare_items("gemma-2b-mean-half", 5.69, 0.5, 297)
_declare_items("gemma-2b-mean-nine-tenths", 5.69, 0.9, 34)
_declare_items("gemma-2b-largest-half", 14.78, 0.5, 2.6e6, 5e4)
_declare_items("gemma-7b-largest-half", 32.74, 0.5, 1.7e14, 5e12)
