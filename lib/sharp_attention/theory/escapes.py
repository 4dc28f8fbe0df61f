"""What each way out of dispersion makes of one leader among equal others.

The two-level row: n keys, one logit ahead by the gap, all others at 0; closed forms,
our derivation for every map (for softmax it is the extremal row of Lemma 2.1).
Three numbers say what a map makes of it:

- weight: w of the leader;
- share: w over the sum of all absolute weights, the leader's part of what is read;
- signal to noise: w over the root of the sum of squares of the hay; with values of
  random sign on the hay, the attended vector is w v plus noise of this relative size.

Weights can stay while the share vanishes (maps that do not normalise), and vanish
while signal to noise grows (log-n scaling at a gap between 1/(2s) and 1/s).

Maps for which places count say in their name where the leader stands.
In `selective` every token votes with strength 1 against each key of the hay before it
and nobody against the leader, which stands first.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import special

from sharp_attention._checks import check_choice, check_integer, check_real
from sharp_attention.attention import temperature
from sharp_attention.theory import dispersion

__all__ = [
    "DROPPED",
    "MIX",
    "NUM_KEPT",
    "SCALE",
    "WIDTH",
    "Leader",
    "leader",
    "limit",
]

SCALE = 0.43
"""s of log-n scaling, the value of a figure of arXiv 2501.19399."""

NUM_KEPT = 4
WIDTH = 16
MIX = 0.5

DROPPED = {
    "softmax": "nothing",
    "adaptive": "a fixed temperature, up to a factor of 2.42",
    "differential": "nothing",
    "sigmoid-log-n": "normalisation, by name only",
    "log-n": "a temperature that does not depend on n",
    "entmax-1.5": "positive weights",
    "sparsemax": "positive weights",
    "top-4": "all keys take part",
    "hard": "a temperature above 0",
    "selective": "all keys take part",
    "window, leader inside": "all keys take part",
    "window, leader outside": "all keys take part",
    "sigmoid": "normalisation",
    "linear": "normalisation",
    "stick-breaking, leader last": "normalisation, order of no account",
    "stick-breaking, leader first": "normalisation, order of no account",
}
"""Every map, with the assumption of the dispersion theorem that it drops."""


class Leader(NamedTuple):
    """Three numbers of a row with one leader; see the module.

    Attributes
    ----------
    weight : of the leader; at least 0 but for differential attention
    share : of the leader in the sum of all absolute weights, in [0, 1]
    signal_to_noise : ≥ 0; inf where the hay has no weight at all
    """

    weight: float
    share: float
    signal_to_noise: float


class _Row(NamedTuple):
    weight: float
    mass: float
    squares: float


def leader(name: str, num_keys: int, gap: float) -> Leader:
    """Predict what a map makes of the two-level row.

    Parameters
    ----------
    name : in `DROPPED`
    num_keys : n ≥ 2
    gap : of the leader, ≥ 0 (nats)

    Raises
    ------
    TypeError, ValueError
        If the name is unknown or a number is not in its range.
    """
    check_choice("name", name, DROPPED)
    check_integer("num_keys", num_keys, at_least=2)
    check_real("gap", gap, at_least=0)
    return measured(*_ROWS[name](int(num_keys), float(gap)))


def measured(weight: float, mass: float, squares: float) -> Leader:
    """Turn the leader's weight and the sums over the hay into the three numbers.

    Parameters
    ----------
    weight : of the leader
    mass, squares : of the hay: sum of absolute weights, sum of squares
    """
    total = abs(weight) + mass
    share = abs(weight) / total if total else 0.0
    noise = math.sqrt(squares)
    ratio = abs(weight) / noise if noise else (math.inf if weight else 0.0)
    return Leader(float(weight), float(share), float(ratio))


def limit(name: str, gap: float) -> Leader:
    """Give what `leader` tends to as n → ∞ at a fixed gap.

    Parameters
    ----------
    name : in `DROPPED`
    gap : > 0

    Raises
    ------
    TypeError, ValueError
        If the name is unknown or the gap not a number > 0.
    """
    check_choice("name", name, DROPPED)
    check_real("gap", gap, above=0)
    return _LIMITS[name](float(gap))


def _equal(weight: float, hay: float, count: int) -> _Row:
    return _Row(weight, count * abs(hay), count * hay**2)


def _exponential(gap: float, count: int) -> _Row:
    """Softmax with `count` other keys."""
    if count == 0:
        return _Row(1.0, 0.0, 0.0)
    log_count = math.log(count)
    hay = special.expit(log_count - gap) / count
    return _equal(float(special.expit(gap - log_count)), float(hay), count)


def _adaptive(n: int, gap: float) -> _Row:
    entropy = dispersion.two_level_entropy(gap, n, 1)
    factor = max(float(np.polyval(temperature.POLYNOMIAL, entropy)), 1.0)
    return _exponential(factor * gap, n - 1)


def _differential(n: int, gap: float) -> _Row:
    """Minus `MIX` times a uniform row."""
    plain = _exponential(gap, n - 1)
    hay = plain.mass / (n - 1) - MIX / n
    return _equal(plain.weight - MIX / n, hay, n - 1)


def _sparsemax(n: int, gap: float) -> _Row:
    hay = max(1.0 - gap, 0.0) / n
    return _equal(1.0 - (n - 1) * hay, hay, n - 1)


def _entmax15(n: int, gap: float) -> _Row:
    """x² + (n − 1)(x − gap/2)² = 1, w = x²; all to the leader from a gap of 2 on."""
    if gap >= 2:
        return _Row(1.0, 0.0, 0.0)
    root = math.sqrt(4 * n - (n - 1) * gap**2)
    x = ((n - 1) * gap + root) / (2 * n)
    hay = ((root - gap) / (2 * n)) ** 2  # x − gap/2, without cancellation
    return _equal(x**2, hay, n - 1)


def _hard(n: int, gap: float) -> _Row:
    return _Row(1.0, 0.0, 0.0) if gap > 0 else _equal(1 / n, 1 / n, n - 1)


def _selective(n: int, gap: float) -> _Row:
    """Key k = 1 … n − 1 has max(n − 2 − k, 0) votes against it."""
    sums = [1 + math.expm1(-power * (n - 2)) / math.expm1(-power) for power in (1, 2)]
    total = math.exp(gap) + sums[0]
    return _Row(math.exp(gap) / total, sums[0] / total, sums[1] / total**2)


def _outside(n: int, gap: float) -> _Row:
    """Leader at the first place, seen only as long as the window reaches it."""
    if n <= WIDTH:
        return _exponential(gap, n - 1)
    return _Row(0.0, 1.0, 1 / WIDTH)


def _stick_last(n: int, gap: float) -> _Row:
    left = float(special.expit(-gap))
    mass = left * -math.expm1((1 - n) * math.log(2))
    squares = left**2 / 3 * -math.expm1((1 - n) * math.log(4))
    return _Row(float(special.expit(gap)), mass, squares)


def _stick_first(n: int, gap: float) -> _Row:
    """Halved n − 1 times before it comes to the leader."""
    mass = -math.expm1((1 - n) * math.log(2))
    squares = -math.expm1((1 - n) * math.log(4)) / 3
    return _Row(float(special.expit(gap)) * 0.5 ** (n - 1), mass, squares)


_ROWS: dict[str, Callable[[int, float], _Row]] = {
    "softmax": lambda n, gap: _exponential(gap, n - 1),
    "adaptive": _adaptive,
    "differential": _differential,
    "sigmoid-log-n": lambda n, gap: _equal(
        float(special.expit(gap - math.log(n))), 1 / (1 + n), n - 1
    ),
    "log-n": lambda n, gap: _exponential(SCALE * math.log(n) * gap, n - 1),
    "entmax-1.5": _entmax15,
    "sparsemax": _sparsemax,
    "top-4": lambda n, gap: _exponential(gap, min(NUM_KEPT, n) - 1),
    "hard": _hard,
    "selective": _selective,
    "window, leader inside": lambda n, gap: _exponential(gap, min(WIDTH, n) - 1),
    "window, leader outside": _outside,
    "sigmoid": lambda n, gap: _equal(float(special.expit(gap)), 0.5, n - 1),
    "linear": lambda n, gap: _equal(1 + gap, 1.0, n - 1),
    "stick-breaking, leader last": _stick_last,
    "stick-breaking, leader first": _stick_first,
}

_NOTHING = Leader(0.0, 0.0, 0.0)


def _kept(row: _Row) -> Leader:
    """Take a row that has stopped changing with n."""
    return measured(*row)


def _scaled_limit(gap: float) -> Leader:
    """n^(s gap) against n for the weight, against √n for signal to noise."""
    power = SCALE * gap
    weight = 1.0 if power > 1 else 0.5 if power == 1 else 0.0
    ratio = math.inf if power > 0.5 else 1.0 if power == 0.5 else 0.0
    return Leader(weight, weight, ratio)


def _entmax_limit(weight: float) -> Leader:
    """Hay that shares what is left evenly: each gets O(1/n), the noise O(1/√n)."""
    return Leader(weight, weight, math.inf)


_FAR = 10_000
"""Rows that converge like 2^−n have done so here."""

_LIMITS: dict[str, Callable[[float], Leader]] = {
    "softmax": lambda gap: _NOTHING,
    "adaptive": lambda gap: _NOTHING,
    "differential": lambda gap: _NOTHING,
    "sigmoid-log-n": lambda gap: _NOTHING,
    "log-n": _scaled_limit,
    "entmax-1.5": lambda gap: _entmax_limit(min(gap / 2, 1.0) ** 2),
    "sparsemax": lambda gap: _entmax_limit(min(gap, 1.0)),
    "top-4": lambda gap: _kept(_exponential(gap, NUM_KEPT - 1)),
    "hard": lambda gap: Leader(1.0, 1.0, math.inf),
    "selective": lambda gap: _kept(_selective(_FAR, gap)),
    "window, leader inside": lambda gap: _kept(_exponential(gap, WIDTH - 1)),
    "window, leader outside": lambda gap: _NOTHING,
    "sigmoid": lambda gap: Leader(float(special.expit(gap)), 0.0, 0.0),
    "linear": lambda gap: Leader(1 + gap, 0.0, 0.0),
    "stick-breaking, leader last": lambda gap: _kept(_stick_last(_FAR, gap)),
    "stick-breaking, leader first": lambda gap: _NOTHING,
}
