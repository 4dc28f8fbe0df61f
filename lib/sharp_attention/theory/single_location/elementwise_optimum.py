"""The best element-wise weights: among all functions of one token, and of one family.

For k = m k* an element-wise weight is a function sigma of the teacher's score x of its
own token. With x_e the score of the token that counts, the risk at the best v is::

    1 - B^2 / A,    B = E sigma(x_e),
    A = E sigma(x_e)^2 + n E sigma(g)^2   (spiked, n = E L - 1)
      = E L sigma(g)^2                    (max),

so that a random length enters the spiked task by its mean alone, and the max task by
the density E_L [L pi_L(x)] phi(x) of x_e, slr-population (6.1). The minimum over all
functions is a posterior probability: sigmoid(sqrt(nu) x - nu/2 - log n) in the spiked
task (5.7), E_L[L pi_L(x)] / E L in the max task (5.9). Erf and sigmoid attention are
minimised over slope and offset.
"""

import math
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy import optimize, special

from sharp_attention._checks import require
from sharp_attention._typing import Float64
from sharp_attention.numerics import gaussian
from sharp_attention.tasks.single_location import SpikedSLR, Task, check_task
from sharp_attention.theory.single_location import rows, selection, windows
from sharp_attention.theory.single_location.crowd import LOG_DENSITY
from sharp_attention.theory.single_location.elementwise import log_sigmoidal

__all__ = ["best_slope_and_offset", "elementwise_bound"]

# Largest slope that the quadrature of the search resolves, over that of softmax.
STEEPEST = 3.0
NUM_STARTS = 3

# The fields of all starts take some hundred megabytes at this signal.
LARGEST_SPIKED = 40_000.0


class _Law(NamedTuple):
    """Score of the token that counts, and of the crowd.

    Attributes
    ----------
    scores, weights : quadrature for x_e
    log_crowd : log n in the spiked, log E L in the max task
    own_share : 1 where A contains E sigma(x_e)^2, else 0
    """

    scores: Float64
    weights: Float64
    log_crowd: float
    own_share: float


def elementwise_bound(task: Task) -> float:
    """Least risk of any weights that are a function of their own token alone.

    Parameters
    ----------
    task : SpikedSLR or MaxSLR; lengths at most 10**100 in the max task

    Returns
    -------
    risk at the best v, label noise included; it bounds that of erf, sigmoid and linear

    Raises
    ------
    ValueError
        If the signal of the spiked task exceeds 40,000.
    """
    check_task(task)
    _check_signal(task)
    bound = _spiked_bound if isinstance(task, SpikedSLR) else _max_bound
    return bound(task) + task.noise**2


def best_slope_and_offset(task: Task, activation: str) -> tuple[float, float]:
    """Slope m_k and offset of the best erf or sigmoid attention with k = m_k k*.

    Parameters
    ----------
    task : SpikedSLR or MaxSLR
    activation : "erf" or "sigmoid"

    Raises
    ------
    ValueError
        If the signal of the spiked task exceeds 40,000.
    """
    _check_signal(task)
    log_others = _log_mean_length(task, less=1)
    if task.signal == 0 or log_others == -math.inf:
        return 0.0, 0.0  # nothing to be told apart: constant weights
    if activation == "sigmoid" and isinstance(task, SpikedSLR):
        return math.sqrt(task.signal), -task.signal / 2 - log_others
    scale = _softmax_scale(task)
    law = _law(task, windows.GUMBEL_STEP / max(1.0, STEEPEST * scale))
    threshold = scale / 2 + max(log_others, 0.0) / scale
    starts = _starts(activation, scale, threshold)
    num_fields = rows.rung(4 * windows.REACH * max(1.0, STEEPEST * scale) / 0.22)
    with jax.enable_x64(True):
        values = np.asarray(_log_risks(activation, num_fields, starts, law))
        found = [
            optimize.minimize(
                partial(_value_and_gradient, activation, num_fields, law),
                starts[index],
                jac=True,
                method="BFGS",
                options={"gtol": 1e-9},
            )
            for index in np.argsort(values)[:NUM_STARTS]
        ]
    log_slope, offset = min(found, key=lambda result: result.fun).x
    return math.exp(log_slope), float(offset)


def _check_signal(task: Task) -> None:
    if isinstance(task, SpikedSLR):
        rule = f"at most {LARGEST_SPIKED:g} for element-wise weights"
        require(task.signal <= LARGEST_SPIKED, "signal", rule, task.signal)


def _spiked_bound(task: Task) -> float:
    """E sigmoid(log n - d), d ~ N(nu / 2, nu)."""
    log_others = _log_mean_length(task, less=1)
    width = math.sqrt(task.signal)
    step = 0.22 / max(1.0, width)
    reach = windows.REACH + width
    g, weights = gaussian.trapezoid(-reach, reach, step)
    return float(weights @ special.expit(log_others - task.signal / 2 - width * g))


def _max_bound(task: Task) -> float:
    """1 - E_x [sum_L P_L L pi_L(x)]^2 / E L."""
    probabilities = task.length_probabilities
    laws = selection.select_each(float(task.signal), tuple(probabilities))
    pairs = list(zip(probabilities.items(), laws, strict=True))
    mean = task.mean_length
    density, relative = np.zeros((2, len(laws[0].scores)))
    for (length, p), law in pairs:
        density += p * law.weights
        relative += p * (length / mean) * law.chance
    return float(1 - density @ relative)


def _log_mean_length(task: Task, less: int = 0) -> float:
    """Logarithm of E L - `less`, exact for lengths of any size."""
    lengths = task.length_probabilities.items()
    mean = sum((length - less) * Fraction(p) for length, p in lengths)
    if mean == 0:
        return -math.inf
    return math.log(mean.numerator) - math.log(mean.denominator)


def _softmax_scale(task: Task) -> float:
    """Return a typical best slope: that of softmax, or what separates the largest."""
    if isinstance(task, SpikedSLR):
        return math.sqrt(task.signal)
    resolvable = 1 + math.sqrt(2 * _log_mean_length(task))
    return min(task.signal, resolvable)


def _law(task: Task, resolution: float) -> _Law:
    if isinstance(task, SpikedSLR):
        g, weights = gaussian.trapezoid(step=resolution)
        scores = math.sqrt(task.signal) + g
        return _Law(scores, weights, _log_mean_length(task, less=1), 1.0)
    probabilities = task.length_probabilities
    laws = selection.select_each(
        float(task.signal), tuple(probabilities), resolution=resolution
    )
    chances = np.array(list(probabilities.values()))
    weights = chances @ np.stack([law.weights for law in laws])
    return _Law(laws[0].scores, weights, _log_mean_length(task), 0.0)


def _starts(activation: str, scale: float, threshold: float) -> Float64:
    """Points (log slope, offset) to start from.

    Sigmoids around the threshold where the weights saturate, and exponentials, the
    limit of very negative offsets.
    """
    slopes = scale * np.array([0.2, 0.3, 0.42, 0.6, 0.8, 1.0, 1.5])
    places = threshold * np.array([0.0, 0.3, 0.6, 0.8, 1.0, 1.3])
    sigmoids = [(math.log(m), -m * x) for m in slopes for x in places]
    offsets = -np.array([0.0, 0.3, 0.6, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 9.0, 14.0, 20.0])
    # The slope of log sigma at 0, which should be about `scale`, per unit of m.
    per_unit = special.expit(-offsets)
    if activation == "erf":
        density = LOG_DENSITY - offsets**2
        per_unit = math.sqrt(2) * np.exp(
            density - special.log_ndtr(math.sqrt(2) * offsets)
        )
    exponentials = [
        (math.log(scale * factor / unit), offset)
        for unit, offset in zip(per_unit, offsets, strict=True)
        for factor in (0.6, 0.9, 1.1)
    ]
    return np.array(sigmoids + exponentials)


@partial(jax.jit, static_argnums=(0, 1))
def _log_risks(
    activation: str, num_fields: int, points: Float[Array, "points 2"], law: _Law
) -> Float[Array, " points"]:
    return jax.vmap(lambda point: _log_risk(point, law, activation, num_fields))(points)


def _value_and_gradient(
    activation: str, num_fields: int, law: _Law, point: Float64
) -> tuple[float, Float64]:
    value, gradient = _DIFFERENTIATED(point, law, activation, num_fields)
    return float(value), np.asarray(gradient)


def _log_risk(
    point: Float[Array, "2"], law: _Law, activation: str, num_fields: int
) -> Float[Array, ""]:
    """Logarithm of the risk at the best v; weights may be arbitrarily small."""
    slope, offset = jnp.exp(point[0]), point[1]
    log_own = log_sigmoidal(activation, slope * law.scores + offset)
    reference = jax.lax.stop_gradient(jnp.max(log_own))
    own = jnp.exp(log_own - reference)
    g = _crowd_fields(activation, slope, offset, num_fields)
    log_step = jnp.log(g[1] - g[0]) + LOG_DENSITY
    log_crowd = 2 * (log_sigmoidal(activation, slope * g + offset) - reference)
    crowd = jnp.sum(jnp.exp(law.log_crowd + log_step + log_crowd - g**2 / 2))
    kept = law.weights @ own
    squares = crowd + law.own_share * (law.weights @ own**2)
    variance = law.weights @ (own - kept) ** 2
    excess = jnp.where(law.own_share > 0, crowd + variance, squares - kept**2)
    return jnp.log(excess) - jnp.log(squares)


def _crowd_fields(
    activation: str, slope: Float[Array, ""], offset: Float[Array, ""], count: int
) -> Float[Array, " fields"]:
    """Range of g that holds E sigma^2, as in `elementwise`."""
    slope, offset = jax.lax.stop_gradient((slope, offset))
    steep = 2 * slope
    if activation == "erf":
        steep = -4 * offset * slope / (1 + 4 * slope**2)
    tilt = jnp.clip(jnp.minimum(steep, -offset / slope), 0.0)
    return jnp.linspace(-windows.REACH, tilt + windows.REACH, count)


_DIFFERENTIATED = jax.jit(jax.value_and_grad(_log_risk), static_argnums=(2, 3))
