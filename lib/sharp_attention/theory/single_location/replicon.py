"""Stability of the replica-symmetric solution (de Almeida and Thouless).

A small difference between two copies of the system grows or shrinks by the matrix

    R_ab = alpha V_a^2 E |J_ab|^2,   J = d g / d w,   g = (prox - w) / V,

a, b in {k, v}. The solution is stable where the largest eigenvalue of R, the replicon,
is below 1. Where the proximal map jumps E |J|^2 is infinite and no average over points
shows it: look at the share of points with several minima as well.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from sharp_attention.channels.interface import Channel, Response, Variances
from sharp_attention.theory.single_location.replica_equations import (
    Channels,
    Groups,
    Position,
    Problem,
    State,
    cavity_fields,
)

__all__ = ["replicon"]


def replicon(
    state: State,
    position: Position,
    problem: Problem,
    groups: Groups,
    channels: Channels,
) -> Float[Array, ""]:
    """Largest eigenvalue of R, >= 0; infinity where double precision can't tell it."""
    variances = Variances(state[2], state[5])
    average = jnp.zeros((2, 2))
    for place, points, channel in zip(position, groups, channels, strict=True):
        fields = cavity_fields(state, problem, points)
        response = channel.response(place, fields, variances)
        norms = _jacobian_norms(channel, response, variances)
        average += jnp.einsum("p,pab->ab", points.weight, norms)
    scale = problem.sample_ratio * jnp.stack(variances) ** 2
    (a, b), (c, d) = scale[:, None] * average
    largest = (a + d) / 2 + jnp.sqrt((a - d) ** 2 / 4 + b * c)
    return jnp.where(jnp.isfinite(largest), largest, jnp.inf)


def _jacobian_norms(
    channel: Channel, response: Response, variances: Variances
) -> Float[Array, "points 2 2"]:
    """Squared Frobenius norms of the four blocks of J, for every point."""
    length = channel.length

    def read_out(place: Float[Array, " fields"]) -> Float[Array, ""]:
        # A channel takes batches: this is one of a single point.
        weights = channel.weights(channel.project(place[:length, None]))
        return jnp.concatenate(weights) @ place[length:]

    def loss(place: Float[Array, " fields"], target: Float[Array, ""]) -> Array:
        return (target - read_out(place)) ** 2 / 2

    place = jnp.stack([*response.logits, *response.value], axis=1)
    target = response.residual + jax.vmap(read_out)(place)
    curvature = jax.vmap(jax.hessian(loss))(place, target)
    scale = jnp.repeat(jnp.stack(variances), length)
    unity = jnp.eye(2 * length)
    moved = jnp.linalg.inv(unity + scale[:, None] * curvature)
    jacobian = (moved - unity) / scale[:, None]
    blocks = jacobian.reshape(-1, 2, length, 2, length)
    return jnp.sum(blocks**2, axis=(2, 4))
