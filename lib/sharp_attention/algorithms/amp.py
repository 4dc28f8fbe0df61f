"""Approximate message passing: the posterior means of k* and v* from actual texts.

`message_passing` holds the step and says where it can go wrong. In the limit of large D
the iteration from no information is described by the uninformed branch of state
evolution, and no fast algorithm is known that does better.
"""

from dataclasses import dataclass, fields
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from sharp_attention._checks import check_choice, check_integer, check_real, require
from sharp_attention._typing import Float64
from sharp_attention.algorithms.fresh_risk import read_out_risk
from sharp_attention.algorithms.instances import (
    Instance,
    Problem,
    check_problem,
    draw_instance,
)
from sharp_attention.algorithms.message_passing import Limits, Passing, run
from sharp_attention.algorithms.objective import Head
from sharp_attention.algorithms.trained import measure_head
from sharp_attention.channels import bayes
from sharp_attention.channels.bayes import Known, position_law
from sharp_attention.channels.interface import Variances
from sharp_attention.channels.position_laws import PositionLaw
from sharp_attention.tasks.single_location import Overlaps, Task

__all__ = ["AmpFit", "fit"]

# Posterior variances that the two starts claim for k* and v*. The informed one is not
# certain: without doubt about the scores the max task has no gradient.
_VARIANCES = {"uninformed": (1.0, 1.0), "informed": (1e-2, 1e-3)}
# Texts in single precision leave about this much on a coordinate.
_TOLERANCE = {"float32": 1e-5, "float64": 1e-9}


@dataclass(frozen=True)
class AmpFit:
    """Posterior means; numbers for one instance, arrays (instances,) for several.

    Attributes
    ----------
    test_risk : mean squared error on fresh samples of the posterior mean of the label,
        noise**2 included
    overlaps : with the teachers and with themselves, all seven
    variance_k, variance_v : posterior variance of a coordinate, as AMP believes
    residual : root mean square change of a coordinate in one undamped step
    num_steps : of the iteration
    is_converged : whether the residual is below the tolerance
    status : a sentence; begins with "converged" or "not converged"
    key, value : posterior means of k* and v*, shape (instances, dim) always
    """

    test_risk: float | Float64
    overlaps: Overlaps
    variance_k: float | Float64
    variance_v: float | Float64
    residual: float | Float64
    num_steps: int | np.ndarray
    is_converged: bool | np.ndarray
    status: str
    key: Float64
    value: Float64


def fit(
    rng_key: Array,
    task: Task,
    dim: int,
    sample_ratio: float,
    *,
    init: str = "uninformed",
    num_instances: int = 1,
    first_instance: int = 0,
    batch_size: int | None = None,
    dtype: str = "float32",
    damping: float = 0.5,
    max_steps: int = 1000,
    tol: float | None = None,
    throw: bool = False,
) -> AmpFit:
    """Draw instances of the task and infer their teachers.

    The instances are those of `erm.fit` with the same random key.

    Parameters
    ----------
    rng_key : JAX random key; instance i depends on it and on i alone
    task : SpikedSLR, or MaxSLR at infinite signal, with one length up to 64
    dim : D >= 2
    sample_ratio : alpha > 0; round(alpha D) texts are drawn
    init : "uninformed" (k = v = 0) or "informed" (the teachers)
    num_instances : >= 1
    first_instance : number of the first one, >= 0
    batch_size : instances that run side by side; if None one on a CPU, all on a GPU
    dtype : of the texts, "float32" or "float64"; sums and results are double
    damping : weight kept on the old iterate, 0 <= damping < 1
    max_steps : most steps
    tol : on the residual; if None 1e-5 for single and 1e-9 for double precision
    throw : whether to raise where an instance does not converge

    Returns
    -------
    AmpFit; read its `status`. A run that is not finite any more ends at its last
    finite iterate, not converged.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range, or the task has a random length.
    RuntimeError
        If `throw` is true and an instance does not converge.
    """
    # The instances of all algorithms are drawn from one record; a posterior has
    # neither activation nor ridge.
    problem = check_problem(task, "softmax", dim, sample_ratio, 0.0, 0.0, 0.0, dtype)
    rule = "fixed for message passing"
    require(len(task.length_probabilities) == 1, "lengths", rule, task.lengths)
    law = position_law(task, task.max_length)
    check_choice("init", init, _VARIANCES)
    check_integer("num_instances", num_instances, at_least=1)
    check_integer("first_instance", first_instance, at_least=0)
    check_integer("max_steps", max_steps, at_least=1)
    require(0 <= damping < 1, "damping", "at least 0 and below 1", damping)
    tol = _TOLERANCE[dtype] if tol is None else tol
    check_real("tol", tol, at_least=0)
    if batch_size is None:
        batch_size = 1 if jax.default_backend() == "cpu" else num_instances
    check_integer("batch_size", batch_size, at_least=1)
    limits = float(damping), float(tol), float(max_steps)
    measured: list[dict[str, Any]] = []
    for start in range(0, num_instances, batch_size):
        stop = min(start + batch_size, num_instances)
        indices = [first_instance + index for index in range(start, stop)]
        # A start of `draw_instance` called "informed" holds the teachers.
        batch = [draw_instance(rng_key, i, problem, "informed") for i in indices]
        states = _run_batch(law, task, batch, init, limits)
        measured += [_measure(law, problem, *pair, tol) for pair in states]
    fitted = _gather(measured)
    if throw and not np.all(fitted.is_converged):
        raise RuntimeError(f"message passing: {fitted.status}")
    return fitted


def _run_batch(
    law: PositionLaw,
    task: Task,
    batch: list[Instance],
    init: str,
    limits: tuple[float, float, float],
) -> list[tuple[Instance, Passing]]:
    with jax.enable_x64(True):
        scale = 1.0 if init == "informed" else 0.0
        variances = Variances(*(jnp.asarray(x) for x in _VARIANCES[init]))
        starts = tuple(
            Head(*(scale * vector for vector in instance.start)) for instance in batch
        )
        texts = tuple(one.data.tokens for one in batch)
        targets = tuple(one.data.target for one in batch)
        numbers = Limits(*(jnp.asarray(x) for x in limits))
        states = run(starts, texts, targets, variances, _known(task), numbers, law=law)
        return [
            (one, jax.device_get(jax.tree.map(lambda leaf: leaf[i], states)))  # noqa: B023
            for i, one in enumerate(batch)
        ]


def _measure(
    law: PositionLaw, problem: Problem, instance: Instance, state: Passing, tol: float
) -> dict[str, Any]:
    task = problem.task
    overlaps = measure_head(instance, state.head)

    def weights(logits: Float64) -> Float64:
        with jax.enable_x64(True):
            known = _known(task)
            rows = tuple(jnp.asarray(logits))
            variance = jnp.asarray(state.variances.key)
            return np.asarray(bayes.position_weights(law, rows, variance, known))

    return {
        "test_risk": read_out_risk(task, weights, overlaps),
        "overlaps": overlaps,
        "variance_k": float(state.variances.key),
        "variance_v": float(state.variances.value),
        "residual": float(state.residual),
        "num_steps": int(state.num_steps),
        "is_converged": bool(state.residual <= tol),
        "key": np.asarray(state.head.key),
        "value": np.asarray(state.head.value),
    }


def _known(task: Task) -> Known:
    numbers = task.signal, task.noise**2
    return Known(*(jnp.asarray(np.float64(number)) for number in numbers))


def _gather(measured: list[dict[str, Any]]) -> AmpFit:
    """Put the instances side by side and say how they ended."""
    columns = {name: [one[name] for one in measured] for name in measured[0]}
    records = columns.pop("overlaps")
    heads = {name: np.asarray(columns.pop(name)) for name in ("key", "value")}
    overlaps = {
        field.name: _column([getattr(record, field.name) for record in records])
        for field in fields(Overlaps)
    }
    good, total = sum(columns["is_converged"]), len(measured)
    outcome = "converged" if good == total else "not converged"
    residual, steps = max(columns["residual"]), max(columns["num_steps"])
    status = (
        f"{outcome}: {good} of {total} instances, "
        f"residual at most {residual:.1e} after at most {steps} steps"
    )
    numbers = {name: _column(values) for name, values in columns.items()}
    return AmpFit(**numbers, **heads, overlaps=Overlaps(**overlaps), status=status)


def _column(values: list[Any]) -> Any:
    """One number for one instance, an array for several."""
    return values[0] if len(values) == 1 else np.asarray(values)
