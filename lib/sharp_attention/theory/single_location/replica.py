"""Empirical risk minimisation at finite sample ratio, by the replica method.

Minimising  sum of (y - f)^2 / 2 + r_k |k|^2 / 2 + r_v |v|^2 / 2  over N = alpha D
samples as D grows: test risk, training loss and overlaps of the minimiser follow from
six equations (`replica_equations`), which are iterated to a fixed point.

The values are those of the replica-symmetric solution. It describes the minimiser
where it is stable (`replicon` below 1) and where the proximal problem of nearly every
sample has one minimum; the status says so where one of the two fails.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from sharp_attention._typing import ArrayLike
from sharp_attention.tasks.single_location import Overlaps, Task
from sharp_attention.theory.single_location.replica_equations import (
    Channels,
    Groups,
    Problem,
    State,
)
from sharp_attention.theory.single_location.replica_setup import (
    Setting,
    as_limits,
    as_problem,
    named_start,
    overlap_start,
    prepare,
    state_start,
)
from sharp_attention.theory.single_location.replica_solution import (
    ReplicaSolution,
    report,
)
from sharp_attention.theory.single_location.replica_solver import (
    Observed,
    Solved,
    iterate,
    observe,
)

__all__ = ["Init", "ReplicaSolution", "curve", "solve", "solve_batch"]

Init: TypeAlias = str | Overlaps | ReplicaSolution
"""A start: "informed", "random", overlaps on the manifold, or a solution near by."""


def solve(
    task: Task,
    activation: str,
    sample_ratio: float,
    ridge_k: float,
    ridge_v: float,
    *,
    init: Init = "informed",
    num_points: int = 2**15,
    seed: int = 0,
    num_nodes: int | None = None,
    offset: float = 0.0,
    max_steps: int = 300,
    tol: float = 1e-8,
    throw: bool = False,
) -> ReplicaSolution:
    """Solve the replica equations at one sample ratio.

    Parameters
    ----------
    task : SpikedSLR or MaxSLR with lengths from 2 to 16
    activation : "softmax", "linear", "erf" or "softplus"
    sample_ratio : alpha = N / D > 0
    ridge_k, ridge_v : r_k, r_v >= 0, as in the objective above
    init : "informed" (overlap 0.9 with the teachers), "random" (0.1), overlaps on the
        manifold, or a solution near by
    num_points : Sobol points for the average over one sample; see the notes
    seed : of the points
    num_nodes : if given, a tensor Gauss-Hermite rule with as many nodes in each
        direction instead (softmax at length 2 has 4 directions in the spiked task)
    offset : added to the logits of erf
    max_steps : most evaluations of the equations
    tol : on the residual
    throw : whether to raise where it does not converge

    Returns
    -------
    ReplicaSolution; read its `status`.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range, or the start is not admissible.
    RuntimeError
        If `throw` is true and the iteration does not converge.

    Notes
    -----
    With a ridge of 0 the minimiser may run away to infinity; the status then says that
    the iteration did not converge, and how long the overlaps have become.

    The points leave an error. Over seeds the default scatters (one standard deviation,
    length 3, noise variance 0.1) at ridge 1 by at most 2e-4 in the test risk of
    softmax, 6e-4 in that of linear attention and 9e-4 in the training loss; at ridges
    of 0.1 and 0.01 by up to 1.4e-3 in the test risk of softmax and by 0.7 % in q_k.
    A quarter of the points, 2**13, leaves two to six times as much.
    """
    setting = prepare(task, activation, num_points, seed, num_nodes, offset)
    with jax.enable_x64(True):
        problem = as_problem(task, sample_ratio, ridge_k, ridge_v)
        solution = _run(setting, problem, init, max_steps, tol)
    if throw and not solution.is_converged:
        raise RuntimeError(f"replica equations: {solution.status}")
    return solution


def curve(
    task: Task,
    activation: str,
    sample_ratios: Sequence[float],
    ridge_k: float,
    ridge_v: float,
    *,
    init: Init = "informed",
    num_points: int = 2**14,
    seed: int = 0,
    num_nodes: int | None = None,
    offset: float = 0.0,
    max_steps: int = 300,
    tol: float = 1e-8,
) -> list[ReplicaSolution]:
    """Solve along a curve, from the largest sample ratio down, each from the last.

    A solution that did not converge starts nothing; the next one begins at `init`.

    Parameters
    ----------
    sample_ratios : in any order; all other parameters are those of `solve`
    num_points : half as many as there, so that a curve of softmax takes seconds

    Returns
    -------
    Solutions in the order of `sample_ratios`

    Raises
    ------
    TypeError, ValueError
        As in `solve`.
    """
    setting = prepare(task, activation, num_points, seed, num_nodes, offset)
    solutions: dict[int, ReplicaSolution] = {}
    last: Init = init
    with jax.enable_x64(True):
        for index in np.argsort(sample_ratios)[::-1]:
            problem = as_problem(task, sample_ratios[index], ridge_k, ridge_v)
            found = _run(setting, problem, last, max_steps, tol)
            solutions[int(index)] = found
            last = found if found.is_converged else init
    return [solutions[index] for index in range(len(solutions))]


def solve_batch(
    task: Task,
    activation: str,
    sample_ratio: ArrayLike,
    ridge_k: ArrayLike,
    ridge_v: ArrayLike,
    *,
    init: Init = "informed",
    num_points: int = 2**15,
    seed: ArrayLike = 0,
    offset: float = 0.0,
    max_steps: int = 300,
    tol: float = 1e-8,
) -> list[ReplicaSolution]:
    """Solve many problems side by side, as one batch (meant for a GPU).

    Parameters
    ----------
    sample_ratio, ridge_k, ridge_v, seed : numbers or arrays that broadcast against
        each other; all other parameters are those of `solve`

    Returns
    -------
    Solutions in the order of the flattened broadcast arrays

    Raises
    ------
    TypeError, ValueError
        As in `solve`.
    """
    numbers = [np.asarray(x) for x in (sample_ratio, ridge_k, ridge_v, seed)]
    *values, seeds = (np.ravel(x) for x in np.broadcast_arrays(*numbers))
    settings = {
        int(one): prepare(task, activation, num_points, int(one), None, offset)
        for one in np.unique(seeds)
    }
    channels = next(iter(settings.values())).channels
    with jax.enable_x64(True):
        each = [as_problem(task, *x) for x in zip(*values, strict=True)]
        starts = jnp.stack([_start(init, problem) for problem in each])
        groups = _stack([settings[int(one)].groups for one in seeds])
        limits = as_limits(max_steps, tol)
        both = _run_batch(_stack(each), groups, starts, *limits, channels=channels)
        solved, observed = jax.device_get(both)
    return [
        report(*jax.tree.map(lambda x: x[index], (solved, observed)))  # noqa: B023
        for index in range(len(each))
    ]


def _run(
    setting: Setting, problem: Problem, init: Init, max_steps: int, tol: float
) -> ReplicaSolution:
    channels, groups = setting
    start, limits = _start(init, problem), as_limits(max_steps, tol)
    solved = iterate(problem, groups, start, *limits, channels=channels)
    ends = solved.coordinates, solved.position
    observed = observe(problem, groups, *ends, channels=channels)
    return report(*jax.device_get((solved, observed)))


@partial(jax.jit, static_argnames="channels")
def _run_batch(
    problems: Problem,
    groups: Groups,
    starts: Float[Array, "problems 6"],
    tolerance: Float[Array, ""],
    max_steps: Int[Array, ""],
    *,
    channels: Channels,
) -> tuple[Solved, Observed]:
    def one(problem: Problem, groups: Groups, start: State) -> tuple[Solved, Observed]:
        limits = tolerance, max_steps
        solved = iterate(problem, groups, start, *limits, channels=channels)
        ends = solved.coordinates, solved.position
        return solved, observe(problem, groups, *ends, channels=channels)

    return jax.vmap(one)(problems, groups, starts)


def _start(init: Init, problem: Problem) -> State:
    if isinstance(init, Overlaps):
        return overlap_start(init, problem)
    if not isinstance(init, ReplicaSolution):
        return named_start(init, problem)
    near = init.overlaps
    return state_start(
        (near.m_k, near.q_k, init.variance_k), (near.m_v, near.q_v, init.variance_v)
    )


def _stack(trees: Sequence[Any]) -> Any:
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)
