"""The smallest test risk that any method reaches from N = alpha D samples.

The posterior given all samples is described by two overlaps, which solve the equations
of `bayes_equations`. They may have two stable solutions: the iteration from nothing
(*uninformed*) ends at the one that algorithms reach, the iteration from the teachers
(*informed*) at the best one. The posterior itself sits at the one of larger free
entropy, finite-samples note (2.3); where that is the informed one, and the other
exists as well, the problem is *hard*: the information is there, and no fast
algorithm is known that finds it.

The iteration is plain, without extrapolation: the equations are increasing in both
overlaps, so from below it ends at the lowest solution and from above at the highest.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from sharp_attention._checks import check_choice, check_integer, check_real, require
from sharp_attention._typing import Float64, Scalar
from sharp_attention.channels.bayes import Known, position_law
from sharp_attention.numerics import fixed_point
from sharp_attention.tasks.single_location import MaxSLR, Overlaps, Task, check_task
from sharp_attention.theory.single_location.bayes_equations import (
    LARGEST,
    Groups,
    Laws,
    Problem,
    State,
    averages,
    draw_points,
    next_coordinates,
    prior_entropy,
)

__all__ = ["BayesSolution", "Branch", "solve"]

# Coordinates -log(1 - q) at which the iterations begin. A tie of two tokens at 1 - q_k
# below a thousandth is too rare for the points to see.
_STARTS = {"uninformed": (0.0, 0.0), "informed": (-math.log(1e-3), -math.log(1e-6))}
_DISTINCT = 1e-3  # overlaps that differ by less belong to one solution
# The points come in parts, from which the error of an average is known.
_NUM_PARTS, _FEWEST_POINTS = 8, 64
# Standard errors beyond which one free entropy is called larger than another.
_DECIDED = 3.0


@dataclass(frozen=True)
class Branch:
    """One solution of the equations.

    Attributes
    ----------
    test_risk : mean squared error of the posterior mean on fresh samples, noise**2
        included
    overlaps : of the posterior means <k>, <v>: m_k = q_k and m_v = q_v
    free_entropy : log evidence of all samples, divided by D
    free_entropy_parts : the same from each eighth of the points, shape (8,)
    status : a sentence; begins with "converged" or "not converged"
    residual : largest change of a coordinate -log(1 - q) in one step
    num_steps : evaluations of the equations
    is_converged : whether the residual is below the tolerance
    """

    test_risk: float
    overlaps: Overlaps
    free_entropy: float
    free_entropy_parts: Float64
    status: str
    residual: float
    num_steps: int
    is_converged: bool


@dataclass(frozen=True)
class BayesSolution:
    """The solution that the posterior is at, of those that were looked for.

    Attributes
    ----------
    test_risk, overlaps, free_entropy, status, residual, num_steps : see `Branch`
    branches : what each start, "informed" or "uninformed", ended at
    """

    test_risk: float
    overlaps: Overlaps
    free_entropy: float
    branches: Mapping[str, Branch]
    status: str
    residual: float
    num_steps: int

    @property
    def is_converged(self) -> bool:
        """Whether all branches that were looked for converged."""
        return all(branch.is_converged for branch in self.branches.values())

    @property
    def verdict(self) -> str:
        """Which solutions there are and which one wins.

        "unique"; or, of two, "hard (informed wins)", "informed metastable", or "tie"
        where the free entropies differ by less than three standard errors.

        Raises
        ------
        ValueError
            If only one start was made.
        """
        require(len(self.branches) == 2, "init", "None for a verdict", "one start")
        high, low = self.branches["informed"], self.branches["uninformed"]
        if not _are_distinct(high, low):
            return "unique"
        gaps = high.free_entropy_parts - low.free_entropy_parts
        error = gaps.std(ddof=1) / math.sqrt(_NUM_PARTS)
        gap = high.free_entropy - low.free_entropy
        if abs(gap) <= _DECIDED * error:
            return "tie"
        return "hard (informed wins)" if gap > 0 else "informed metastable"


def solve(
    task: Task,
    sample_ratio: float,
    *,
    init: str | None = None,
    num_points: int | None = None,
    seed: int = 0,
    max_steps: int = 5000,
    tol: float = 1e-8,
    throw: bool = False,
) -> BayesSolution:
    """Solve the equations of the Bayes-optimal overlaps at one sample ratio.

    Parameters
    ----------
    task : SpikedSLR, or MaxSLR at infinite signal, with lengths up to 64
    sample_ratio : alpha = N / D > 0
    init : "informed", "uninformed", or None for both, of which the one of larger free
        entropy is returned
    num_points : Sobol points for the average over one sample, a power of two >= 64;
        None for 2**13 in the spiked and 2**15 in the max task, whose ties few see
    seed : of the points
    max_steps : most evaluations of the equations, for each start
    tol : on the residual
    throw : whether to raise where a start does not converge

    Returns
    -------
    BayesSolution; read its `status`.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.
    RuntimeError
        If `throw` is true and a start does not converge.

    Notes
    -----
    Over seeds the test risk scatters at the default number by at most 5e-5 in the
    spiked and 4e-4 in the max task (length 3, noise variance 0.1, sample ratios 4 to
    20), where 2**13 points leave 8e-4; a free entropy is worse by a factor alpha.
    """
    check_task(task)
    check_real("sample_ratio", sample_ratio, above=0)
    if num_points is None:
        num_points = 2**15 if isinstance(task, MaxSLR) else 2**13
    starts = [*_STARTS] if init is None else [init]
    check_choice("init", starts[0], _STARTS)
    _check_limits(num_points, seed, max_steps, tol)
    laws, groups = _prepare(task, num_points, seed)
    with jax.enable_x64(True):
        problem = _as_problem(task, sample_ratio)
        limits = jnp.asarray(np.float64(tol)), jnp.asarray(np.int64(max_steps))
        branches = {}
        for name in starts:
            start = jnp.asarray(np.array(_STARTS[name]))
            found = _iterate(problem, groups, start, *limits, laws=laws)
            branches[name] = _branch(task, *jax.device_get(found))
    solution = _choose(branches)
    if throw and not solution.is_converged:
        raise RuntimeError(f"state evolution: {solution.status}")
    return solution


def _check_limits(num_points: int, seed: int, max_steps: int, tol: float) -> None:
    check_integer("num_points", num_points, at_least=_FEWEST_POINTS)
    is_power = num_points & (num_points - 1) == 0
    require(is_power, "num_points", "a power of two", num_points)
    check_integer("seed", seed, at_least=0)
    check_integer("max_steps", max_steps, at_least=1)
    check_real("tol", tol, at_least=0)


def _prepare(task: Task, num_points: int, seed: int) -> tuple[Laws, Groups]:
    """Draw the points of a task, for all sample ratios, signals and noises."""
    probabilities = task.length_probabilities
    laws = tuple(position_law(task, length) for length in probabilities)
    with jax.enable_x64(True):
        groups = tuple(
            draw_points(length, num_points, seed, probability)
            for length, probability in probabilities.items()
        )
    return laws, groups


def _as_problem(task: Task, sample_ratio: Scalar) -> Problem:
    numbers = sample_ratio, task.signal, task.noise**2
    ratio, signal, variance = (jnp.asarray(np.float64(x)) for x in numbers)
    return Problem(ratio, Known(signal, variance))


@partial(jax.jit, static_argnames="laws")
def _iterate(
    problem: Problem,
    groups: Groups,
    start: State,
    tolerance: Float[Array, ""],
    max_steps: Int[Array, ""],
    *,
    laws: Laws,
) -> tuple:
    """Iterate and read everything off at the end."""

    def update(coordinates: State, state: tuple) -> tuple[State, tuple]:
        average = averages(coordinates, problem, groups, laws)
        return next_coordinates(average, problem), state

    found = fixed_point.solve(
        update, start, tolerance=tolerance, max_steps=max_steps, memory=0
    )
    whole = averages(found.value, problem, groups, laws)

    def evidence(part: Groups) -> Float[Array, ""]:
        return averages(found.value, problem, part, laws).log_evidence

    parts = jax.tree.map(lambda row: row.reshape(_NUM_PARTS, -1), groups)
    each = _NUM_PARTS * jax.lax.map(evidence, parts)
    entropies = problem.sample_ratio * jnp.append(each, whole.log_evidence)
    entropies += prior_entropy(found.value)
    return found, whole.sharpness, entropies


def _branch(
    task: Task, found: fixed_point.FixedPoint, sharpness: Float64, entropies: Float64
) -> Branch:
    q_k, q_v = (float(q) for q in -np.expm1(-found.value))
    is_converged = bool(found.is_converged)
    outcome = "converged" if is_converged else "not converged"
    status = f"{outcome} after {found.num_steps} steps, residual {found.residual:.1e}"
    for name, coordinate in zip(("key", "value"), found.value, strict=True):
        if coordinate >= LARGEST:
            status += f"; the {name} is recovered exactly"
    return Branch(
        test_risk=1 + task.noise**2 - q_v * float(sharpness),
        overlaps=Overlaps(q_k, q_k, q_v, q_v),
        free_entropy=float(entropies[-1]),
        free_entropy_parts=np.asarray(entropies[:-1], np.float64),
        status=status,
        residual=float(found.residual),
        num_steps=int(found.num_steps),
        is_converged=is_converged,
    )


def _choose(branches: dict[str, Branch]) -> BayesSolution:
    """Return the branch of largest free entropy; the first start wins a draw."""
    name, best = max(branches.items(), key=lambda item: item[1].free_entropy)
    status = best.status
    others = [branch for other, branch in branches.items() if other != name]
    if any(_are_distinct(best, other) for other in others):
        status += f"; of two solutions this is the {name} one"
    for other in others:
        if not other.is_converged:
            status = f"not converged: the other start {other.status}; this one {status}"
    return BayesSolution(
        test_risk=best.test_risk,
        overlaps=best.overlaps,
        free_entropy=best.free_entropy,
        branches=MappingProxyType(branches),
        status=status,
        residual=max(branch.residual for branch in branches.values()),
        num_steps=sum(branch.num_steps for branch in branches.values()),
    )


def _are_distinct(one: Branch, other: Branch) -> bool:
    places = [
        np.array([branch.overlaps.m_k, branch.overlaps.m_v], np.float64)
        for branch in (one, other)
    ]
    return bool(np.abs(places[0] - places[1]).max() > _DISTINCT)
