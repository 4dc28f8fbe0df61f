"""What a bounded spread of logits allows a softmax to do, for any number of items.

Lemma 2.1 of Veličković et al., "Softmax is not Enough (for Sharp Size
Generalisation)" (ICML 2025), the bounds that are attained in its place, and what
follows from them for the entropy and for the largest weight.

Notation
--------
e_1 … e_n    logits; n = num_items
δ = max e − min e    spread;  x = δ / temperature
α_i = exp(e_i / temperature) / Σ_j exp(e_j / temperature)    weights

Everything is computed from x and log n, never from exp(x) or n, so that a spread of
10,000 and 10**60 items (a Python integer) are as good as 5 and 16.
The bounds of `spread` itself by norms and singular values are in `spread_bounds`;
`spread_bound` (Proposition 3.1) is offered here too.
"""

import decimal
import math

import numpy as np
from scipy.special import expit

from sharp_attention._checks import check_no_nan, check_real, require
from sharp_attention._typing import ArrayLike, Float64
from sharp_attention.theory._arguments import (
    Numbers,
    broadcast_mask,
    log_number,
    plain,
    scaled_spread,
)
from sharp_attention.theory.spread_bounds import spread_bound

__all__ = [
    "entropy_floor",
    "min_items_to_disperse",
    "output_gap_bound",
    "sharp_weight_bounds",
    "spread",
    "spread_bound",
    "two_level_entropy",
    "weight_bounds",
]

_LARGEST_SCALED_SPREAD = 1e5
_DIGITS = 60


def spread(logits: ArrayLike, where: ArrayLike | None = None) -> float | Float64:
    """Return δ = max e − min e over the last axis.

    Parameters
    ----------
    logits : (..., items); −inf removes an item
    where : boolean, broadcasts to `logits`; False removes an item

    Returns
    -------
    A float, or an array of shape (...); 0 for a row without items.

    Raises
    ------
    TypeError
        If `where` is not boolean.
    ValueError
        If `logits` have no axis, `where` does not broadcast to them, or an item that
        takes part is NaN or +inf.
    """
    values = np.asarray(logits, dtype=np.float64)
    require(values.ndim >= 1, "logits", "an array with a last axis of items", logits)
    mask = broadcast_mask(where, values.shape) & ~np.isneginf(values)
    check_no_nan("logits", np.where(mask, values, 0.0))
    largest = np.max(values, axis=-1, where=mask, initial=-np.inf)
    smallest = np.min(values, axis=-1, where=mask, initial=np.inf)
    with np.errstate(over="ignore"):
        difference = largest - smallest
    return plain(np.where(mask.any(axis=-1), difference, 0.0))


def weight_bounds(
    spread: ArrayLike, num_items: ArrayLike, temperature: ArrayLike = 1.0
) -> tuple[float | Float64, float | Float64]:
    """Return both bounds of Lemma 2.1: exp(−x) / n ≤ α_i ≤ exp(x) / n.

    They say that each weight is Θ(1/n) and are loose by up to a factor exp(x); for
    small n the upper one exceeds 1.  `sharp_weight_bounds` are the best possible.

    Parameters
    ----------
    spread : δ ≥ 0
    num_items : n ≥ 1, integers of any size
    temperature : > 0

    Returns
    -------
    (lower, upper), floats or arrays of the broadcast shape.
    Beyond the range of floats they are 0 and inf.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number in its range.
    """
    scaled, log_n = scaled_spread(spread, temperature), log_number(num_items)
    with np.errstate(over="ignore", under="ignore"):
        lower, upper = np.exp(-scaled - log_n), np.exp(scaled - log_n)
    return plain(lower), plain(upper)


def sharp_weight_bounds(
    spread: ArrayLike, num_items: ArrayLike, temperature: ArrayLike = 1.0
) -> tuple[float | Float64, float | Float64]:
    """Return the smallest and the largest weight that a spread allows; both attained.

        1 / (1 + (n − 1) exp(x)) ≤ α_i ≤ exp(x) / (exp(x) + n − 1)

    with equality if item i sits at one end of the interval of logits and all others
    at the other end.  Arguments and errors are those of `weight_bounds`.

    Returns
    -------
    (lower, upper), each in [0, 1], floats or arrays of the broadcast shape.
    A lower bound below the range of floats is 0.
    """
    scaled = scaled_spread(spread, temperature)
    log_others = log_number(num_items, minus=1)
    with np.errstate(under="ignore"):
        lower, upper = expit(-scaled - log_others), expit(scaled - log_others)
    return plain(lower), plain(upper)


def entropy_floor(
    spread: ArrayLike, num_items: ArrayLike, temperature: ArrayLike = 1.0
) -> float | Float64:
    """Return the smallest Shannon entropy that n logits of a given spread can have.

    Along one logit the entropy has no interior minimum (its only critical point,
    log α_i = −H, is a maximum), so at the minimum every logit sits at an end of the
    interval: k of them at the top, n − k at the bottom, with `two_level_entropy`.
    With s = k/n + (1 − k/n) exp(−x) and c = x / (exp(x) − 1) that entropy is

        H = log n + log s + c (1/s − 1),      dH/ds = (s − c) / s²,

    so H falls until s = c and rises after: the best k is one of the two integers next
    to k* = n (c − exp(−x)) / (1 − exp(−x)), at any n.
    For large n, H → log n − (c − 1 − log c): the deficit depends on the spread alone.

    Arguments and errors are those of `weight_bounds`.

    Returns
    -------
    Nats, in [0, log n]; a float or an array of the broadcast shape.
    """
    scaled, log_n = scaled_spread(spread, temperature), log_number(num_items)
    scaled, log_n = np.broadcast_arrays(scaled, log_n)
    log_best = log_n + _log_share_at_top(scaled)
    # Beyond 2**53 the two neighbours of k* are the same number in floats.
    is_whole = log_best > 53 * math.log(2)
    below = np.floor(np.exp(np.where(is_whole, 0.0, log_best)))
    candidates = [
        np.where(is_whole, log_best, np.log(np.maximum(below, 1.0))),
        np.where(is_whole, log_best, np.log(below + 1.0)),
    ]
    entropies = [
        _two_level(scaled, log_n, np.minimum(log_top, log_n)) for log_top in candidates
    ]
    return plain(np.min(entropies, axis=0))


def two_level_entropy(
    spread: ArrayLike,
    num_items: ArrayLike,
    num_top: ArrayLike,
    temperature: ArrayLike = 1.0,
) -> float | Float64:
    """Return the entropy of `num_top` logits at δ and the other n − `num_top` at 0.

    Parameters
    ----------
    spread, num_items, temperature : as in `weight_bounds`
    num_top : how many items sit at the top, from 1 to n

    Returns
    -------
    Nats, in [0, log n]; a float or an array of the broadcast shape.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number in its range.
    """
    scaled = scaled_spread(spread, temperature)
    log_n = log_number(num_items)
    log_top = log_number(num_top, argument="num_top")
    require(bool(np.all(log_top <= log_n)), "num_top", "<= num_items", num_top)
    return plain(_two_level(scaled, log_n, log_top))


def min_items_to_disperse(
    spread: float, weight: float, temperature: float = 1.0
) -> int:
    """Return the smallest n at which no item can reach `weight`.

    By the upper bound of `sharp_weight_bounds` a weight w is possible exactly as long
    as n ≤ 1 + exp(x) (1 − w) / w; the result is the first integer beyond.

    Parameters
    ----------
    spread : δ ≥ 0
    weight : w in (0, 1]
    temperature : > 0

    Returns
    -------
    A Python integer; exact up to 60 digits, and right in its first 50 beyond.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a single number in its range, or spread / temperature
        > 1e5.
    """
    check_real("weight", weight, above=0, at_most=1)
    scaled = scaled_spread(spread, temperature)
    arguments = {"spread": spread, "weight": weight, "temperature": temperature}
    for name, value in arguments.items():
        require(np.ndim(value) == 0, name, "a single number", value)
    rule = f"<= {_LARGEST_SCALED_SPREAD:g} (the answer has too many digits)"
    fits = bool(scaled <= _LARGEST_SCALED_SPREAD)
    require(fits, "spread / temperature", rule, float(scaled))
    with decimal.localcontext(prec=_DIGITS + 10, Emax=decimal.MAX_EMAX):
        possible = decimal.Decimal(float(weight))
        odds_against = (1 - possible) / possible
        return int(1 + decimal.Decimal(float(scaled)).exp() * odds_against) + 1


def output_gap_bound(
    spread: ArrayLike,
    num_items: ArrayLike,
    diameter: ArrayLike,
    temperature: ArrayLike = 1.0,
) -> float | Float64:
    """Bound how far one item can move the output z = Σ α_i v_i of a head.

    Two inputs differ in one item only, in its logit and in its value.  With α ≥ α' its
    two weights and u the mean of the others, which the weights share,

        z − z' = α' (v − v') + (α − α') (v − u),

    so |z − z'| ≤ α · diameter, and α is at most the bound of `sharp_weight_bounds`.
    This is why a head of bounded spread must fail on sharp tasks.

    Parameters
    ----------
    spread, num_items, temperature : as in `weight_bounds`, for both inputs
    diameter : ≥ 0, largest distance between two values, over both inputs

    Returns
    -------
    A distance, in the unit of `diameter`; a float or an array.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number in its range.
    """
    check_real("diameter", diameter, at_least=0)
    _, largest = sharp_weight_bounds(spread, num_items, temperature)
    return plain(np.asarray(largest) * np.asarray(diameter, dtype=np.float64))


def _two_level(scaled: Numbers, log_n: Numbers, log_top: Numbers) -> Numbers:
    """Entropy log k + log(1 + r) + x r / (1 + r), r = (n − k) exp(−x) / k."""
    with np.errstate(divide="ignore"):  # no item at the bottom: log 0
        log_bottom = log_n + np.log1p(-np.exp(log_top - log_n))
    log_ratio = log_bottom - log_top - scaled
    return log_top + np.logaddexp(0.0, log_ratio) + scaled * expit(log_ratio)


def _log_share_at_top(scaled: Numbers) -> Numbers:
    """Log of the best share k*/n = exp(−x) (x/(1 − exp(−x)) − 1) / (1 − exp(−x))."""
    # As x → 0 the share tends to 1/2, through 0/0; there any share is equally good.
    safe = np.maximum(scaled, 1e-6)
    complement = -np.expm1(-safe)
    return np.log(safe / complement - 1) - safe - np.log(complement)
