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

from sharp_attention._checks import check_integer, check_real, require
from sharp_attention._typing import Float64
from sharp_attention.algorithms.descent import Descent, Limits, advance, begin, blank
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

__all__ = ["Descent", "ErmFit", "Progress", "blank_state", "fit"]

# Texts in single precision leave a noise of some 1e-5 on each coordinate of the
# gradient, and a relative one of 1e-9 on the objective.
_SLOPE = {"float32": 1e-4, "float64": 1e-7}
_GAIN = {"float32": 1e-9, "float64": 1e-14}
# A descent that gains nothing any more has arrived only if its gradient is about as
# small as it can be in that precision; else its line search has failed.
_STALLED = 100.0


@dataclass(frozen=True)
class Progress:
    """How far the descent of one batch of instances has come.

    Attributes
    ----------
    first_instance : number of the first instance of the batch
    state : of the optimiser; handed to `fit` as `state` it goes on as if it had never
        been stopped
    """

    first_instance: int
    state: Descent

    @property
    def num_steps(self) -> np.ndarray:
        """Steps of each instance, shape (batch,)."""
        return np.asarray(self.state.num_steps)

    @property
    def slope(self) -> Float64:
        """Root mean square of the coordinates of the gradient, shape (batch,)."""
        return np.sqrt(np.mean(np.square(self.state.gradient), axis=(0, 2)))


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
    first_instance: int = 0,
    batch_size: int | None = None,
    offset: float = 0.0,
    dtype: str = "float32",
    max_steps: int = 1000,
    tol: float | None = None,
    progress: Callable[[Progress], None] | None = None,
    progress_steps: int = 50,
    state: Descent | None = None,
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
    first_instance : number of the first one, >= 0
    batch_size : instances that run side by side; if None one on a CPU, where more
        would only wait for each other, and all of them on a GPU
    offset : added to the logits of erf
    dtype : of the texts, "float32" or "float64"; sums and results are double
    max_steps : most steps of the optimiser
    tol : on the root mean square of the coordinates of the gradient; if None 1e-4 for
        single and 1e-7 for double precision
    progress : called after every `progress_steps` steps of a batch
    state : of an earlier call with the same arguments, from its `progress`; only where
        all instances fit into one batch
    throw : whether to raise where an instance does not converge

    Returns
    -------
    ErmFit; read its `status`. An instance has converged where the gradient is below
    `tol`, or below 100 `tol` and the objective has stopped to decrease in the precision
    of the texts.

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
    check_integer("first_instance", first_instance, at_least=0)
    check_integer("max_steps", max_steps, at_least=1)
    check_integer("progress_steps", progress_steps, at_least=1)
    tol = _SLOPE[dtype] if tol is None else tol
    check_real("tol", tol, at_least=0)
    if batch_size is None:
        batch_size = 1 if jax.default_backend() == "cpu" else num_instances
    check_integer("batch_size", batch_size, at_least=1)
    rule = "None where the instances need more than one batch"
    require(state is None or num_instances <= batch_size, "state", rule, "a state")
    with jax.enable_x64(True):
        limits = Limits(jnp.asarray(float(tol)), jnp.asarray(_GAIN[dtype]))
    stops = [*range(progress_steps, max_steps, progress_steps), max_steps]
    measured: list[Measured] = []
    for start in range(0, num_instances, batch_size):
        first = first_instance + start
        size = min(batch_size, num_instances - start)
        batch = [draw_instance(rng_key, first + i, problem, init) for i in range(size)]
        for now in _descend(problem, batch, limits, stops, state):
            if progress is not None:
                progress(Progress(first, now))
        measured += _measure(problem, batch, now, _STALLED * tol)
    fitted = gather(measured)
    if throw and not np.all(fitted.is_converged):
        raise RuntimeError(f"empirical risk minimisation: {fitted.status}")
    return fitted


def blank_state(dim: int, num_instances: int = 1) -> Descent:
    """Return a state of the right structure, to be filled from a file."""
    with jax.enable_x64(True):
        zeros = jnp.zeros((num_instances, dim))
        return jax.vmap(blank)(Head(zeros, zeros))


def _descend(
    problem: Problem,
    instances: list[Instance],
    limits: Limits,
    stops: list[int],
    state: Descent | None,
) -> Iterator[Descent]:
    """Run a batch; yields its state at every stop until all instances are done."""
    data = tuple(instance.data for instance in instances)
    shared = problem.activation, problem.offset
    with jax.enable_x64(True):
        penalty = problem.penalty
        starts = tuple(instance.start for instance in instances)
        now = _begin(starts, data, penalty, *shared) if state is None else state
    for stop in stops:
        with jax.enable_x64(True):
            last = jnp.asarray(np.int64(stop))
            now = _advance(now, data, penalty, limits, last, *shared)
            is_over = bool(jnp.all(now.is_done | now.is_broken))
        yield now
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


def _measure(
    problem: Problem, instances: list[Instance], descent: Descent, largest_slope: float
) -> list[Measured]:
    measured = []
    for index, instance in enumerate(instances):
        head = Head(descent.head.key[index], descent.head.value[index])
        num_steps = int(descent.num_steps[index])
        one = measure(problem, instance, head, num_steps=num_steps, is_converged=False)
        is_there = bool(descent.is_done[index]) and one.gradient <= largest_slope
        measured.append(one._replace(is_converged=is_there))
    return measured
