"""The pair of ridges with the smallest test risk, by implicit gradients.

One solution of the replica equations gives the risk and its gradient in the logarithms
of the ridges (`replica_sensitivity`), so a quasi-Newton method in these two needs about
ten solutions.
"""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import numpy as np
from scipy import optimize

from sharp_attention._checks import check_real
from sharp_attention._typing import Float64
from sharp_attention.tasks.single_location import Task
from sharp_attention.theory.single_location.replica_equations import Problem
from sharp_attention.theory.single_location.replica_sensitivity import sensitivity
from sharp_attention.theory.single_location.replica_setup import (
    Setting,
    as_limits,
    as_problem,
    named_start,
    prepare,
)
from sharp_attention.theory.single_location.replica_solution import (
    ReplicaSolution,
    report,
)
from sharp_attention.theory.single_location.replica_solver import (
    Solved,
    iterate,
    observe,
)

__all__ = ["OptimalRidge", "optimal_ridge"]

_SMALLEST, _LARGEST = float(np.exp(-6)), float(np.exp(6))
# The risk is flat at its minimum: a slope of 1e-5 leaves about 1e-9 to gain, and so
# does a step that gained as little; the error of the solutions is no smaller.
_SLOPE, _GAIN = 1e-5, 1e-10
_MOST_ITERATIONS = 40
# The risk bends by about 0.05 per squared unit of a log ridge. The search sees it in
# units in which that is one, so that its first step is neither tiny nor a leap.
_BEND = 0.05
# Few samples that change between two minima keep the residual above the tolerance; the
# risk is as good as the residual all the same. Larger ones belong to no solution.
_LARGEST_RESIDUAL = 1e-4
# Where these samples make the risk rough, a slope of 1e-3 leaves about 1e-5 to gain.
_LARGEST_SLOPE = 1e-3


@dataclass(frozen=True)
class OptimalRidge:
    """Where the test risk is smallest.

    Attributes
    ----------
    ridge_k, ridge_v : the ridges
    solution : the replica solution there
    gradient : of the test risk in (log r_k, log r_v), shape (2,)
    num_solutions : replica problems that were solved on the way
    is_at_bound : whether a ridge ended at an end of the search
    is_converged : whether there is a solution and the risk is flat around it, but for
        a slope that points across an end of the search
    status : a sentence; begins with "converged" or "not converged"
    """

    ridge_k: float
    ridge_v: float
    solution: ReplicaSolution
    gradient: Float64
    num_solutions: int
    is_at_bound: bool
    is_converged: bool
    status: str


def optimal_ridge(
    task: Task,
    activation: str,
    sample_ratio: float,
    *,
    is_tied: bool = False,
    start: tuple[float, float] = (1.0, 1.0),
    bounds: tuple[float, float] = (_SMALLEST, _LARGEST),
    num_points: int = 2**13,
    seed: int = 0,
    offset: float = 0.0,
    max_steps: int = 300,
    tol: float = 1e-8,
) -> OptimalRidge:
    """Minimise the test risk over (r_k, r_v).

    Parameters
    ----------
    task, activation, sample_ratio : as in `replica.solve`; so are those below `bounds`,
        but with a quarter of the points: a search takes a dozen solutions. At the best
        ridges of the max task 2**13 points leave 2e-3 (linear) to 1e-2 (softmax)
    is_tied : whether r_k = r_v is kept (from the geometric mean of `start`)
    start : ridges where the search begins
    bounds : smallest and largest ridge that is tried

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range or the start lies outside the bounds.
    """
    check_real("bounds", bounds[0], above=0)
    check_real("bounds", bounds[1], above=bounds[0])
    check_real("start", start, at_least=bounds[0], at_most=bounds[1])
    setting = prepare(task, activation, num_points, seed, None, offset)
    path = _Path(task, sample_ratio, setting, max_steps, tol)
    # Log ridge i is row i of `spread` times the unknowns.
    spread = np.ones((2, 1)) if is_tied else np.eye(2)

    def evaluate(unknowns: Float64) -> tuple[float, Float64]:
        risk, gradient = path.evaluate(spread @ unknowns)
        return risk / _BEND, gradient @ spread / _BEND

    begin = np.log(start) @ spread / spread.sum(axis=0)
    if path.visit(spread @ begin).is_sound:
        optimize.minimize(
            evaluate,
            begin,
            jac=True,
            method="L-BFGS-B",
            bounds=[tuple(np.log(bounds))] * spread.shape[1],
            options={
                "gtol": _SLOPE / _BEND,
                "ftol": _GAIN,
                "maxiter": _MOST_ITERATIONS,
            },
        )
    return _result(path, spread, bounds)


class _Visit(NamedTuple):
    """What was found at a pair of log ridges.

    Attributes
    ----------
    logs : (log r_k, log r_v)
    problem, solved : the problem there and where its iteration ended
    risk, gradient : test risk and its gradient in the log ridges
    """

    logs: Float64
    problem: Problem
    solved: Solved
    risk: float
    gradient: Float64

    @property
    def is_sound(self) -> bool:
        """Whether there is a solution, as good as the samples that jump allow."""
        is_finite = np.isfinite([self.risk, *self.gradient]).all()
        return bool(is_finite and float(self.solved.residual) <= _LARGEST_RESIDUAL)


class _Path:
    """Solutions along the search."""

    def __init__(
        self,
        task: Task,
        sample_ratio: float,
        setting: Setting,
        max_steps: int,
        tol: float,
    ) -> None:
        self._task, self._sample_ratio = task, sample_ratio
        self.setting = setting
        self._max_steps, self._tol = max_steps, tol
        self.visits: list[_Visit] = []

    def visit(self, logs: Float64, near: _Visit | None = None) -> _Visit:
        """Solve at log ridges, from a solution near by or from informed overlaps."""
        channels, groups = self.setting
        with jax.enable_x64(True):
            problem = as_problem(self._task, self._sample_ratio, *np.exp(logs))
            limits = as_limits(self._max_steps, self._tol)
            start = (
                named_start("informed", problem)
                if near is None
                else near.solved.coordinates
            )
            solved = iterate(problem, groups, start, *limits, channels=channels)
            ends = solved.coordinates, solved.position
            risk, slope = sensitivity(problem, groups, *ends, channels=channels)
        gradient = np.asarray(slope, np.float64)
        visit = _Visit(np.asarray(logs), problem, solved, float(risk), gradient)
        self.visits.append(visit)
        return visit

    def evaluate(self, logs: Float64) -> tuple[float, Float64]:
        """Test risk and its gradient; expects that there was a sound visit before.

        Where there is no solution a slope takes the search back to the nearest one: its
        values lie above every risk that was met, so a line search ends on none of them.
        """
        near = self._nearest(logs)
        found = self.visit(logs, near)
        if not found.is_sound:
            found = self.visit(logs)
        if found.is_sound:
            return found.risk, found.gradient
        way = logs - near.logs
        highest = max(visit.risk for visit in self.visits if visit.is_sound)
        return highest + float(way @ way), 2 * way

    def best(self) -> _Visit:
        """Return the sound visit of the smallest risk, or the first if none is."""
        sound = [visit for visit in self.visits if visit.is_sound]
        return min(sound or self.visits[:1], key=lambda visit: visit.risk)

    def _nearest(self, logs: Float64) -> _Visit:
        sound = [visit for visit in self.visits if visit.is_sound]
        return min(sound, key=lambda visit: np.linalg.norm(visit.logs - logs))


def _result(path: _Path, spread: Float64, bounds: tuple[float, float]) -> OptimalRidge:
    channels, groups = path.setting
    best = path.best()
    with jax.enable_x64(True):
        ends = best.solved.coordinates, best.solved.position
        observed = observe(best.problem, groups, *ends, channels=channels)
    solution = report(*jax.device_get((best.solved, observed)))
    ridge_k, ridge_v = (float(x) for x in np.exp(best.logs))
    low, high = np.log(bounds)
    is_low, is_high = best.logs <= low + 1e-9, best.logs >= high - 1e-9
    is_at_bound = bool(np.any(is_low | is_high))
    # A ridge at the end of the search may have a slope that points further out.
    inside = np.where(is_low, np.minimum(best.gradient, 0), best.gradient)
    inside = np.where(is_high, np.maximum(inside, 0), inside)
    slope = float(np.max(np.abs(inside @ spread)))
    is_converged = best.is_sound and slope <= _LARGEST_SLOPE
    outcome = "converged" if is_converged else "not converged"
    status = f"{outcome} after {len(path.visits)} solutions, slope {slope:.1e}"
    if is_at_bound:
        status += "; a ridge lies at the end of the search"
    return OptimalRidge(
        *(ridge_k, ridge_v, solution, best.gradient, len(path.visits)),
        *(is_at_bound, is_converged, f"{status}; solution there {solution.status}"),
    )
