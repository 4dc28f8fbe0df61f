"""Scalar problems of empirical risk minimisation: where one sample pulls the fields.

`channel` gives the traceable channel that the replica equations are built on, `solve`
the proximal map of given fields as NumPy arrays.
"""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from sharp_attention._checks import check_integer, check_real, require
from sharp_attention._typing import ArrayLike, Float64
from sharp_attention.channels.interface import Channel, Fields, Variances
from sharp_attention.channels.linear_channel import LinearChannel
from sharp_attention.channels.newton_channel import NewtonChannel
from sharp_attention.channels.weight_maps import weight_map

__all__ = ["Proximal", "channel", "solve"]

_LARGEST_LENGTH = 16


@dataclass(frozen=True)
class Proximal:
    """Minimum of the proximal problem of every point.

    Attributes
    ----------
    logits, value : chi and z at the minimum, shape (..., length)
    residual : y - sigma(chi).z at the minimum, shape (...)
    envelope : the minimum M, shape (...)
    is_multistable : whether several starts ended in different minima, shape (...)
    """

    logits: Float64
    value: Float64
    residual: Float64
    envelope: Float64
    is_multistable: np.ndarray


def channel(activation: str, length: int, offset: float = 0.0) -> Channel:
    """Return the proximal channel of an activation.

    Parameters
    ----------
    activation : "softmax", "linear", "erf" or "softplus"
    length : number of tokens, 2 to 16 (the elimination is unrolled)
    offset : added to the logits of erf

    Raises
    ------
    TypeError, ValueError
        If the activation is unknown, `length` out of range or `offset` not finite.
    """
    weights = weight_map(activation, offset)
    check_integer("length", length, at_least=2)
    require(length <= _LARGEST_LENGTH, "length", f"<= {_LARGEST_LENGTH}", length)
    if activation == "linear":
        return LinearChannel(length)
    return NewtonChannel(weights, length)


def solve(
    activation: str,
    key_field: ArrayLike,
    value_field: ArrayLike,
    target: ArrayLike,
    variance_k: float,
    variance_v: float,
    *,
    offset: float = 0.0,
) -> Proximal:
    """Minimise |chi - a|^2 / (2 V_k) + |z - b|^2 / (2 V_v) + (y - sigma(chi).z)^2 / 2.

    Parameters
    ----------
    activation : "softmax", "linear", "erf" or "softplus"
    key_field, value_field : a and b, shape (..., length)
    target : y, shape (...)
    variance_k, variance_v : V_k and V_v, > 0
    offset : added to the logits of erf

    Returns
    -------
    Proximal; for softmax the mean of the logits is that of `key_field`.

    Raises
    ------
    TypeError, ValueError
        If a variance is not positive, an entry not finite or a shape does not fit.
    """
    arrays = [np.asarray(x, np.float64) for x in (key_field, value_field, target)]
    names = ("key_field", "value_field", "target")
    for name, array in zip(names, arrays, strict=True):
        check_real(name, array)
    a, b, y = arrays
    require(a.ndim > 0, "key_field", "(..., length)", a.shape)
    require(b.shape == a.shape, "value_field", f"of shape {a.shape}", b.shape)
    require(y.shape == a.shape[:-1], "target", f"of shape {a.shape[:-1]}", y.shape)
    check_real("variance_k", variance_k, above=0)
    check_real("variance_v", variance_v, above=0)
    this = channel(activation, a.shape[-1], offset)
    with jax.enable_x64(True):
        rows = [jnp.asarray(x.reshape(-1, x.shape[-1]).T) for x in (a, b)]
        variances = Variances(jnp.asarray(variance_k), jnp.asarray(variance_v))
        solved = _solve(this, *rows, jnp.asarray(y.reshape(-1)), variances)
        logits, value, *rest = (np.asarray(x) for x in solved)
    logits, value = logits.T.reshape(a.shape), value.T.reshape(a.shape)
    if activation == "softmax":
        logits = logits + a.mean(axis=-1, keepdims=True)
    return Proximal(logits, value, *(x.reshape(y.shape) for x in rest))


@jax.jit(static_argnums=0)
def _solve(
    this: Channel,
    key: Float[Array, "length points"],
    value: Float[Array, "length points"],
    target: Float[Array, " points"],
    variances: Variances,
) -> tuple:
    fields = Fields(this.project(key), tuple(value), target)
    found = this.search(fields, variances)
    response = this.response(found.position, fields, variances)
    return (
        jnp.stack(response.logits),
        jnp.stack(response.value),
        response.residual,
        this.envelope(found.position, fields, variances),
        found.is_multistable,
    )
