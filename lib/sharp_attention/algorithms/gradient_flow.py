"""Gradient descent on the regularised empirical risk, full-batch and stochastic.

The step of a head is  - rate * gradient of the objective, divided by the curvature
alpha (1 + alpha^-1/2)^2 + max(r_k, r_v) that the objective would have if the head were
a linear model; small rates follow the gradient flow. In stochastic descent the sum over
the texts is replaced by one over a random batch, scaled up, and the rate falls to zero
along half a cosine, so that the noise of the batches dies out.
"""

import math
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax
from jaxtyping import Array, Int

from sharp_attention._checks import check_integer, check_real
from sharp_attention.algorithms.instances import (
    Init,
    Instance,
    Problem,
    check_problem,
    draw_instance,
)
from sharp_attention.algorithms.objective import (
    Data,
    Head,
    Penalty,
    loss_and_gradient,
)
from sharp_attention.algorithms.trained import ErmFit, gather, measure, measure_head
from sharp_attention.tasks.single_location import Overlaps, Task

__all__ = ["Trajectory", "advance", "curvature", "descend"]


@dataclass(frozen=True)
class Trajectory:
    """A descent seen in the overlaps.

    Attributes
    ----------
    step : number of steps at each record, shape (records,), from 0
    overlaps : there, fields of shape (records,)
    fit : the head at the end, measured as `erm.fit` measures it
    """

    step: np.ndarray
    overlaps: Overlaps
    fit: ErmFit


def descend(
    rng_key: Array,
    task: Task,
    activation: str,
    dim: int,
    sample_ratio: float,
    ridge_k: float,
    ridge_v: float,
    *,
    init: Init = "informed",
    batch_size: int | None = None,
    rate: float = 0.5,
    num_steps: int = 1000,
    num_records: int = 20,
    instance: int = 0,
    offset: float = 0.0,
    dtype: str = "float32",
    tol: float = 1e-2,
    throw: bool = False,
) -> Trajectory:
    """Descend on one instance of the task.

    Parameters
    ----------
    rng_key : JAX random key; with the same key, `erm.fit` sees the same texts
    task, activation, dim, sample_ratio, ridge_k, ridge_v, init, offset, dtype :
        as in `erm.fit`
    batch_size : texts in a step, drawn with replacement; if None all of them
    rate : > 0, the first step in units of the inverse curvature of a linear model
    num_steps : >= 1
    num_records : how often the overlaps are measured on the way, >= 1
    instance : number of the instance, >= 0
    tol : on the root mean square of the coordinates of the full gradient at the end
    throw : whether to raise where that gradient is larger

    Returns
    -------
    Trajectory; its `fit` has a `status`.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.
    RuntimeError
        If the descent runs away to infinity (lower `rate`), or if `throw` is true and
        it does not converge.
    """
    problem = check_problem(
        task, activation, dim, sample_ratio, ridge_k, ridge_v, offset, dtype
    )
    check_integer("num_steps", num_steps, at_least=1)
    check_integer("num_records", num_records, at_least=1)
    check_integer("instance", instance, at_least=0)
    check_real("rate", rate, above=0)
    check_real("tol", tol, at_least=0)
    if batch_size is not None:
        check_integer("batch_size", batch_size, at_least=1)
    drawn = draw_instance(rng_key, instance, problem, init)
    records = np.unique(np.linspace(0, num_steps, num_records + 1).astype(int))
    heads = _run(rng_key, problem, drawn, batch_size, rate, records)
    fitted = _fit(problem, drawn, heads[-1], num_steps, tol)
    if throw and not fitted.is_converged:
        raise RuntimeError(f"gradient descent: {fitted.status}")
    return Trajectory(records, _overlaps(drawn, heads), fitted)


def _run(
    rng_key: Array,
    problem: Problem,
    drawn: Instance,
    batch_size: int | None,
    rate: float,
    records: np.ndarray,
) -> list[Head]:
    """Heads at the records."""
    batch_key = jax.random.fold_in(rng_key, records[-1])
    heads = [drawn.start]
    with jax.enable_x64(True):
        for first, last in pairwise(records):
            head = advance(
                heads[-1],
                drawn.data,
                problem.penalty,
                batch_key,
                jnp.asarray([first, last, records[-1]]),
                jnp.asarray(np.float64(rate / curvature(problem))),
                batch_size=batch_size,
                activation=problem.activation,
                offset=problem.offset,
            )
            if not all(bool(jnp.all(jnp.isfinite(vector))) for vector in head):
                raise RuntimeError(
                    f"gradient descent ran away before step {last}; "
                    f"lower the rate, which is {rate!r}"
                )
            heads.append(head)
    return heads


def curvature(problem: Problem) -> float:
    """Largest curvature alpha (1 + alpha^-1/2)^2 + max(r_k, r_v) of a linear model."""
    alpha = problem.sample_ratio
    largest = alpha * (1 + 1 / math.sqrt(alpha)) ** 2
    return largest + max(problem.ridge_k, problem.ridge_v)


@partial(jax.jit, static_argnames=("batch_size", "activation", "offset"))
def advance(
    head: Head,
    data: Data,
    penalty: Penalty,
    batch_key: Array,
    steps: Int[Array, "3"],
    rate: Array,
    *,
    batch_size: int | None,
    activation: str,
    offset: float,
) -> Head:
    """Take the steps from number steps[0] to steps[1], of steps[2] in all.

    Parameters
    ----------
    head, data, penalty : as in `objective`
    batch_key : random key of the batches; not used where `batch_size` is None
    steps : where to begin, where to stop, and where the rate will have fallen to zero
    rate : first step, times the gradient
    batch_size : texts in a step; None for all of them and a constant rate
    activation, offset : of the weights
    """
    num_samples = data.target.size
    share = 1.0 if batch_size is None else batch_size / num_samples

    def take(step: Int[Array, ""], now: tuple) -> tuple:
        head, memory = now
        batch = data
        if batch_size is not None:
            key = jax.random.fold_in(batch_key, step)
            chosen = jax.random.randint(key, (batch_size,), 0, num_samples)
            batch = Data(*(x[chosen] for x in data))
        _, slope = loss_and_gradient(head, batch, activation=activation, offset=offset)
        pairs = zip(slope, head, penalty, strict=True)
        gradient = Head(*(g / share + r * x for g, x, r in pairs))
        moves, memory = optimiser.update(gradient, memory)
        return optax.apply_updates(head, moves), memory

    def schedule(count: Array) -> Array:
        if batch_size is None:
            return rate
        return rate * (1 + jnp.cos(jnp.pi * (steps[0] + count) / steps[2])) / 2

    optimiser = optax.sgd(schedule)
    begin = head, optimiser.init(head)
    return lax.fori_loop(steps[0], steps[1], take, begin)[0]


def _fit(
    problem: Problem, drawn: Instance, head: Head, num_steps: int, tol: float
) -> ErmFit:
    measured = measure(problem, drawn, head, num_steps=num_steps, is_converged=False)
    return gather([measured._replace(is_converged=measured.gradient <= tol)])


def _overlaps(drawn: Instance, heads: list[Head]) -> Overlaps:
    sides = zip(*heads, strict=True)
    return measure_head(drawn, Head(*(jnp.stack(side) for side in sides)))
