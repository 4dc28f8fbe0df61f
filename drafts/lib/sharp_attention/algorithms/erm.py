"""Empirical risk minimisation on actual texts, by L-BFGS.

Minimises the objective of `objective` over a head (k, v), from an informed start (the
teachers) or a random one, for several instances (draws of the teachers and the texts).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from sharp_attention._checks import check_integer, check_real
from sharp_attention._typing import Float64
from sharp_attention.algorithms.descent import Descent, Limits, advance, begin
from sharp_attention.algorithms.instances import (
    Init,
    Instance,
    Problem,
    check_problem,
    draw_instance,
)
from sharp_attention.algorithms.objective import Data, Head, Penalty
from sharp_attention.algorithms.trained import ErmFit, Measured, gather, measure
from sharp_attention.tasks.single_location import Task

__all__ = ["ErmFit", "Progress", "fit"]

# Texts in single precision leave a noise of some 1e-5 on each coordinate of the
# gradient, and a relative one of 1e-9 on the objective.
_SLOPE = {"float32": 1e-4, "float64": 1e-7}
_GAIN = {"float32": 1e-9, "float64": 1e-14}


@dataclass(frozen=True)
class Progress:
    """How far the descent of one batch of instances has come.

    Attributes
    ----------
    first_instance : number of the first instance of the batch
    num_steps : steps of each instance, shape (batch,)
    key, value : the heads, shape (batch, dim)
    slope : root mean square of the coordinates of the gradient, shape (batch,)
    """

    first_instance: int
    num_steps: np.ndarray
    key: Float64
    value: Float64
    slope: Float64


def fit(
    rng_key: Array,
    task: Task,
    activation: str,
    dim: int,
    sample_ratio: float,
    ridge_k: float,
    ridge_v: float,
    *,
    init: Init = "informed",
    num_instances: int = 1,
    batch_size: int | None = None,
    offset: float = 0.0,
    dtype: str = "float32",
    max_steps: int = 1000,
    tol: float | None = None,
    progress: Callable[[Progress], None] | None = None,
    progress_steps: int = 50,
    throw: bool = False,
) -> ErmFit:
    """Draw instances of the task and minimise their regularised empirical risk.

    Parameters
    ----------
    rng_key : JAX random key; instance i depends on it and on i alone
    task : SpikedSLR or MaxSLR
    activation : "softmax", "linear", "erf" or "softplus"
    dim : D >= 2
    sample_ratio : alpha > 0; round(alpha D) texts are drawn
    ridge_k, ridge_v : r_k, r_v >= 0
    init : "informed" (k = k*, v = v*), "random" (standard normal), or a head (k, v)
    num_instances : >= 1
    batch_size : instances that run side by side; if None one on a CPU, where more
        would only wait for each other, and all of them on a GPU
    offset : added to the logits of erf
    dtype : of the texts, "float32" or "float64"; sums and results are double
    max_steps : most steps of the optimiser
    tol : on the root mean square of the coordinates of the gradient; if None 1e-4 for
        single and 1e-7 for double precision
    progress : called after every `progress_steps` steps of a batch
    throw : whether to raise where an instance does not converge

    Returns
    -------
    ErmFit; read its `status`. An instance has converged where the gradient is below
    `tol` or the objective has stopped to decrease in the precision of the texts.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.
    RuntimeError
        If `throw` is true and an instance does not converge.
    """
    problem = check_problem(
        task, activation, dim, sample_ratio, ridge_k, ridge_v, offset, dtype
    )
    check_integer("num_instances", num_instances, at_least=1)
    check_integer("max_steps", max_steps, at_least=1)
    check_integer("progress_steps", progress_steps, at_least=1)
    tol = _SLOPE[dtype] if tol is None else tol
    check_real("tol", tol, at_least=0)
    if batch_size is None:
        batch_size = 1 if jax.default_backend() == "cpu" else num_instances
    check_integer("batch_size", batch_size, at_least=1)
    limits = Limits(jnp.float64(tol), jnp.float64(_GAIN[dtype]))
    stops = [*range(progress_steps, max_steps, progress_steps), max_steps]
    measured: list[Measured] = []
    for first in range(0, num_instances, batch_size):
        indices = range(first, min(first + batch_size, num_instances))
        instances = [draw_instance(rng_key, i, problem, init) for i in indices]
        for descent in _descend(problem, instances, limits, stops):
            if progress is not None:
                progress(_progress(first, descent))
        measured += _measure(problem, instances, descent)
    fitted = gather(measured)
    if throw and not np.all(fitted.is_converged):
        raise RuntimeError(f"empirical risk minimisation: {fitted.status}")
    return fitted


def _descend(
    problem: Problem, instances: list[Instance], limits: Limits, stops: list[int]
) -> Iterator[Descent]:
    """Run a batch; yields its state at every stop until all instances are done."""
    data = tuple(instance.data for instance in instances)
    shared = problem.activation, problem.offset
    with jax.enable_x64(True):
        penalty = problem.penalty
        starts = tuple(instance.start for instance in instances)
        descent = _begin(starts, data, penalty, *shared)
    for stop in stops:
        with jax.enable_x64(True):
            last = jnp.asarray(np.int64(stop))
            descent = _advance(descent, data, penalty, limits, last, *shared)
            is_over = bool(jnp.all(descent.is_done | descent.is_broken))
        yield descent
        if is_over:
            return


# The texts of a batch are put side by side inside the compiled functions: for one
# instance, however large, that copies nothing.
@jax.jit(static_argnums=(3, 4))
def _begin(
    starts: tuple[Head, ...],
    data: tuple[Data, ...],
    penalty: Penalty,
    activation: str,
    offset: float,
) -> Descent:
    def one(head: Head, texts: Data) -> Descent:
        return begin(head, texts, penalty, activation, offset)

    return jax.vmap(one)(_stack(starts), _stack(data))


@jax.jit(static_argnums=(5, 6))
def _advance(
    descent: Descent,
    data: tuple[Data, ...],
    penalty: Penalty,
    limits: Limits,
    last_step: Int[Array, ""],
    activation: str,
    offset: float,
) -> Descent:
    def one(now: Descent, texts: Data) -> Descent:
        return advance(now, texts, penalty, limits, last_step, activation, offset)

    return jax.vmap(one)(descent, _stack(data))


def _stack(trees: tuple) -> Any:
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)


def _progress(first: int, descent: Descent) -> Progress:
    key, value = (np.asarray(vectors) for vectors in descent.head)
    slope = np.sqrt(np.mean(np.square(descent.gradient), axis=(0, 2)))
    return Progress(first, np.asarray(descent.num_steps), key, value, slope)


def _measure(
    problem: Problem, instances: list[Instance], descent: Descent
) -> list[Measured]:
    return [
        measure(
            problem,
            instance,
            Head(descent.head.key[index], descent.head.value[index]),
            num_steps=int(descent.num_steps[index]),
            is_converged=bool(descent.is_done[index]),
        )
        for index, instance in enumerate(instances)
    ]
