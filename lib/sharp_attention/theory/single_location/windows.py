"""Where the integrands of normalised weights live: ranges and steps of quadrature.

Two variables are integrated: the level u of 1/Z (see `crowd`) and the standard normal
fluctuation g of one score slope * g. All integrands are analytic in a strip and decay
fast, so the trapezoid rule converges exponentially; what matters is to cover the range
and not to step over the narrowest feature. That is the Gumbel factor
exp(t - e^t), t = log omega - u: analytic for |Im t| < pi/2, so that steps of 0.22 leave
exp(-pi^2 / 0.22) = 3e-20.
"""

import math
from types import ModuleType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy import special

from sharp_attention.theory.single_location.crowd import Crowd

__all__ = [
    "GUMBEL_STEP",
    "LARGEST_LOG",
    "REACH",
    "Levels",
    "Window",
    "field_window",
    "level_window",
    "log_omega",
    "log_weight",
]

REACH = 12.0
"""Half-width of the Gaussian range: 4e-33 of the mass lie beyond."""

GUMBEL_STEP = 0.22
GAUSSIAN_STEP = 0.25

# exp(-38) = 3e-17: a factor that no longer counts.
NEGLIGIBLE = 38.0

# Below this level only exponentially small weights are found.
KNEE = -30.0

# Further than this below its maximum a double is zero.
UNDERFLOW = 700.0

# omega = e^7 makes omega^2 exp(-omega) smaller than the smallest double.
LARGEST_LOG = 7.0


class Window(NamedTuple):
    """An interval of g and the number of trapezoid nodes that it needs."""

    lower: float
    upper: float
    num_nodes: float


class Levels(NamedTuple):
    """A range of levels u, in a variable that stretches very low levels.

    Softplus weights of negative scores fall like e^x and spread over many levels, where
    nothing varies on the scale of 1: u = s - (stretch - 1) log(1 + e^{-s - 30}) has
    steps of du = ds above -30 and of du = stretch ds far below.

    Attributes
    ----------
    lower, upper : range of s
    stretch : 1 for u = s
    """

    lower: float
    upper: float
    stretch: float

    def nodes(
        self, count: int
    ) -> tuple[Float[Array, " levels"], Float[Array, " levels"]]:
        """Levels u and their quadrature weights."""
        s = jnp.linspace(self.lower, self.upper, count)
        excess = self.stretch - 1
        step = (s[1] - s[0]) * (1 + excess * jax.nn.sigmoid(KNEE - s))
        return s - excess * jax.nn.softplus(KNEE - s), step


def log_weight(activation: str, scores: Any, xp: ModuleType = jnp) -> Any:
    """Logarithm of the unnormalised token weight: e^x or log(1 + e^x).

    Parameters
    ----------
    activation : "softmax" or "softplus"
    scores : array of the namespace `xp`
    """
    if activation == "softmax":
        return scores
    # log log(1 + y) = log y - y/2 + O(y^2); below e^-20 the rest is under 1e-18.
    small = scores - xp.exp(xp.minimum(scores, 0.0)) / 2
    large = xp.log(xp.logaddexp(0.0, xp.maximum(scores, -20.0)))
    return xp.where(scores < -20.0, small, large)


def log_omega(activation: str, scores: Any, level: Any) -> Any:
    """Logarithm of omega = weight e^{-u}, cut off where exp(-omega) is zero."""
    return jnp.minimum(log_weight(activation, scores) - level, LARGEST_LOG)


def field_window(slope: float, low: float, high: float) -> Window:
    """Range [low, high] of g, with steps that resolve the Gumbel factor in it."""
    step = min(GAUSSIAN_STEP, GUMBEL_STEP / slope) if slope > 0 else GAUSSIAN_STEP
    return Window(low, high, (high - low) / step)


def level_window(
    activation: str,
    slope: float,
    drift: float,
    crowd: Crowd,
    largest_step: float = math.inf,
) -> tuple[Levels, float]:
    """Range of u for a crowd of scores slope * g beside one of mean slope * drift.

    Parameters
    ----------
    activation : "softmax" or "softplus"
    slope : standard deviation of a score
    drift : mean of the special score over `slope`; 0 where there is none
    crowd : the other tokens
    largest_step : bound on the step of u

    Returns
    -------
    the range, and the number of nodes that it needs
    """
    if crowd.log_count == -math.inf:
        return Levels(-1.0, 1.0, 1.0), 2  # a lone token: every integrand is zero
    lower = _lower_level(activation, slope, crowd)
    largest = _largest_field(crowd)
    # Wide Gaussians smooth the Gumbel factor, which steepens again in large crowds.
    step = min(GUMBEL_STEP * max(1.0, slope / (1 + largest)), largest_step)
    if activation == "softmax":
        upper = _upper_level(slope, largest, slope * drift, crowd)
        return Levels(lower, upper, 1.0), (upper - lower) / step
    typical = crowd.log_count + math.log(math.log(2) + slope)
    start = max(typical, float(log_weight(activation, slope * drift, np)))
    upper, stretch = start + NEGLIGIBLE + 4, max(1.0, step / GUMBEL_STEP)
    lower = KNEE + (lower - KNEE) / stretch if lower < KNEE else lower
    return Levels(lower, upper, stretch), (upper - lower) / GUMBEL_STEP


def _upper_level(slope: float, largest: float, special: float, crowd: Crowd) -> float:
    """Level of softmax weights above which no integrand counts."""
    typical = slope * largest  # frozen: the largest score dominates
    if slope < largest:
        typical = crowd.log_count + slope**2 / 2
    upper = max(
        _tail(slope, max(typical, special), NEGLIGIBLE),
        special + _tail(slope, 0.0, NEGLIGIBLE),
    )
    return min(upper, _tail(slope, typical, UNDERFLOW))


def _lower_level(activation: str, slope: float, crowd: Crowd) -> float:
    """Level at which e^-40 is the chance that all tokens of the crowd stay below it."""
    log_count = crowd.log_count
    levels = []
    if log_count < 100:
        lowest_maximum = special.ndtri_exp(-40 * math.exp(-log_count))
        levels.append(log_weight(activation, slope * lowest_maximum, np) - 4.0)
    if log_count > 5:
        # 72 tokens or more with a field above `field` have a total weight above this.
        highest = -special.ndtri_exp(math.log(72) - log_count)
        field = np.append(np.linspace(0, highest, 9), min(slope, highest))
        total = log_count + special.log_ndtr(-field)
        levels.append(np.max(log_weight(activation, slope * field, np) + total) - 3.9)
    return float(max(levels))


def _largest_field(crowd: Crowd) -> float:
    """Typical largest of n standard normal variables, 0 for one or two."""
    if crowd.log_count < 1:
        return 0.0
    return max(0.0, -float(special.ndtri_exp(-crowd.log_count)))


def _tail(slope: float, start: float, drop: float) -> float:
    """Level u > `start` at which E omega e^{-u} has fallen by e^-drop.

    It falls like the Gaussian e^{-u^2 / 2 slope^2} up to u = slope^2, then like e^{-u}.
    """
    variance = slope**2
    if start >= variance:
        return start + drop
    gaussian = math.sqrt(start**2 + 2 * drop * variance)
    if gaussian <= variance:
        return gaussian
    return variance + drop - (variance**2 - start**2) / (2 * variance)
