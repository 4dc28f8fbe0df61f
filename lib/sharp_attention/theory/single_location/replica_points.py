"""Samples of the cavity fields: base randoms that are drawn once and for all.

The replica equations average over the law of one sample,

    a = m_k chi* + sqrt(q_k - c m_k^2) G,   b = sqrt(q_v) H,
    y = m_v / sqrt(q_v) H_0 + sqrt(1 + noise^2 - m_v^2 / q_v) xi,

where token 0 is the one that counts. In the spiked task chi* = sqrt(nu) e_0 is a number
and c = 0 (the Gaussian part of chi* is absorbed in G); in the max task chi* is random
and c = 1. The randoms chi*, G, H, xi do not depend on any parameter: with the same
points the equations are those of one smooth deterministic function.
"""

import math
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.special import logsumexp, ndtri
from scipy.stats import qmc

from sharp_attention._checks import check_integer
from sharp_attention._typing import Float64
from sharp_attention.channels.interface import Channel
from sharp_attention.numerics.gaussian import gauss_hermite
from sharp_attention.numerics.linalg import Rows, zero_sum_basis
from sharp_attention.tasks.single_location import MaxSLR, SpikedSLR, Task

__all__ = ["Points", "draw_points", "quadrature_points"]


class Points(NamedTuple):
    """Base randoms of the cavity fields of texts of one length; points last.

    Attributes
    ----------
    teacher : coordinates of chi*, one row each
    key_noise : G in the same coordinates
    value_noise : H, one row per token
    label_noise : xi
    weight : of each point; the weights of one length sum to its probability
    """

    teacher: Rows
    key_noise: Rows
    value_noise: Rows
    label_noise: Float[Array, " points"]
    weight: Float[Array, " points"]


def draw_points(
    task: Task, channel: Channel, num_points: int, seed: int, probability: float = 1.0
) -> Points:
    """Draw `num_points` scrambled Sobol points (a power of two balances them best).

    Parameters
    ----------
    task : SpikedSLR or MaxSLR
    channel : its length and its coordinates of the logits are used
    num_points : >= 1
    seed : of the scrambling
    probability : of texts of this length
    """
    check_integer("num_points", num_points, at_least=1)
    check_integer("seed", seed, at_least=0)
    sobol = qmc.Sobol(_dimension(task, channel), scramble=True, rng=seed)
    power = math.ceil(math.log2(num_points))
    uniform = sobol.random_base2(power)[:num_points]
    # A scrambled coordinate can be exactly 0, whose normal quantile is infinite.
    uniform = np.clip(uniform, 2.0**-53, 1 - 2.0**-53)
    weight = np.full(num_points, probability / num_points)
    return _points(task, channel, ndtri(uniform).T, weight)


def quadrature_points(
    task: Task, channel: Channel, num_nodes: int, probability: float = 1.0
) -> Points:
    """Tensor Gauss-Hermite rule with `num_nodes` nodes in every direction.

    It has num_nodes ** d points, d = 4 for softmax in the spiked task at length 2.
    """
    nodes, weights = gauss_hermite(num_nodes)
    dimension = _dimension(task, channel)
    grid = np.meshgrid(*[nodes] * dimension, indexing="ij")
    product = np.meshgrid(*[weights] * dimension, indexing="ij")
    normals = np.stack([axis.ravel() for axis in grid])
    weight = probability * np.prod([axis.ravel() for axis in product], axis=0)
    return _points(task, channel, normals, weight)


def _dimension(task: Task, channel: Channel) -> int:
    per_key = channel.num_coordinates
    random_teacher = per_key if isinstance(task, MaxSLR) else 0
    return random_teacher + per_key + channel.length + 1


def _points(task: Task, channel: Channel, normals: Float64, weight: Float64) -> Points:
    """Give every direction its role; expects to run in double precision."""
    length, size = channel.length, channel.num_coordinates
    label_noise, value_noise, key_noise, rest = np.split(
        normals, np.cumsum([1, length, size])
    )
    if isinstance(task, SpikedSLR):
        shift = np.zeros(length)
        shift[0] = math.sqrt(task.signal)
        teacher: Float64 = np.tile(shift[:, None], weight.size)
    else:
        teacher, weight = _mark_first(_scores(rest, length), weight, task.signal)
    return Points(
        channel.project(jnp.asarray(teacher)),
        tuple(jnp.asarray(key_noise)),
        tuple(jnp.asarray(value_noise)),
        jnp.asarray(label_noise[0]),
        jnp.asarray(weight),
    )


def _scores(normals: Float64, length: int) -> Float64:
    """Scores chi* of all tokens; up to a common shift where the channel ignores it."""
    if len(normals) == length:
        return normals
    return zero_sum_basis(length) @ normals


def _mark_first(
    scores: Float64, weight: Float64, signal: float
) -> tuple[Float64, Float64]:
    """Make token 0 the one that counts: by a swap at infinite signal, else by weight.

    All tokens are alike, so the law of the others given that token l counts does not
    depend on l, and P(token 0 counts) = 1 / L.
    """
    length = len(scores)
    if math.isinf(signal):
        largest = np.argmax(scores, axis=0)
        points = np.arange(weight.size)
        marked = scores.copy()
        marked[0], marked[largest, points] = scores[largest, points], scores[0]
        return marked, weight
    log_share = signal * scores[0] - logsumexp(signal * scores, axis=0)
    return scores, weight * length * np.exp(log_share)
