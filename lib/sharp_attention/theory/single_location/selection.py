"""The score of the token that counts in the max task.

A token of score x is chosen with probability

    pi(x) = P(position = l | chi*_l = x) = int dt e^{t - e^t} G(nu x - t),
    G(u) = (E exp(-e^{nu g - u}))^{L-1},

the chance that its score, blurred by a Gumbel variable of scale 1/nu, is the largest
(slr-population 4.3); pi = Phi^{L-1} at nu = infinity. L phi(x) pi(x) is the density of
the chosen score. Its mean mu_L(nu) fixes the risk of linear attention and, by Stein's
identity mu = nu * risk, the Bayes risk (2.6).
"""

import functools
import math
from typing import NamedTuple

import numpy as np
from scipy import special

from sharp_attention._checks import require
from sharp_attention._typing import Float64
from sharp_attention.numerics.gaussian import Rule
from sharp_attention.theory.single_location.affordable import LARGEST
from sharp_attention.theory.single_location.crowd import LOG_DENSITY, Crowd, survival
from sharp_attention.theory.single_location.windows import (
    GUMBEL_STEP,
    LARGEST_LOG,
    REACH,
    level_window,
)

__all__ = ["Selection", "select", "select_each"]

# From this multiple of the largest score on, a Gauss rule does the Gumbel averages.
SHARP = 32.0


class Selection(NamedTuple):
    """Quadrature for the chosen score; arrays of shape (scores,).

    Attributes
    ----------
    scores : x, equally spaced
    weights : sum(weights * f(scores)) = E f(chosen score)
    chance : pi(x)
    """

    scores: Float64
    weights: Float64
    chance: Float64


def select(signal: float, length: int, resolution: float = GUMBEL_STEP) -> Selection:
    """Law of the chosen score on texts of one length.

    Parameters
    ----------
    signal : nu >= 0, may be infinite
    length : number of tokens L >= 1
    resolution : largest distance of two nodes (it is smaller for large L)

    Returns
    -------
    Selection whose weights sum to 1 up to rounding
    """
    return select_each(float(signal), (length,), resolution)[0]


@functools.lru_cache(maxsize=64)
def select_each(
    signal: float, lengths: tuple[int, ...], resolution: float = GUMBEL_STEP
) -> tuple[Selection, ...]:
    """Law of the chosen score for several lengths, at common scores.

    Parameters
    ----------
    signal, resolution : as for `select`
    lengths : each >= 1

    Raises
    ------
    ValueError
        If the signal is finite and exceeds 1e100.
    """
    is_held = signal <= LARGEST or math.isinf(signal)
    require(is_held, "signal", f"at most {LARGEST:g} or infinite", signal)
    ranges = [_range(signal, length) for length in lengths]
    lower, upper = min(low for low, _ in ranges), max(high for _, high in ranges)
    # The largest of many scores varies on the scale of its inverse.
    largest = max(1.0, math.sqrt(2 * math.log(max(lengths))))
    step = min(resolution, GUMBEL_STEP, 0.28 / largest)
    scores = _spread(lower, upper, step)
    found = []
    for length in lengths:
        if signal < 1:
            chance = _gentle(signal, scores, length)
        elif signal < SHARP * largest:
            scores, chance = _steep(signal, lower, upper, step, length)
        else:
            chance = _sharp(signal, scores, Crowd.of(length - 1))
        density = _exp(math.log(length) + LOG_DENSITY - scores**2 / 2)
        weights = (scores[1] - scores[0]) * density * chance
        found.append(Selection(scores, weights, chance))
    return tuple(found)


def _range(signal: float, length: int) -> tuple[float, float]:
    """Scores between which the chosen one lies, up to a chance of about e^-40."""
    others = Crowd.of(length - 1)
    log_length = math.log(length)
    scores = np.arange(-REACH, math.sqrt(REACH**2 + 2 * log_length), 0.1)
    log_chance = np.zeros_like(scores)
    if length > 1 and math.isinf(signal):
        log_chance = -_exp(others.log_count + special.log_ndtr(-scores))
    elif length > 1:
        # pi(x) <= E min(1, e^{nu x} / Z), and Z is hardly ever below this level.
        level = level_window("softmax", signal, 0.0, others)[0].lower
        log_chance = np.minimum(signal * scores - level, 0.0)
    likely = scores[log_length - scores**2 / 2 + log_chance > -42]
    return float(likely[0]) - 0.1, float(likely[-1]) + 0.1


def _gentle(signal: float, scores: Float64, length: int) -> Float64:
    """Return pi(x) for nu < 1, by sums over all levels and scores."""
    others = Crowd.of(length - 1)
    g = _spread(-REACH, math.sqrt(REACH**2 + 2 * math.log(length)), 0.2)
    window, _ = level_window("softmax", signal, 0.0, Crowd.of(length))
    level = _spread(window.lower, window.upper + signal * scores[-1], GUMBEL_STEP)
    density = _exp(others.log_count + LOG_DENSITY - g**2 / 2) * (g[1] - g[0])
    t = np.minimum(signal * g - level[:, None], LARGEST_LOG)
    killed = -np.expm1(-np.exp(t)) @ density
    t = np.minimum(signal * scores - level[:, None], LARGEST_LOG)
    gumbel = np.exp(t - np.exp(t)) * (level[1] - level[0])
    return survival(killed, others, 1.0, np) @ gumbel


def _steep(
    signal: float, lower: float, upper: float, step: float, length: int
) -> tuple[Float64, Float64]:
    """Return scores and pi there for nu >= 1, by convolution on equally spaced levels.

    Both averages, over g and over t, are convolutions with e^{t - e^t}; the scores are
    every stride-th of the levels, over nu.
    """
    others = Crowd.of(length - 1)
    spacing = min(GUMBEL_STEP, signal * step)
    stride = int(signal * step / spacing)
    # The averages reach down to where e^t is negligible, or else to the last level:
    # in a dispersed crowd every token lies far below the level.
    highest = level_window("softmax", signal, 0.0, others)[0].upper
    below = math.ceil(max(42.0, highest + signal * REACH) / spacing)
    above = math.ceil(5.0 / spacing)
    num_levels = math.ceil((upper - lower) * signal / spacing / stride) * stride + 1
    start = math.floor(signal * lower / spacing)
    index = start + np.arange(-below - above, num_levels + below + above)
    crowd_above = _exp(others.log_count + special.log_ndtr(-spacing * index / signal))
    gumbel = _gumbel(spacing, below, above)
    killed = np.convolve(crowd_above, gumbel[::-1], "valid")
    alive = survival(killed, others, 1.0, np)
    chance = np.convolve(alive, gumbel, "valid")
    chosen = np.arange(0, len(chance), stride)
    scores = np.asarray(spacing * (start + chosen) / signal, np.float64)
    return scores, np.asarray(chance[chosen], np.float64)


def _sharp(signal: float, scores: Float64, others: Crowd) -> Float64:
    """Return pi(x) for a blur t/nu that is small on the scale of the scores."""
    t, weights = _gumbel_rule(16)
    shifted = scores[:, None, None] + (t - t[:, None]) / signal
    killed = _exp(others.log_count + special.log_ndtr(-shifted)) @ weights
    return survival(killed, others, 1.0, np) @ weights


def _gumbel(spacing: float, below: int, above: int) -> Float64:
    """Weights of e^{t - e^t} dt on equally spaced t."""
    t = spacing * np.arange(-below, above + 1)
    return spacing * np.exp(t - np.exp(t))


@functools.cache
def _gumbel_rule(num_nodes: int) -> Rule:
    """Gauss rule for the density e^{t - e^t}, by the recurrence of its polynomials."""
    t = GUMBEL_STEP * np.arange(-190, 21)
    weights = np.exp(t - np.exp(t))
    weights /= weights.sum()
    diagonal, beside = np.zeros(num_nodes), np.zeros(num_nodes)
    previous, current = np.zeros_like(t), np.ones_like(t)
    for degree in range(num_nodes):
        diagonal[degree] = weights @ (t * current**2)
        following = (t - diagonal[degree]) * current - beside[degree - 1] * previous
        beside[degree] = math.sqrt(weights @ following**2)
        previous, current = current, following / beside[degree]
    off = np.diag(beside[:-1], 1)
    nodes, vectors = np.linalg.eigh(np.diag(diagonal) + off + off.T)
    return Rule(nodes, vectors[0] ** 2)


def _spread(lower: float, upper: float, step: float) -> Float64:
    return np.linspace(lower, upper, math.ceil((upper - lower) / step) + 1)


def _exp(logarithm: Float64) -> Float64:
    """Exponential, cut off where a crowd is certain to be above a level."""
    return np.exp(np.minimum(logarithm, 300.0))
