"""Newton's method for many small problems at once.

Every problem ("point") has its own few coordinates and shares one formula. Points lie
on the last axis of every array; derivatives are taken by automatic differentiation of
the sum over the points, which keeps them apart because no point enters the value of
another.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float, Int

from sharp_attention.numerics.linalg import (
    Lower,
    Rows,
    factorise,
    solve_factored,
    total,
)

__all__ = [
    "Minimum",
    "Objective",
    "Root",
    "derivatives",
    "minimise",
    "monotone_root",
    "newton_step",
]

Objective: TypeAlias = Callable[[Rows], Float[Array, " points"]]

# A step that does not descend is tried again at a quarter of its length; after a
# success the length grows back, up to the full Newton step.
_SHORTER, _LONGER = 0.25, 4.0
# Values may rise by this much relative to their size: rounding, not ascent.
_ROUNDING = 1e-14


class Minimum(NamedTuple):
    """Local minima of a batch of functions.

    Attributes
    ----------
    position : one array of shape (points,) per coordinate
    value : the function there, shape (points,)
    is_converged : whether the last Newton step was below the tolerance, per point
    num_steps : steps taken, the same for all points
    """

    position: Rows
    value: Float[Array, " points"]
    is_converged: Bool[Array, " points"]
    num_steps: Int[Array, ""]


class Root(NamedTuple):
    """Roots of a batch of increasing functions.

    Attributes
    ----------
    position : the root, shape (points,)
    num_steps : steps taken, the same for all points
    """

    position: Float[Array, " points"]
    num_steps: Int[Array, ""]


def derivatives(objective: Objective, position: Rows) -> tuple[Rows, Lower]:
    """Return the gradient and the lower triangle of the Hessian of every point.

    Parameters
    ----------
    objective : maps the coordinates to one value per point, shape (points,)
    position : one array of shape (points,) per coordinate
    """

    def gradient(rows: Rows) -> Rows:
        return jax.grad(lambda rows: jnp.sum(objective(rows)))(rows)

    slope, curve = jax.linearize(gradient, position)
    columns = []
    for axis in range(len(position)):
        direction = tuple(
            jnp.full_like(row, float(index == axis))
            for index, row in enumerate(position)
        )
        columns.append(curve(direction))
    size = len(position)
    hessian = tuple(tuple(columns[j][i] for j in range(i + 1)) for i in range(size))
    return slope, hessian


def newton_step(
    objective: Objective, position: Rows, floor: Float[Array, ""] | float
) -> Rows:
    """Return the Newton step of every point, a descent direction everywhere."""
    gradient, hessian = derivatives(objective, position)
    return solve_factored(factorise(hessian, floor), [-row for row in gradient])


def minimise(
    objective: Objective,
    start: Rows,
    *,
    floor: Float[Array, ""] | float,
    max_steps: int,
    tolerance: float,
) -> Minimum:
    """Minimise one function per point by safeguarded Newton steps.

    A pivot of the Hessian below `floor` is lifted (see `linalg.factorise`), so every
    step descends if it is short enough. A point whose step does not descend stays
    where it is and tries a quarter of it next time; after a success the step grows
    back. All points run until each of them has converged or `max_steps` are taken.

    Parameters
    ----------
    objective : maps the coordinates to one value per point, shape (points,)
    start : one array of shape (points,) per coordinate
    floor : smallest curvature that is believed, > 0
    max_steps : most steps
    tolerance : a point has converged when its Newton step, summed over coordinates,
        is below `tolerance` times (1 + size of the position)

    Notes
    -----
    Runs under ``jit`` and ``vmap``. It returns a local minimum near the start; try
    several starts where the function may have several.
    """

    def is_running(state: tuple) -> Bool[Array, ""]:
        num_steps, *_, is_converged = state
        return (num_steps < max_steps) & ~jnp.all(is_converged)

    def advance(state: tuple) -> tuple:
        num_steps, position, value, length, _ = state
        step = newton_step(objective, position, floor)
        trial = tuple(x + length * dx for x, dx in zip(position, step, strict=True))
        trial_value = objective(trial)
        descends = trial_value <= value + _ROUNDING * (1 + jnp.abs(value))
        scale = 1 + total(jnp.abs(x) for x in position)
        is_converged = total(jnp.abs(dx) for dx in step) <= tolerance * scale
        return (
            num_steps + 1,
            _choose(descends, trial, position),
            jnp.where(descends, trial_value, value),
            jnp.where(descends, jnp.minimum(1.0, _LONGER * length), _SHORTER * length),
            is_converged,
        )

    value = objective(start)
    begin = (
        jnp.asarray(0),
        start,
        value,
        jnp.ones_like(value),
        jnp.zeros_like(value, dtype=bool),
    )
    num_steps, position, value, _, is_converged = lax.while_loop(
        is_running, advance, begin
    )
    return Minimum(position, value, is_converged, num_steps)


def monotone_root(
    function: Callable[[Float[Array, " points"]], Float[Array, " points"]],
    low: Float[Array, " points"],
    high: Float[Array, " points"],
    *,
    max_steps: int,
    tolerance: float,
) -> Root:
    """Find the root of one increasing function per point inside a bracket.

    Newton steps where they stay inside the bracket, bisection where they do not; the
    bracket shrinks at every step, so the root is found whatever the function's
    curvature. The ends themselves are never evaluated (they may be poles).

    Parameters
    ----------
    function : increasing in its argument, one value per point
    low, high : ends of the bracket; the function is negative near `low` and positive
        near `high`
    max_steps : most steps
    tolerance : stop when every step is below `tolerance` times (high - low)
    """
    width = high - low

    def is_running(state: tuple) -> Bool[Array, ""]:
        num_steps, *_, is_done = state
        return (num_steps < max_steps) & ~is_done

    def advance(state: tuple) -> tuple:
        num_steps, position, low, high, _ = state
        value, slope = jax.jvp(function, (position,), (jnp.ones_like(position),))
        low = jnp.where(value < 0, position, low)
        high = jnp.where(value < 0, high, position)
        newton = position - value / slope
        # At the root itself the step vanishes and the point is an end of the bracket.
        is_inside = (newton >= low) & (newton <= high)
        following = jnp.where(is_inside, newton, 0.5 * (low + high))
        is_done = jnp.all(jnp.abs(following - position) <= tolerance * width)
        return num_steps + 1, following, low, high, is_done

    begin = (jnp.asarray(0), 0.5 * (low + high), low, high, jnp.asarray(False))
    num_steps, position, *_ = lax.while_loop(is_running, advance, begin)
    return Root(position, num_steps)


def _choose(condition: Bool[Array, " points"], first: Rows, second: Rows) -> Rows:
    pairs = zip(first, second, strict=True)
    return tuple(jnp.where(condition, one, other) for one, other in pairs)
