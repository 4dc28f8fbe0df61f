"""What is measured on trained heads, by whatever algorithm they were trained."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from sharp_attention._typing import Float64
from sharp_attention.algorithms.fresh_risk import fresh_risk
from sharp_attention.algorithms.instances import Instance, Problem
from sharp_attention.algorithms.objective import Head, loss_and_gradient
from sharp_attention.tasks.single_location import Overlaps, measure_overlaps

__all__ = ["ErmFit", "Measured", "gather", "measure", "measure_head"]


@dataclass(frozen=True)
class ErmFit:
    """Trained heads; numbers for one instance, arrays (instances,) for several.

    Attributes
    ----------
    test_risk : mean squared error on fresh samples, noise**2 included
    training_loss : mean squared residual, without 1/2 and without penalty
    energy : objective divided by the dimension
    overlaps : with the teachers and with themselves, all seven
    gradient : root mean square of the coordinates of the objective's gradient
    num_steps : of the algorithm
    is_converged : by the algorithm's own rule
    status : a sentence; begins with "converged" or "not converged"
    key, value : the heads, shape (instances, dim) always
    """

    test_risk: float | Float64
    training_loss: float | Float64
    energy: float | Float64
    overlaps: Overlaps
    gradient: float | Float64
    num_steps: int | np.ndarray
    is_converged: bool | np.ndarray
    status: str
    key: Float64
    value: Float64


class Measured(NamedTuple):
    """What is measured on one trained head; named as in `ErmFit`."""

    test_risk: float
    training_loss: float
    energy: float
    overlaps: Overlaps
    gradient: float
    num_steps: int
    is_converged: bool
    key: Float64
    value: Float64


def measure(
    problem: Problem,
    instance: Instance,
    head: Head,
    *,
    num_steps: int,
    is_converged: bool,
) -> Measured:
    """Measure a head that was trained on `instance`."""
    vectors = np.asarray(head, np.float64)
    with jax.enable_x64(True):
        loss, gradient = _loss_and_gradient(
            Head(*jnp.asarray(vectors)),
            instance.data,
            activation=problem.activation,
            offset=problem.offset,
        )
    ridges = np.array([problem.ridge_k, problem.ridge_v])
    slopes = np.asarray(gradient) + ridges[:, None] * vectors
    penalty = ridges @ np.sum(vectors**2, axis=1)
    overlaps = measure_head(instance, head)
    return Measured(
        test_risk=fresh_risk(
            problem.task, problem.activation, overlaps, offset=problem.offset
        ),
        training_loss=2 * float(loss) / problem.num_samples,
        energy=(float(loss) + float(penalty) / 2) / problem.dim,
        overlaps=overlaps,
        gradient=float(np.sqrt(np.mean(slopes**2))),
        num_steps=int(num_steps),
        is_converged=bool(is_converged),
        key=vectors[0],
        value=vectors[1],
    )


def gather(measured: Sequence[Measured]) -> ErmFit:
    """Put the instances side by side and say how they ended."""
    columns: dict[str, list[Any]] = {
        name: [getattr(one, name) for one in measured] for name in Measured._fields
    }
    records = columns.pop("overlaps")
    heads = {name: np.asarray(columns.pop(name)) for name in ("key", "value")}
    overlaps = {
        field.name: _column([getattr(record, field.name) for record in records])
        for field in fields(Overlaps)
    }
    return ErmFit(
        **{name: _column(values) for name, values in columns.items()},
        **heads,
        overlaps=Overlaps(**overlaps),
        status=_status(measured),
    )


def measure_head(instance: Instance, head: Head) -> Overlaps:
    """Overlaps of a head with the teachers of its instance."""
    teachers = np.asarray(instance.samples.key), np.asarray(instance.samples.value)
    return measure_overlaps(np.asarray(head.key), np.asarray(head.value), *teachers)


def _column(values: list[Any]) -> Any:
    """One number for one instance, an array for several."""
    return values[0] if len(values) == 1 else np.asarray(values)


def _status(measured: Sequence[Measured]) -> str:
    good = sum(one.is_converged for one in measured)
    outcome = "converged" if good == len(measured) else "not converged"
    slope = max(one.gradient for one in measured)
    steps = max(one.num_steps for one in measured)
    return (
        f"{outcome}: {good} of {len(measured)} instances, "
        f"gradient at most {slope:.1e} after at most {steps} steps"
    )


_loss_and_gradient = jax.jit(
    loss_and_gradient, static_argnames=("activation", "offset")
)
