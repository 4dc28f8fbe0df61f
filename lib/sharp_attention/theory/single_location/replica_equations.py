"""The six replica-symmetric equations of ridge-regularised empirical risk minimisation.

State: theta = (m_k, q_k, V_k, m_v, q_v, V_v). With Psi(theta) the average of the
proximal value M over the law of one sample (`replica_points`), the conjugates are

    mhat = -alpha dPsi/dm,   Vhat = 2 alpha dPsi/dq,   qhat = -2 alpha dPsi/dV,

and each of k and v solves a scalar ridge problem in their field:

    V = 1 / (r + Vhat),   m = mhat V,   q = (mhat^2 + qhat) V^2.

Psi is a minimum over the proximal point, so the derivatives are taken with that point
frozen (envelope theorem): no Jacobian of the proximal map, and nothing is lost where
the map jumps. The iteration runs in coordinates in which every state is admissible,
(artanh(m / sqrt(q)), log q, log V) for k and for v.
"""

from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from sharp_attention.channels.interface import Channel, Fields, Variances
from sharp_attention.numerics.linalg import Rows, dot
from sharp_attention.theory.single_location.replica_points import Points

__all__ = [
    "Groups",
    "Position",
    "Problem",
    "cavity_fields",
    "conjugates",
    "from_coordinates",
    "next_state",
    "potential",
    "sample_moments",
    "to_coordinates",
]

Groups: TypeAlias = tuple[Points, ...]
"""Points of each possible length, in the order of the channels."""

Position: TypeAlias = tuple[Rows, ...]
"""Proximal points of each group."""

Channels: TypeAlias = tuple[Channel, ...]
State: TypeAlias = Float[Array, "6"]

# Coordinates stay where double precision resolves them: artanh(m / sqrt(q)) below 15
# leaves 1 - m^2 / q above 1e-13, and e^40 is beyond every overlap of interest.
_LARGEST_ANGLE, _LARGEST_LOG = 15.0, 40.0
# The precision r + Vhat is positive at a solution; on the way it may not shrink by
# more than this factor in a step.
_SHRINKAGE = 0.1


class Problem(NamedTuple):
    """The numbers of one problem; arrays, so that nothing is compiled twice.

    Attributes
    ----------
    sample_ratio : alpha = N / D
    ridge_k, ridge_v : r_k and r_v
    noise_variance : of the labels
    teacher_is_random : 1 if chi* is drawn (max task), 0 if it is a number (spiked)
    """

    sample_ratio: Float[Array, ""]
    ridge_k: Float[Array, ""]
    ridge_v: Float[Array, ""]
    noise_variance: Float[Array, ""]
    teacher_is_random: Float[Array, ""]


class Moments(NamedTuple):
    """What is observed on one sample, averaged.

    Attributes
    ----------
    training_loss : squared residual after the pull
    test_risk : squared residual without it, noise included
    """

    training_loss: Float[Array, ""]
    test_risk: Float[Array, ""]


def cavity_fields(state: State, problem: Problem, points: Points) -> Fields:
    """Fields of fresh samples, as functions of the state."""
    m_k, q_k, _, m_v, q_v, _ = state
    spread = jnp.sqrt(q_k - problem.teacher_is_random * m_k**2)
    key = tuple(
        m_k * mean + spread * noise
        for mean, noise in zip(points.teacher, points.key_noise, strict=True)
    )
    value = tuple(jnp.sqrt(q_v) * noise for noise in points.value_noise)
    unexplained = jnp.sqrt(1 + problem.noise_variance - m_v**2 / q_v)
    known = m_v / jnp.sqrt(q_v) * points.value_noise[0]
    return Fields(key, value, known + unexplained * points.label_noise)


def conjugates(
    state: State,
    position: Position,
    problem: Problem,
    groups: Groups,
    channels: Channels,
) -> State:
    """Conjugates (mhat, qhat, Vhat) of k and then of v, with the position frozen."""
    slope = jax.grad(_mean_envelope)(state, position, problem, groups, channels)
    m_k, q_k, v_k, m_v, q_v, v_v = problem.sample_ratio * slope
    return jnp.stack([-m_k, -2 * v_k, 2 * q_k, -m_v, -2 * v_v, 2 * q_v])


def next_state(conjugate: State, state: State, problem: Problem) -> State:
    """Solve the scalar ridge problems in the fields that `conjugate` describes.

    A precision r + Vhat that is not positive (it can't be at a solution) is replaced
    by a tenth of the old one.
    """
    ridges = problem.ridge_k, problem.ridge_v
    following = []
    for side, ridge in enumerate(ridges):
        m_hat, q_hat, v_hat = conjugate[3 * side : 3 * side + 3]
        precision = jnp.maximum(ridge + v_hat, _SHRINKAGE / state[3 * side + 2])
        mean = m_hat / precision
        following += [mean, mean**2 + q_hat / precision**2, 1 / precision]
    return jnp.stack(following)


def sample_moments(
    state: State,
    position: Position,
    problem: Problem,
    groups: Groups,
    channels: Channels,
) -> Moments:
    """Training loss and test risk."""
    _, _, v_k, m_v, q_v, v_v = state
    loss, first, second = jnp.zeros(()), jnp.zeros(()), jnp.zeros(())
    for place, points, channel in zip(position, groups, channels, strict=True):
        fields = cavity_fields(state, problem, points)
        response = channel.response(place, fields, Variances(v_k, v_v))
        weights = channel.weights(fields.key)
        loss += points.weight @ response.residual**2
        first += points.weight @ weights[0]
        second += points.weight @ dot(weights, weights)
    test = 1 + problem.noise_variance - 2 * m_v * first + q_v * second
    return Moments(loss, test)


def potential(
    state: State,
    conjugate: State,
    position: Position,
    problem: Problem,
    groups: Groups,
    channels: Channels,
) -> Float[Array, ""]:
    """Ground-state energy per dimension: the replica potential at its extremum.

    At a solution it equals alpha / 2 * training loss + r_k q_k / 2 + r_v q_v / 2.
    """
    envelope = _mean_envelope(state, position, problem, groups, channels)
    energy = problem.sample_ratio * envelope
    for side, ridge in enumerate((problem.ridge_k, problem.ridge_v)):
        m, q, v = state[3 * side : 3 * side + 3]
        m_hat, q_hat, v_hat = conjugate[3 * side : 3 * side + 3]
        energy += m * m_hat + (q_hat * v - v_hat * q) / 2
        energy -= (m_hat**2 + q_hat) / (2 * (ridge + v_hat))
    return energy


def to_coordinates(state: State) -> State:
    """Coordinates (artanh(m / sqrt(q)), log q, log V) of each side, bounded."""
    m, q, v = state.reshape(2, 3).T
    q, v = (jnp.log(jnp.maximum(x, jnp.exp(-_LARGEST_LOG))) for x in (q, v))
    ratio = jnp.clip(m / jnp.exp(q / 2), -1.0, 1.0)
    angle = jnp.clip(jnp.arctanh(ratio), -_LARGEST_ANGLE, _LARGEST_ANGLE)
    logs = (jnp.minimum(x, _LARGEST_LOG) for x in (q, v))
    return jnp.stack([angle, *logs], axis=1).reshape(6)


def from_coordinates(coordinates: State) -> State:
    """Invert `to_coordinates`; coordinates out of bounds are taken to the bound."""
    angle, log_q, log_v = coordinates.reshape(2, 3).T
    angle = jnp.clip(angle, -_LARGEST_ANGLE, _LARGEST_ANGLE)
    q, v = (jnp.exp(jnp.clip(x, -_LARGEST_LOG, _LARGEST_LOG)) for x in (log_q, log_v))
    return jnp.stack([jnp.tanh(angle) * jnp.sqrt(q), q, v], axis=1).reshape(6)


def _mean_envelope(
    state: State,
    position: Position,
    problem: Problem,
    groups: Groups,
    channels: Channels,
) -> Float[Array, ""]:
    """Average proximal value Psi; differentiate it with `position` held fixed."""
    mean = jnp.zeros(())
    for place, points, channel in zip(position, groups, channels, strict=True):
        fields = cavity_fields(state, problem, points)
        variances = Variances(state[2], state[5])
        mean += points.weight @ channel.envelope(place, fields, variances)
    return mean
