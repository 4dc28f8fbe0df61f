"""The iteration that solves the replica equations, as one compiled function.

A round finds the proximal points by the search from many starts and then iterates the
six equations, following those points. A round that finds nothing left to do confirms
the solution: its residual is measured at points that were just searched for, so no
sample sits in a minimum that has stopped being the best one.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float, Int

from sharp_attention.channels.interface import Variances
from sharp_attention.numerics import fixed_point
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
    potential,
    sample_moments,
    to_coordinates,
)
from sharp_attention.theory.single_location.replicon import replicon

__all__ = ["Observed", "Solved", "iterate", "observe", "refine", "search"]

# Steps between two searches, weight of the old iterate, longest move of a coordinate.
_ROUND_STEPS, _DAMPING, _MAX_MOVE = 12, 0.3, 2.0
# A processor takes so many points at a time: their rows stay in its cache, and a block
# that is done does not wait for the slowest point of all. A GPU takes all at once.
_BLOCK = 2**13
# Squared length of a head without ridge that is on its way to infinity.
_ENDLESS = 1e6


class Solved(NamedTuple):
    """Where the iteration ended.

    Attributes
    ----------
    coordinates : of the state
    position : proximal points there
    multistable_fraction : share of points with several minima at the last search
    residual : largest change of a coordinate in one undamped step
    num_steps : evaluations of the six equations
    is_converged : whether the residual, at points just searched for, is small enough
    """

    coordinates: State
    position: Position
    multistable_fraction: Float[Array, ""]
    residual: Float[Array, ""]
    num_steps: Int[Array, ""]
    is_converged: Bool[Array, ""]


class Observed(NamedTuple):
    """Everything that is read off at the end.

    `energy` is the objective per dimension, from losses and penalties; `potential` is
    its value as the extremum of the replica potential. They agree at a solution.
    `runs_away` says that no minimiser is as long as the head: the iteration is on its
    way to infinity, however slowly.
    """

    state: State
    conjugate: State
    training_loss: Float[Array, ""]
    test_risk: Float[Array, ""]
    energy: Float[Array, ""]
    potential: Float[Array, ""]
    replicon: Float[Array, ""]
    runs_away: Bool[Array, ""]


@partial(jax.jit, static_argnames="channels")
def iterate(
    problem: Problem,
    groups: Groups,
    start: State,
    tolerance: Float[Array, ""],
    max_steps: Int[Array, ""],
    *,
    channels: Channels,
) -> Solved:
    """Iterate from the coordinates `start`; runs under ``vmap``."""

    def update(coordinates: State, position: Position) -> tuple[State, Position]:
        state = from_coordinates(coordinates)
        position = refine(position, state, problem, groups, channels)
        conjugate = conjugates(state, position, problem, groups, channels)
        return to_coordinates(next_state(conjugate, state, problem)), position

    def advance(last: Solved) -> Solved:
        state = from_coordinates(last.coordinates)
        position, fraction = search(state, problem, groups, channels)
        found = fixed_point.solve(
            update,
            last.coordinates,
            position,
            tolerance=tolerance,
            max_steps=jnp.minimum(_ROUND_STEPS, max_steps - last.num_steps),
            damping=_DAMPING,
            max_move=_MAX_MOVE,
        )
        is_confirmed = found.is_converged & (found.num_steps <= 1)
        num_steps = last.num_steps + found.num_steps
        numbers = fraction, found.residual, num_steps, is_confirmed
        return Solved(found.value, found.state, *numbers)

    def is_running(last: Solved) -> Bool[Array, ""]:
        return ~last.is_converged & (last.num_steps < max_steps)

    zero = jnp.zeros(())
    shape = jax.eval_shape(lambda: search(start, problem, groups, channels)[0])
    nowhere = jax.tree.map(lambda row: jnp.zeros(row.shape, row.dtype), shape)
    numbers = zero, zero, jnp.asarray(0), jnp.asarray(False)
    return lax.while_loop(is_running, advance, Solved(start, nowhere, *numbers))


@partial(jax.jit, static_argnames="channels")
def observe(
    problem: Problem,
    groups: Groups,
    coordinates: State,
    position: Position,
    *,
    channels: Channels,
) -> Observed:
    """Read everything off at the end of an iteration; runs under ``vmap``."""
    state = from_coordinates(coordinates)
    data = problem, groups, channels
    conjugate = conjugates(state, position, *data)
    training_loss, test_risk = sample_moments(state, position, *data)
    _, q_k, _, _, q_v, _ = state
    penalty = problem.ridge_k * q_k + problem.ridge_v * q_v
    return Observed(
        state,
        conjugate,
        training_loss,
        test_risk,
        energy=(problem.sample_ratio * training_loss + penalty) / 2,
        potential=potential(state, conjugate, position, *data),
        replicon=replicon(state, position, *data),
        runs_away=_runs_away(q_k, problem.ridge_k, problem)
        | _runs_away(q_v, problem.ridge_v, problem),
    )


def _runs_away(
    length: Float[Array, ""], ridge: Float[Array, ""], problem: Problem
) -> Bool[Array, ""]:
    """Whether a squared length is beyond that of a minimiser.

    The objective of a minimiser is at most that of the head zero, so its squared length
    is at most alpha (1 + noise^2) / r. Without a ridge there is no such bound, and what
    is a thousand times longer than its teacher counts as endless.
    """
    unexplained = problem.sample_ratio * (1 + problem.noise_variance)
    bound = jnp.where(ridge > 0, unexplained / ridge, 0.0)
    return length > jnp.maximum(bound, _ENDLESS)


def search(
    state: State, problem: Problem, groups: Groups, channels: Channels
) -> tuple[Position, Float[Array, ""]]:
    """Find proximal points from many starts, and the share of multistable ones."""
    variances = Variances(state[2], state[5])
    fraction = jnp.zeros(())
    position = []
    for points, channel in zip(groups, channels, strict=True):
        fields = cavity_fields(state, problem, points)
        found = _by_blocks(partial(channel.search, variances=variances), fields)
        position.append(found.position)
        fraction += points.weight @ found.is_multistable.astype(points.weight.dtype)
    return tuple(position), fraction


def refine(
    position: Position,
    state: State,
    problem: Problem,
    groups: Groups,
    channels: Channels,
) -> Position:
    """Follow proximal points to a new state."""
    variances = Variances(state[2], state[5])
    return tuple(
        _by_blocks(
            partial(channel.refine, variances=variances),
            *(place, cavity_fields(state, problem, points)),
        )
        for place, points, channel in zip(position, groups, channels, strict=True)
    )


def _by_blocks(function: Callable[..., Any], *rows: Any) -> Any:
    """Apply what treats every point alone; points are the last axis of every leaf."""
    num_points = jax.tree.leaves(rows)[0].shape[-1]
    is_whole = num_points <= _BLOCK or num_points % _BLOCK != 0
    if is_whole or jax.default_backend() != "cpu":
        return function(*rows)
    blocks = jax.tree.map(lambda row: row.reshape(-1, _BLOCK), rows)
    found = lax.map(lambda block: function(*block), blocks)
    return jax.tree.map(lambda row: row.reshape(num_points), found)
