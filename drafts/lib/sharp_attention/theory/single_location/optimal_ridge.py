"""The pair of ridges with the smallest test risk, by implicit gradients.

A solution x of x = F(x, rho), rho = (log r_k, log r_v), moves with the ridges by

    dx / drho = (1 - dF/dx)^-1 dF/drho,

a linear system of six equations. So one solution gives the risk and its gradient, and
a quasi-Newton method in the two logarithms needs about ten of them. The derivatives of
F pass through the proximal points by the implicit function theorem.
"""

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy import optimize

from sharp_attention._checks import check_real
from sharp_attention._typing import Float64
from sharp_attention.channels.interface import Variances
from sharp_attention.tasks.single_location import Task
from sharp_attention.theory.single_location.replica_equations import (
    Channels,
    Groups,
    Position,
    Problem,
    State,
    cavity_fields,
    conjugates,
    from_coordinates,
    next_state,
    sample_moments,
    to_coordinates,
)
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

__all__ = ["OptimalRidge", "optimal_ridge", "sensitivity"]

_SMALLEST, _LARGEST = float(np.exp(-6)), float(np.exp(6))
# The risk is flat at its minimum: a slope of 1e-5 leaves about 1e-9 to gain.
_SLOPE = 1e-5
_MOST_ITERATIONS = 40


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
    status : a sentence
    """

    ridge_k: float
    ridge_v: float
    solution: ReplicaSolution
    gradient: Float64
    num_solutions: int
    is_at_bound: bool
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
    task, activation, sample_ratio : as in `replica.solve`; so are those below `bounds`
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
        _, _, risk, gradient = path.solve(spread @ unknowns)
        return risk, gradient @ spread

    found = optimize.minimize(
        evaluate,
        np.log(start) @ spread / spread.sum(axis=0),
        jac=True,
        method="L-BFGS-B",
        bounds=[tuple(np.log(bounds))] * spread.shape[1],
        options={"gtol": _SLOPE, "ftol": 1e-12, "maxiter": _MOST_ITERATIONS},
    )
    return _result(path, spread @ found.x, bounds)


@partial(jax.jit, static_argnames="channels")
def sensitivity(
    problem: Problem,
    groups: Groups,
    coordinates: State,
    position: Position,
    *,
    channels: Channels,
) -> tuple[Float[Array, ""], Float[Array, "2"]]:
    """Test risk of a solution and its gradient in (log r_k, log r_v).

    Parameters
    ----------
    problem, groups, channels : as the solution was computed with
    coordinates, position : of the solution, see `replica_solver.Solved`
    """

    def step(point: State, logs: Float[Array, "2"]) -> tuple[State, Array]:
        state = from_coordinates(point)
        here = problem._replace(ridge_k=jnp.exp(logs[0]), ridge_v=jnp.exp(logs[1]))
        variances = Variances(state[2], state[5])
        place = tuple(
            channel.attach(rows, cavity_fields(state, here, points), variances)
            for rows, points, channel in zip(position, groups, channels, strict=True)
        )
        data = here, groups, channels
        following = next_state(conjugates(state, place, *data), state, here)
        return to_coordinates(following), sample_moments(state, place, *data).test_risk

    logs = jnp.log(jnp.stack([problem.ridge_k, problem.ridge_v]))
    _, risk = step(coordinates, logs)
    slopes, risk_slopes = jax.jacfwd(step, argnums=(0, 1))(coordinates, logs)
    moved = jnp.linalg.solve(jnp.eye(coordinates.size) - slopes[0], slopes[1])
    return risk, risk_slopes[0] @ moved + risk_slopes[1]


class _Path:
    """Solutions along the search; each starts from the last that converged."""

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
        self._near: State | None = None
        self.num_solutions = 0

    def solve(self, logs: Float64) -> tuple[Problem, Solved, float, Float64]:
        """Solve at the given log ridges; returns the test risk and its gradient."""
        channels, groups = self.setting
        with jax.enable_x64(True):
            problem = as_problem(self._task, self._sample_ratio, *np.exp(logs))
            limits = as_limits(self._max_steps, self._tol)
            near = (
                named_start("informed", problem) if self._near is None else self._near
            )
            solved = iterate(problem, groups, near, *limits, channels=channels)
            ends = solved.coordinates, solved.position
            risk, slope = sensitivity(problem, groups, *ends, channels=channels)
        self.num_solutions += 1
        if solved.is_converged:
            self._near = solved.coordinates
        return problem, solved, float(risk), np.asarray(slope, np.float64)


def _result(path: _Path, logs: Float64, bounds: tuple[float, float]) -> OptimalRidge:
    channels, groups = path.setting
    problem, solved, _, gradient = path.solve(logs)
    with jax.enable_x64(True):
        ends = solved.coordinates, solved.position
        observed = observe(problem, groups, *ends, channels=channels)
    solution = report(*jax.device_get((solved, observed)))
    ridge_k, ridge_v = (float(x) for x in np.exp(logs))
    low, high = np.log(bounds)
    is_at_bound = bool(np.any((logs <= low + 1e-9) | (logs >= high - 1e-9)))
    slope = float(np.max(np.abs(gradient)))
    status = f"slope {slope:.1e} after {path.num_solutions} solutions"
    if is_at_bound:
        status += "; a ridge lies at the end of the search"
    return OptimalRidge(
        *(ridge_k, ridge_v, solution, gradient, path.num_solutions),
        *(is_at_bound, f"{status}; {solution.status}"),
    )
