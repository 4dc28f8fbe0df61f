"""How the test risk of a replica solution moves with the ridges.

A solution x of x = F(x, rho), rho = (log r_k, log r_v), moves with the ridges by

    dx / drho = (1 - dF/dx)^-1 dF/drho,

a linear system of six equations (implicit function theorem). The derivatives of F pass
through the proximal points in the same way.
"""

from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from sharp_attention.channels.interface import Variances
from sharp_attention.theory.single_location.replica_equations import (
    Channels,
    Groups,
    Position,
    Problem,
    State,
    cavity_fields,
    conjugates,
    from_coordinates,
    next_state,
    sample_moments,
    to_coordinates,
)

__all__ = ["sensitivity"]


@partial(jax.jit, static_argnames="channels")
def sensitivity(
    problem: Problem,
    groups: Groups,
    coordinates: State,
    position: Position,
    *,
    channels: Channels,
) -> tuple[Float[Array, ""], Float[Array, "2"]]:
    """Test risk of a solution and its gradient in (log r_k, log r_v).

    Parameters
    ----------
    problem, groups, channels : as the solution was computed with
    coordinates, position : of the solution, see `replica_solver.Solved`
    """

    def step(point: State, logs: Float[Array, "2"]) -> tuple[State, Array]:
        state = from_coordinates(point)
        here = problem._replace(ridge_k=jnp.exp(logs[0]), ridge_v=jnp.exp(logs[1]))
        variances = Variances(state[2], state[5])
        place = tuple(
            channel.attach(rows, cavity_fields(state, here, points), variances)
            for rows, points, channel in zip(position, groups, channels, strict=True)
        )
        data = here, groups, channels
        following = next_state(conjugates(state, place, *data), state, here)
        return to_coordinates(following), sample_moments(state, place, *data).test_risk

    logs = jnp.log(jnp.stack([problem.ridge_k, problem.ridge_v]))
    _, risk = step(coordinates, logs)
    slopes, risk_slopes = jax.jacfwd(step, argnums=(0, 1))(coordinates, logs)
    moved = jnp.linalg.solve(jnp.eye(coordinates.size) - slopes[0], slopes[1])
    return risk, risk_slopes[0] @ moved + risk_slopes[1]
