"""Many descents on the same texts, in slots that run side by side.

All heads are multiplied with the texts at once. A descent that is over leaves its slot
to the next start, so that no slot waits for the slowest descent.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from sharp_attention._typing import Float64
from sharp_attention.algorithms import gradient_flow
from sharp_attention.algorithms.descent import Descent, Limits, advance, begin
from sharp_attention.algorithms.instances import Problem
from sharp_attention.algorithms.objective import Data, Head, Penalty

__all__ = ["Ends", "flow", "run"]

# Steps between two looks at which descents are over.
_STRETCH = 25
# Number of no start: the slot has nothing to do any more.
_EMPTY = -1


class Ends(NamedTuple):
    """Where the descents ended.

    Attributes
    ----------
    head : double, vectors of shape (starts, dim)
    value : of the objective, (starts,)
    slope : root mean square of the gradient's coordinates, (starts,)
    num_steps : (starts,)
    is_over : whether it ended before the last step, not broken, (starts,)
    """

    head: Head
    value: Float64
    slope: Float64
    num_steps: np.ndarray
    is_over: np.ndarray


def flow(
    problem: Problem, data: Data, starts: Head, rate: float, num_steps: int
) -> Head:
    """Take steps of plain gradient descent from every start.

    Parameters
    ----------
    problem, data : of the instance
    starts : vectors of shape (starts, dim)
    rate : as in `gradient_flow.descend`
    num_steps : >= 0
    """
    with jax.enable_x64(True):
        step = jnp.asarray(np.float64(rate / gradient_flow.curvature(problem)))
        steps = jnp.asarray([0, num_steps, num_steps])
        return _flow(
            starts,
            data,
            problem.penalty,
            steps,
            step,
            activation=problem.activation,
            offset=problem.offset,
        )


def run(
    problem: Problem,
    data: Data,
    starts: Head,
    *,
    slope: float,
    gain: float,
    num_slots: int,
    max_steps: int,
) -> Ends:
    """Descend by L-BFGS from every start until it is over.

    Parameters
    ----------
    problem, data : of the instance
    starts : vectors of shape (starts, dim)
    slope, gain : when to stop, see `descent.Limits`
    num_slots : descents side by side
    max_steps : most steps of each
    """
    shared = problem.activation, problem.offset
    waiting = list(range(len(starts.key)))
    place = np.full(num_slots, _EMPTY)
    first = min(num_slots, len(waiting))
    place[:first] = [waiting.pop(0) for _ in range(first)]
    ends: dict[int, Descent] = {}
    with jax.enable_x64(True):
        limits = Limits(jnp.asarray(float(slope)), jnp.asarray(float(gain)))
        now = _begin(_at(starts, place), data, problem.penalty, *shared)
        while (place != _EMPTY).any():
            last = jnp.minimum(now.num_steps + _STRETCH, max_steps)
            last = jnp.where(place == _EMPTY, 0, last)
            now = _advance(now, data, problem.penalty, limits, last, *shared)
            is_over = now.is_done | now.is_broken | (now.num_steps >= max_steps)
            freed = np.flatnonzero(np.asarray(is_over) & (place != _EMPTY))
            seen = jax.device_get(now._replace(memory=None))
            ends |= {int(place[slot]): _at(seen, slot) for slot in freed}
            place[freed] = _EMPTY
            fresh = freed[: len(waiting)]
            place[fresh] = [waiting.pop(0) for _ in fresh]
            if fresh.size:
                new = _begin(_at(starts, place), data, problem.penalty, *shared)
                now = _choose(np.isin(np.arange(place.size), fresh), new, now)
    ordered = [ends[index] for index in range(len(ends))]
    return _gather(ordered)


def _at(tree: Any, index: Any) -> Any:
    """Take entries of every leaf."""
    return jax.tree.map(lambda leaf: leaf[index], tree)


def _gather(ends: list[Descent]) -> Ends:
    stacked = jax.tree.map(lambda *leaves: np.stack(leaves), *ends)
    return Ends(
        head=stacked.head,
        value=stacked.value,
        slope=np.sqrt(np.mean(np.square(stacked.gradient), axis=(0, 2))),
        num_steps=stacked.num_steps,
        is_over=stacked.is_done & ~stacked.is_broken,
    )


@jax.jit
def _choose(is_new: Bool[Array, " slots"], new: Descent, old: Descent) -> Descent:
    def choose(one: Array, other: Array) -> Array:
        mask = is_new.reshape(-1, *(1,) * (one.ndim - 1))
        return jnp.where(mask, one, other)

    return jax.tree.map(choose, new, old)


@jax.jit(static_argnums=(3, 4))
def _begin(
    starts: Head, data: Data, penalty: Penalty, activation: str, offset: float
) -> Descent:
    def one(head: Head) -> Descent:
        return begin(head, data, penalty, activation, offset)

    return jax.vmap(one)(starts)


@jax.jit(static_argnums=(5, 6))
def _advance(
    descent: Descent,
    data: Data,
    penalty: Penalty,
    limits: Limits,
    last_step: Int[Array, " slots"],
    activation: str,
    offset: float,
) -> Descent:
    def one(now: Descent, last: Int[Array, ""]) -> Descent:
        return advance(now, data, penalty, limits, last, activation, offset)

    return jax.vmap(one)(descent, last_step)


@jax.jit(static_argnames=("activation", "offset"))
def _flow(
    starts: Head,
    data: Data,
    penalty: Penalty,
    steps: Int[Array, "3"],
    rate: Float[Array, ""],
    *,
    activation: str,
    offset: float,
) -> Head:
    def one(head: Head) -> Head:
        return gradient_flow.advance(
            head,
            data,
            penalty,
            jax.random.key(0),  # all texts are taken, so that nothing is drawn
            steps,
            rate,
            batch_size=None,
            activation=activation,
            offset=offset,
        )

    return jax.vmap(one)(starts)
