"""Second derivatives of the empirical risk.

They say whether an end point of a descent is a minimum, and how flat it is.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from sharp_attention.algorithms.instances import Problem
from sharp_attention.algorithms.objective import (
    Data,
    Head,
    Penalty,
    loss_and_gradient,
)

__all__ = ["smallest_curvature"]

# Products of the Hessian with vectors that are computed at once.
_SIDE_BY_SIDE = 50


def smallest_curvature(problem: Problem, data: Data, head: Head) -> float:
    """Smallest eigenvalue of the objective's Hessian, 2D x 2D, at a head.

    It is positive at a minimum, and of the size of the ridges where the texts do not
    decide; its error is that of texts in single precision, some 1e-6 of the largest
    eigenvalue.

    Parameters
    ----------
    problem, data : of the instance
    head : vectors of shape (dim,)
    """
    with jax.enable_x64(True):
        hessian = _hessian(
            Head(*(jnp.asarray(np.asarray(x, np.float64)) for x in head)),
            data,
            problem.penalty,
            activation=problem.activation,
            offset=problem.offset,
        )
    return float(np.linalg.eigvalsh(np.asarray(hessian))[0])


@partial(jax.jit, static_argnames=("activation", "offset"))
def _hessian(
    head: Head, data: Data, penalty: Penalty, *, activation: str, offset: float
) -> Float[Array, "size size"]:
    dim = head.key.size

    def gradient(vector: Float[Array, " size"]) -> Float[Array, " size"]:
        now = Head(vector[:dim], vector[dim:])
        _, slope = loss_and_gradient(now, data, activation=activation, offset=offset)
        pairs = zip(slope, penalty, now, strict=True)
        return jnp.concatenate([g + ridge * x for g, ridge, x in pairs])

    _, product = jax.linearize(gradient, jnp.concatenate(head))
    rows = jax.lax.map(product, jnp.eye(2 * dim), batch_size=_SIDE_BY_SIDE)
    return (rows + rows.T) / 2
