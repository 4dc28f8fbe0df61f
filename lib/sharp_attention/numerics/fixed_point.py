"""Fixed points of vector maps, by damped iteration with Anderson acceleration.

Optimistix has a damped fixed-point iteration, but it measures the damped step: with
damping 0.99 and tolerance 1e-6 it stops where the map still moves the point by 1e-4.
Here only the undamped residual counts, and it is evaluated once more at the returned
point. The map may carry a state of its own from one evaluation to the next (a warm
start of an inner solver), which Optimistix's interface leaves no room for either.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float, Int

from sharp_attention._checks import check_integer, check_real, is_traced, require

__all__ = ["FixedPoint", "solve"]

Vector: TypeAlias = Float[Array, " dim"]
Update: TypeAlias = Callable[[Vector, Any], tuple[Vector, Any]]

# Directions of the history whose singular value is below this share of the largest
# are noise and are left out of the extrapolation.
_RANK_TOLERANCE = 1e-10
# An extrapolation after which the residual has grown by more than this is undone.
_GROWTH = 2.0


class FixedPoint(NamedTuple):
    """Where the iteration ended.

    Attributes
    ----------
    value : the point, shape (dim,)
    residual : largest |update(value) - value|, evaluated anew at `value`
    num_steps : evaluations of the map before that last one
    is_converged : whether the residual is at most the tolerance
    state : what the map carried out of its last evaluation
    """

    value: Vector
    residual: Float[Array, ""]
    num_steps: Int[Array, ""]
    is_converged: Bool[Array, ""]
    state: Any


class _Iterate(NamedTuple):
    """The last accepted point, what the map made of it, and how it came there."""

    point: Vector
    residual: Vector
    state: Any
    point_changes: Float[Array, "memory dim"]
    residual_changes: Float[Array, "memory dim"]


def solve(
    update: Update,
    start: Vector,
    state: Any = (),
    *,
    tolerance: Float[Array, ""] | float = 1e-8,
    max_steps: Int[Array, ""] | int = 200,
    damping: float = 0.0,
    memory: int = 5,
    plain_steps: int = 2,
    max_move: float = jnp.inf,
) -> FixedPoint:
    """Find x with update(x) = x.

    Parameters
    ----------
    update : maps (x, state) to (next x, next state); pure, traceable
    start : first point, shape (dim,)
    state : what `update` is given at its first evaluation
    tolerance : on the undamped residual, the largest |update(x) - x|
    max_steps : most evaluations of `update`
    damping : weight kept on the old iterate, 0 <= damping < 1
    memory : differences that Anderson's extrapolation uses, at most as many as there
        are coordinates; 0 for plain iteration
    plain_steps : damped steps before the extrapolation begins
    max_move : longest move of any coordinate in one step

    Returns
    -------
    FixedPoint; it never raises for lack of convergence, look at `is_converged`.
    A plain step to where the map is not finite ends it with residual infinity.

    Raises
    ------
    ValueError
        If `max_steps`, `memory` or `plain_steps` is negative, `damping` outside
        [0, 1), `tolerance` negative or `max_move` not positive.

    Notes
    -----
    Anderson's method of type II (Walker and Ni, 2011). An extrapolation that doubles
    the residual, or lands where the map is not finite, is undone: the iteration goes
    back, forgets its history and takes a plain step. Runs under ``jit`` and ``vmap``.
    """
    _check(tolerance, max_steps, damping, memory, plain_steps, max_move)
    start = jnp.asarray(start)
    # More differences than coordinates would only mix stale ones in.
    nothing = jnp.zeros((min(memory, start.size), start.size), start.dtype)

    def is_running(loop: tuple) -> Bool[Array, ""]:
        *_, is_measured = loop
        return ~is_measured

    def advance(loop: tuple) -> tuple:
        num_steps, trial, is_plain, last, is_over, _ = loop
        image, state = update(trial, last.state)
        residual = image - trial
        # A plain step is the map's own; an extrapolation has to prove itself. Once the
        # iteration is over, this evaluation measures the point that it ended at.
        limit = _GROWTH * jnp.max(jnp.abs(last.residual))
        is_kept = is_plain | is_over | (_size(residual) <= limit)
        following = _record(last, trial, residual, state, is_first=num_steps == 0)
        iterate = _select(is_kept, following, _forget(last))
        is_plain = ~is_kept | (num_steps + 1 < plain_steps)
        correction = jnp.where(is_plain, 0.0, _extrapolate(iterate, damping))
        move = (1 - damping) * iterate.residual - correction
        # NaN, a broken map, does not compare greater and ends the iteration too.
        ends = (num_steps + 1 >= max_steps) | ~(_size(iterate.residual) > tolerance)
        moved = iterate.point + jnp.clip(move, -max_move, max_move)
        trial = jnp.where(ends, iterate.point, moved)
        return num_steps + ~is_over, trial, is_plain, iterate, ends, is_over

    begin = _Iterate(start, jnp.zeros_like(start), state, nothing, nothing)
    yes, no = jnp.asarray(True), jnp.asarray(False)
    loop = (jnp.asarray(0), start, yes, begin, jnp.asarray(max_steps <= 0), no)
    num_steps, _, _, last, *_ = lax.while_loop(is_running, advance, loop)
    size = _size(last.residual)
    size = jnp.where(jnp.isfinite(size), size, jnp.inf)
    return FixedPoint(last.point, size, num_steps, size <= tolerance, last.state)


def _size(residual: Vector) -> Float[Array, ""]:
    return jnp.max(jnp.abs(residual))


def _record(
    last: _Iterate,
    point: Vector,
    residual: Vector,
    state: Any,
    *,
    is_first: Bool[Array, ""],
) -> _Iterate:
    """Accept a point; the first one has no predecessor to differ from."""

    def prepend(changes: Array, change: Vector) -> Array:
        change = jnp.where(is_first, 0.0, change)
        return jnp.concatenate([change[None], changes])[: changes.shape[0]]

    return _Iterate(
        point,
        residual,
        state,
        prepend(last.point_changes, point - last.point),
        prepend(last.residual_changes, residual - last.residual),
    )


def _forget(last: _Iterate) -> _Iterate:
    return last._replace(
        point_changes=jnp.zeros_like(last.point_changes),
        residual_changes=jnp.zeros_like(last.residual_changes),
    )


def _select(condition: Bool[Array, ""], one: _Iterate, other: _Iterate) -> _Iterate:
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), one, other)


def _extrapolate(iterate: _Iterate, damping: float) -> Vector:
    """Return the move along old differences that would cancel the residual best."""
    point_changes, residual_changes = iterate.point_changes, iterate.residual_changes
    if len(residual_changes) == 0:
        return jnp.zeros_like(iterate.residual)
    weights = jnp.linalg.lstsq(
        residual_changes.T, iterate.residual, rcond=_RANK_TOLERANCE
    )[0]
    return weights @ (point_changes + (1 - damping) * residual_changes)


def _check(
    tolerance: Float[Array, ""] | float,
    max_steps: Int[Array, ""] | int,
    damping: float,
    memory: int,
    plain_steps: int,
    max_move: float,
) -> None:
    check_real("tolerance", tolerance, at_least=0)
    if not is_traced(max_steps):
        check_integer("max_steps", max_steps, at_least=0)
    require(0 <= damping < 1, "damping", "at least 0 and below 1", damping)
    check_integer("memory", memory, at_least=0)
    check_integer("plain_steps", plain_steps, at_least=0)
    check_real("max_move", max_move, above=0, allow_infinite=True)
