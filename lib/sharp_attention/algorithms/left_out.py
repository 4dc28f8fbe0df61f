"""Heads that were trained without one of their texts, and with it.

A text that was left out is fresh to the head: its fields there are the cavity fields
of the replica equations, and those of the head that has seen it are where it pulls
them, the proximal point.
"""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from scipy import optimize

from sharp_attention._checks import check_integer, require
from sharp_attention._typing import Float64
from sharp_attention.algorithms.instances import Problem, check_problem, draw_instance
from sharp_attention.algorithms.objective import Data, Head, Penalty, objective
from sharp_attention.tasks.single_location import Task

__all__ = ["LeftOut", "leave_out"]


@dataclass(frozen=True)
class LeftOut:
    """Fields of texts under two heads each.

    Attributes
    ----------
    key_without, value_without : chi and z under the head that has not seen the text,
        shape (texts, length)
    key_with, value_with : under the head that has
    target : labels, shape (texts,)
    """

    key_without: Float64
    value_without: Float64
    key_with: Float64
    value_with: Float64
    target: Float64


def leave_out(
    rng_key: Array,
    task: Task,
    activation: str,
    dim: int,
    sample_ratio: float,
    ridge_k: float,
    ridge_v: float,
    *,
    num_texts: int = 20,
    offset: float = 0.0,
) -> LeftOut:
    """Train on one instance, and once more without each of its first texts.

    Parameters
    ----------
    rng_key : JAX random key
    task, activation, dim, sample_ratio, ridge_k, ridge_v, offset : as in `erm.fit`
    num_texts : how many are left out, one after the other, < N

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.
    RuntimeError
        If a head does not converge.
    """
    problem = check_problem(
        task, activation, dim, sample_ratio, ridge_k, ridge_v, offset, "float64"
    )
    check_integer("num_texts", num_texts, at_least=1)
    is_left = num_texts < problem.num_samples
    require(is_left, "num_texts", f"< {problem.num_samples}, all texts", num_texts)
    instance = draw_instance(rng_key, 0, problem, "informed")
    data = instance.data
    full = _minimise(problem, data, np.ravel(instance.start))
    with jax.enable_x64(True):
        blanked = [_without(data, text) for text in range(num_texts)]
    rows = [_minimise(problem, texts, full) for texts in blanked]
    tokens = np.asarray(data.tokens[:num_texts]) / np.sqrt(dim)
    heads = np.reshape(rows, (num_texts, 2, dim))
    fields = np.einsum("tld,thd->htl", tokens, heads)
    after = np.einsum("tld,hd->htl", tokens, full.reshape(2, dim))
    return LeftOut(
        key_without=fields[0],
        value_without=fields[1],
        key_with=after[0],
        value_with=after[1],
        target=np.asarray(data.target[:num_texts]),
    )


def _without(data: Data, text: int) -> Data:
    """Blank a text: an answer of 0 to a text of zeros is right, and teaches nothing."""
    tokens, target = np.array(data.tokens), np.array(data.target)
    tokens[text], target[text] = 0.0, 0.0
    return Data(jnp.asarray(tokens), jnp.asarray(target), data.mask)


def _minimise(problem: Problem, data: Data, start: Float64) -> Float64:
    """Minimise from a flat head (2 dim,) to rounding."""

    def evaluate(flat: Float64) -> tuple[float, Float64]:
        with jax.enable_x64(True):
            head = Head(*jnp.asarray(flat).reshape(2, -1))
            value, slope = _value_and_gradient(
                head, data, problem.penalty, problem.activation, problem.offset
            )
        return float(value), np.ravel(slope)

    found = optimize.minimize(
        evaluate,
        start,
        jac=True,
        method="L-BFGS-B",
        options={"gtol": 1e-6, "ftol": 0.0, "maxiter": 2000},
    )
    if np.max(np.abs(found.jac)) > 1e-4:
        raise RuntimeError(f"leaving texts out: {found.message}")
    return found.x


@jax.jit(static_argnums=(3, 4))
def _value_and_gradient(
    head: Head, data: Data, penalty: Penalty, activation: str, offset: float
) -> tuple[Array, Head]:
    return jax.value_and_grad(objective)(head, data, penalty, activation, offset)
