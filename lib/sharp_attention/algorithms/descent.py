"""L-BFGS on the regularised empirical risk, for several instances side by side.

The optimiser is ``optax.lbfgs`` with its zoom line search; this file is the loop around
it. Value and gradient at a new head are those that the line search has just computed.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import lax
from jaxtyping import Array, Bool, Float, Int

from sharp_attention.algorithms.objective import Data, Head, Penalty, objective

__all__ = ["Descent", "Limits", "advance", "begin", "blank"]

# Pairs of old steps that describe the curvature; twice as many do not save a step.
_MEMORY = 20


class Descent(NamedTuple):
    """State of the optimiser.

    Attributes
    ----------
    head : k and v
    memory : of the optimiser
    value, gradient : of the objective at the head
    num_steps : steps so far
    is_done : whether the gradient is small, or nothing is gained any more
    is_broken : whether the next head would have an objective that is not finite
    """

    head: Head
    memory: optax.OptState
    value: Float[Array, ""]
    gradient: Head
    num_steps: Int[Array, ""]
    is_done: Bool[Array, ""]
    is_broken: Bool[Array, ""]

    @property
    def slope(self) -> Float[Array, ""]:
        """Root mean square of the gradient's coordinates."""
        return jnp.sqrt(jnp.mean(jnp.stack(self.gradient) ** 2))


class Limits(NamedTuple):
    """When to stop.

    Attributes
    ----------
    slope : root mean square of the gradient's coordinates that is small enough
    gain : relative decrease of the objective in a step that is rounding
    """

    slope: Float[Array, ""]
    gain: Float[Array, ""]


def blank(head: Head) -> Descent:
    """Return the state of a descent that knows nothing of its objective yet."""
    zero, no = jnp.zeros((), head.key.dtype), jnp.asarray(False)
    memory = optax.lbfgs(memory_size=_MEMORY).init(head)
    # Weak types at the start and strong ones later would compile every step twice.
    memory = jax.tree.map(lambda x: lax.convert_element_type(x, x.dtype), memory)
    gradient = jax.tree.map(jnp.zeros_like, head)
    return Descent(head, memory, zero, gradient, jnp.asarray(0), no, no)


def begin(
    head: Head, data: Data, penalty: Penalty, activation: str, offset: float
) -> Descent:
    """Return the state at a start."""
    value, gradient = jax.value_and_grad(objective)(
        head, data, penalty, activation, offset
    )
    is_broken = ~jnp.isfinite(value)
    return blank(head)._replace(value=value, gradient=gradient, is_broken=is_broken)


def advance(
    descent: Descent,
    data: Data,
    penalty: Penalty,
    limits: Limits,
    last_step: Int[Array, ""],
    activation: str,
    offset: float,
) -> Descent:
    """Take steps until the instance is done or has taken `last_step` of them.

    A step to where the objective is not finite is not taken and ends the descent.
    """
    optimiser = optax.lbfgs(memory_size=_MEMORY)

    def value_of(head: Head) -> Float[Array, ""]:
        return objective(head, data, penalty, activation, offset)

    def is_running(now: Descent) -> Bool[Array, ""]:
        return ~now.is_done & ~now.is_broken & (now.num_steps < last_step)

    def step(now: Descent) -> Descent:
        moves, memory = optimiser.update(
            now.gradient,
            now.memory,
            now.head,
            value=now.value,
            grad=now.gradient,
            value_fn=value_of,
        )
        head = optax.apply_updates(now.head, moves)
        value, gradient = memory[-1].value, memory[-1].grad  # of the line search
        following = now._replace(
            head=head,
            memory=memory,
            value=value,
            gradient=gradient,
            num_steps=now.num_steps + 1,
        )
        is_flat = now.value - value <= limits.gain * now.value
        following = following._replace(
            is_done=is_flat | (following.slope <= limits.slope)
        )
        is_finite = jnp.isfinite(value) & jnp.isfinite(following.slope)
        stay = now._replace(is_broken=jnp.asarray(True))
        return jax.tree.map(lambda a, b: jnp.where(is_finite, a, b), following, stay)

    return lax.while_loop(is_running, step, descent)
