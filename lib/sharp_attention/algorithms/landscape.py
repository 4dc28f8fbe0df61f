"""The landscape of the empirical risk: where many descents on the same texts end.

One instance is drawn; heads start from random, informed and swapped places (`starts`),
follow plain gradient descent for as long as one likes, and are then led to the bottom
by L-BFGS (`pool`). End points are sorted into minima (`clusters`), each minimum is
measured as `erm.fit` measures a head, and the smallest eigenvalue of its Hessian says
how good a minimum it is (`curvature`).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from sharp_attention._checks import check_choice, check_integer, check_real, require
from sharp_attention._typing import Float64
from sharp_attention.algorithms import clusters, pool
from sharp_attention.algorithms.curvature import smallest_curvature
from sharp_attention.algorithms.instances import (
    Instance,
    Problem,
    check_problem,
    draw_instance,
)
from sharp_attention.algorithms.objective import Head
from sharp_attention.algorithms.starts import KINDS, draw_starts, family
from sharp_attention.algorithms.trained import Measured, measure, measure_head
from sharp_attention.tasks.single_location import Overlaps, Task

__all__ = ["Landscape", "Minimum", "explore"]

# As in `erm`: texts in single precision leave a noise of some 1e-5 on each coordinate
# of the gradient; a descent that gains nothing any more has arrived where its gradient
# is about as small as it can be.
_SLOPE = {"float32": 1e-4, "float64": 1e-7}
_GAIN = {"float32": 1e-9, "float64": 1e-14}
_STALLED = 100.0


@dataclass(frozen=True)
class Minimum:
    """One minimum that descents ended at.

    Attributes
    ----------
    family : "matched", "reversed", "swapped" or "lost", see `starts.family`
    num_starts : how many starts of each kind ended here
    energy, training_loss, test_risk, overlaps, gradient : of the member of lowest
        energy, as in `erm.ErmFit`
    curvature : smallest eigenvalue of the Hessian there
    key, value : the head, (dim,)
    """

    family: str
    num_starts: Mapping[str, int]
    energy: float
    training_loss: float
    test_risk: float
    overlaps: Overlaps
    gradient: float
    curvature: float
    key: Float64
    value: Float64


@dataclass(frozen=True)
class Landscape:
    """Where many descents on one instance ended.

    Attributes
    ----------
    kind : "random", "informed" or "swapped", of each start, (starts,)
    energy : objective over the dimension at each end, (starts,)
    overlaps : at each end, fields of shape (starts,)
    num_steps : of L-BFGS, (starts,)
    is_converged : whether the descent arrived, (starts,)
    minimum : number of the minimum it arrived at, -1 where it did not, (starts,)
    minima : all that were met, from the lowest energy upwards
    status : a sentence; begins with "converged" or "not converged"
    """

    kind: np.ndarray
    energy: Float64
    overlaps: Overlaps
    num_steps: np.ndarray
    is_converged: np.ndarray
    minimum: np.ndarray
    minima: tuple[Minimum, ...]
    status: str


def explore(
    rng_key: Array,
    task: Task,
    activation: str,
    dim: int,
    sample_ratio: float,
    ridge_k: float,
    ridge_v: float,
    *,
    num_starts: Mapping[str, int],
    spread: float = 1.0,
    gradient_steps: int = 0,
    rate: float = 0.2,
    instance: int = 0,
    num_slots: int = 16,
    offset: float = 0.0,
    dtype: str = "float32",
    max_steps: int = 2000,
    tol: float | None = None,
    throw: bool = False,
) -> Landscape:
    """Descend from many starts on one instance and sort the ends into minima.

    Parameters
    ----------
    rng_key : JAX random key; with the same key, `erm.fit` sees the same texts
    task, activation, dim, sample_ratio, ridge_k, ridge_v, offset, dtype : as in
        `erm.fit`
    num_starts : how many starts of each kind, such as {"random": 100, "swapped": 50};
        see `starts.draw_starts`
    spread : standard deviation of a start's noise, > 0
    gradient_steps : steps of plain gradient descent before L-BFGS takes over, >= 0
    rate : of these steps, as in `gradient_flow.descend`, > 0
    instance : number of the instance, >= 0
    num_slots : descents that run side by side
    max_steps : most steps of L-BFGS
    tol : on the root mean square of the coordinates of the gradient; if None 1e-4 for
        single and 1e-7 for double precision
    throw : whether to raise where a descent does not converge

    Returns
    -------
    Landscape; read its `status`. Convergence means what it means for `erm.fit`.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.
    RuntimeError
        If gradient descent runs away to infinity (lower `rate`), or if `throw` is true
        and a descent does not converge.
    """
    problem = check_problem(
        task, activation, dim, sample_ratio, ridge_k, ridge_v, offset, dtype
    )
    counts = _check_counts(num_starts)
    check_real("spread", spread, above=0)
    check_integer("gradient_steps", gradient_steps, at_least=0)
    check_real("rate", rate, above=0)
    check_integer("instance", instance, at_least=0)
    check_integer("num_slots", num_slots, at_least=1)
    check_integer("max_steps", max_steps, at_least=1)
    tol = _SLOPE[dtype] if tol is None else tol
    check_real("tol", tol, at_least=0)
    drawn = draw_instance(rng_key, instance, problem, "informed")
    starts = _starts(jax.random.fold_in(rng_key, instance), drawn, counts, spread)
    starts = _flow(problem, drawn, starts, rate, gradient_steps)
    ends = pool.run(
        problem,
        drawn.data,
        starts,
        slope=tol,
        gain=_GAIN[dtype],
        num_slots=num_slots,
        max_steps=max_steps,
    )
    kind = np.repeat(list(counts), list(counts.values()))
    found = _sort(problem, drawn, ends, kind, _STALLED * tol)
    if throw and not found.is_converged.all():
        raise RuntimeError(f"exploring the landscape: {found.status}")
    return found


def _check_counts(num_starts: Mapping[str, int]) -> dict[str, int]:
    if not isinstance(num_starts, Mapping):
        raise TypeError(f"num_starts must be a mapping; received {num_starts!r}")
    for kind, count in num_starts.items():
        check_choice("kind", kind, KINDS)
        check_integer(f"num_starts[{kind!r}]", count, at_least=0)
    counts = {kind: int(count) for kind, count in num_starts.items() if count}
    require(bool(counts), "num_starts", "at least one start", num_starts)
    return counts


def _starts(
    rng_key: Array, drawn: Instance, counts: Mapping[str, int], spread: float
) -> Head:
    heads = [
        draw_starts(
            jax.random.fold_in(rng_key, KINDS.index(kind)), drawn, kind, count, spread
        )
        for kind, count in counts.items()
    ]
    with jax.enable_x64(True):
        return Head(*(jnp.concatenate(side) for side in zip(*heads, strict=True)))


def _flow(
    problem: Problem, drawn: Instance, starts: Head, rate: float, num_steps: int
) -> Head:
    if num_steps == 0:
        return starts
    heads = pool.flow(problem, drawn.data, starts, rate, num_steps)
    if not all(bool(jnp.isfinite(vectors).all()) for vectors in heads):
        raise RuntimeError(
            f"gradient descent ran away; lower the rate, which is {rate!r}"
        )
    return heads


def _sort(
    problem: Problem,
    drawn: Instance,
    ends: pool.Ends,
    kind: np.ndarray,
    largest_slope: float,
) -> Landscape:
    is_converged = ends.is_over & (ends.slope <= largest_slope)
    arrived = np.flatnonzero(is_converged)
    heads = np.concatenate(ends.head, axis=1)
    minimum = np.full(kind.size, -1)
    minimum[arrived] = clusters.cluster(ends.value[arrived], heads[arrived])
    minima = []
    for number in range(minimum.max() + 1):
        members = np.flatnonzero(minimum == number)
        counts = {str(name): int(np.sum(kind[members] == name)) for name in set(kind)}
        best = members[np.argmin(ends.value[members])]
        head = Head(*(side[best] for side in ends.head))
        measured = measure(
            problem,
            drawn,
            head,
            num_steps=int(ends.num_steps[best]),
            is_converged=True,
        )
        curvature = smallest_curvature(problem, drawn.data, head)
        minima.append(_minimum(measured, curvature, counts))
    return Landscape(
        kind=kind,
        energy=ends.value / problem.dim,
        overlaps=measure_head(drawn, ends.head),
        num_steps=ends.num_steps,
        is_converged=is_converged,
        minimum=minimum,
        minima=tuple(minima),
        status=_status(ends, is_converged, len(minima)),
    )


def _minimum(
    measured: Measured, curvature: float, num_starts: Mapping[str, int]
) -> Minimum:
    return Minimum(
        family=str(family(measured.overlaps)),
        num_starts=num_starts,
        energy=measured.energy,
        training_loss=measured.training_loss,
        test_risk=measured.test_risk,
        overlaps=measured.overlaps,
        gradient=measured.gradient,
        curvature=curvature,
        key=measured.key,
        value=measured.value,
    )


def _status(ends: pool.Ends, is_converged: np.ndarray, num_minima: int) -> str:
    good = int(is_converged.sum())
    outcome = "converged" if good == is_converged.size else "not converged"
    return (
        f"{outcome}: {good} of {is_converged.size} descents, at {num_minima} minima, "
        f"gradient at most {ends.slope.max():.1e} "
        f"after at most {ends.num_steps.max()} steps"
    )
