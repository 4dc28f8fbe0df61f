"""From a user's arguments to what the compiled iteration takes.

Everything is checked here. All functions but `prepare` expect to run inside
``jax.enable_x64(True)``.
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from sharp_attention._checks import check_choice, check_integer, check_real, require
from sharp_attention._typing import ArrayLike, Scalar
from sharp_attention.channels.proximal import channel
from sharp_attention.tasks.single_location import (
    MaxSLR,
    Overlaps,
    Task,
    check_task,
)
from sharp_attention.theory.single_location.replica_equations import (
    Channels,
    Groups,
    Problem,
    State,
    to_coordinates,
)
from sharp_attention.theory.single_location.replica_points import (
    draw_points,
    quadrature_points,
)

__all__ = [
    "Setting",
    "as_limits",
    "as_problem",
    "named_start",
    "overlap_start",
    "prepare",
]

# Overlap of the named starts with the teachers, in units of the lengths.
_STARTS = {"informed": 0.9, "random": 0.1}
# A start lies inside the admissible set: not exactly aligned, and not of length zero.
_LARGEST_ALIGNMENT, _SMALLEST_LENGTH = 0.999, 1e-8


class Setting(NamedTuple):
    """What is compiled and sampled once for a whole family of problems.

    Attributes
    ----------
    channels : one for each possible length
    groups : their points, in the same order
    """

    channels: Channels
    groups: Groups


def prepare(
    task: Task,
    activation: str,
    num_points: int,
    seed: int = 0,
    num_nodes: int | None = None,
    offset: float = 0.0,
) -> Setting:
    """Draw the points of a task, for all sample ratios and ridges.

    Parameters
    ----------
    task, activation, num_points, seed, num_nodes, offset : see `replica.solve`

    Raises
    ------
    TypeError, ValueError
        If one of them is out of range.
    """
    check_task(task)
    probabilities = task.length_probabilities
    channels = tuple(channel(activation, length, offset) for length in probabilities)
    pairs = list(zip(channels, probabilities.values(), strict=True))
    with jax.enable_x64(True):
        if num_nodes is None:
            groups = (draw_points(task, c, num_points, seed, p) for c, p in pairs)
        else:
            groups = (quadrature_points(task, c, num_nodes, p) for c, p in pairs)
        return Setting(channels, tuple(groups))


def as_problem(
    task: Task, sample_ratio: Scalar, ridge_k: Scalar, ridge_v: Scalar
) -> Problem:
    """Check the numbers of one problem and make arrays of them.

    Raises
    ------
    TypeError, ValueError
        If one is an array, the sample ratio is not positive, or a ridge is negative or
        not finite.
    """
    given = {"sample_ratio": sample_ratio, "ridge_k": ridge_k, "ridge_v": ridge_v}
    for name, number in given.items():
        require(np.ndim(number) == 0, name, "one number", number)
    check_real("sample_ratio", sample_ratio, above=0)
    check_real("ridge_k", ridge_k, at_least=0)
    check_real("ridge_v", ridge_v, at_least=0)
    numbers = sample_ratio, ridge_k, ridge_v, task.noise**2, isinstance(task, MaxSLR)
    return Problem(*(jnp.asarray(np.float64(x)) for x in numbers))


def as_limits(max_steps: int, tol: float) -> tuple[Float[Array, ""], Int[Array, ""]]:
    """Check the limits of the iteration; returns (tolerance, largest step count).

    Raises
    ------
    TypeError, ValueError
        If `max_steps` is below 1 or `tol` is negative.
    """
    check_integer("max_steps", max_steps, at_least=1)
    check_real("tol", tol, at_least=0)
    return jnp.asarray(np.float64(tol)), jnp.asarray(np.int64(max_steps))


def named_start(name: str, problem: Problem) -> State:
    """Coordinates of the start called "informed" or "random".

    Raises
    ------
    ValueError
        If there is none of that name.
    """
    check_choice("init", name, _STARTS)
    overlap = _STARTS[name]
    return overlap_start(Overlaps(overlap, 1.0, overlap, 1.0), problem)


def overlap_start(overlaps: Overlaps, problem: Problem) -> State:
    """Coordinates of a start at given overlaps, with responses of the size 1 / (1 + r).

    Raises
    ------
    ValueError
        If the overlaps are not those of one head on the manifold, or not finite.
    """
    require(overlaps.shape == (), "init", "the overlaps of one head", overlaps.shape)
    require(overlaps.on_manifold, "init", "on the manifold", overlaps)
    check_real("init.q_k", overlaps.q_k)
    m_k, q_k, m_v, q_v = (
        float(np.asarray(x))
        for x in (overlaps.m_k, overlaps.q_k, overlaps.m_v, overlaps.q_v)
    )
    return state_start(
        (*_inside(m_k, q_k), 1 / (1 + float(problem.ridge_k))),
        (*_inside(m_v, q_v), 1 / (1 + float(problem.ridge_v))),
    )


def state_start(key: tuple[ArrayLike, ...], value: tuple[ArrayLike, ...]) -> State:
    """Coordinates of a start at given (m, q, V) of the key and of the value."""
    state = np.asarray([*key, *value], np.float64)
    return _to_coordinates(jnp.asarray(state))


def _inside(m: float, q: float) -> tuple[float, float]:
    """Move an alignment or a length off the border of the admissible set."""
    length = max(q, _SMALLEST_LENGTH)
    bound = _LARGEST_ALIGNMENT * math.sqrt(length)
    return min(max(m, -bound), bound), length


_to_coordinates = jax.jit(to_coordinates)
