"""A row of logits, made safe: masked, shifted by its maximum, in float32 or better.

Every map from logits to weights starts here, so that each meets the same input:
items that the mask removes (or that are −infinity) hold 0 and never reach an
exponential, the largest logit of each row is 0, and half precision is left behind
before anything is added up.
NaN and +infinity raise where values can be seen and turn the whole row into NaN under
``jax.jit``: no comparison here is true for NaN by accident.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from sharp_attention._checks import check_no_nan, is_traced, require
from sharp_attention._typing import ArrayLike

__all__ = ["Rows", "nonzero", "normalise", "prepare", "shift"]


class Rows(NamedTuple):
    """Rows of logits ready for exponentials; the last axis holds the keys.

    Attributes
    ----------
    values : the logits in float32 or better, 0 where masked
    shifted : values minus the maximum of their row: at most 0, and 0 where masked
    mask : True where a key takes part
    maximum : of each row, −inf for a row without keys; a constant to differentiation
    dtype : floating-point type of the logits as they came, which weights return to
    """

    values: Float[Array, "*batch keys"]
    shifted: Float[Array, "*batch keys"]
    mask: Bool[Array, "*batch keys"]
    maximum: Float[Array, "*batch"]
    dtype: jnp.dtype


def prepare(logits: ArrayLike, where: ArrayLike | None = None) -> Rows:
    """Check the logits, apply the mask and find the maximum of each row.

    Raises
    ------
    TypeError
        If `logits` are complex or `where` is not boolean.
    ValueError
        If `logits` have no axis, `where` does not broadcast to their shape, or, in an
        eager call, a key that takes part is NaN or +inf.
    """
    array = jnp.asarray(logits)
    if not jnp.issubdtype(array.dtype, jnp.floating):
        if jnp.issubdtype(array.dtype, jnp.complexfloating):
            raise TypeError(f"logits must be real; received {array.dtype}")
        array = array.astype(jnp.result_type(float))
    require(array.ndim >= 1, "logits", "an array with a last axis of keys", logits)
    values, shifted, mask, maximum = _apply(array, _broadcast(where, array.shape))
    if not is_traced(values):
        check_no_nan("logits", values)
    return Rows(values, shifted, mask, maximum, array.dtype)


def shift(
    values: Float[Array, "..."], reference: Float[Array, "..."]
) -> Float[Array, "..."]:
    """Return `values` − `reference`, held at the most negative finite number.

    A difference that overflows would be −inf, and −inf times its weight 0 is NaN.
    """
    return jnp.maximum(values - reference, jnp.finfo(values.dtype).min)


@jax.jit
def normalise(
    scores: Float[Array, "*batch keys"], mask: Bool[Array, "*batch keys"]
) -> Float[Array, "*batch keys"]:
    """Exponentiate scores whose largest is 0 and divide by their sum; no keys: zeros.

    Masked scores must be finite, so that their gradient is 0 and not 0 · ∞.
    """
    unnormalised = jnp.where(mask, jnp.exp(scores), 0.0)
    return unnormalised / nonzero(jnp.sum(unnormalised, axis=-1, keepdims=True))


def nonzero(total: Float[Array, "..."]) -> Float[Array, "..."]:
    """Return `total` with 1 in place of 0, the sum over no keys, to divide by.

    ``== 0`` is False for NaN, which therefore stays in sight; ``> 0`` would hide it.
    """
    return jnp.where(total == 0, 1.0, total)


@jax.jit
def _apply(
    array: Float[Array, "*batch keys"], where: Bool[Array, "*batch keys"]
) -> tuple[
    Float[Array, "*batch keys"],
    Float[Array, "*batch keys"],
    Bool[Array, "*batch keys"],
    Float[Array, "*batch"],
]:
    mask = where & (array != -jnp.inf)
    values = jnp.where(mask, array, 0).astype(jnp.promote_types(array.dtype, "float32"))
    maximum = jnp.max(values, axis=-1, where=mask, initial=-jnp.inf)
    maximum = jax.lax.stop_gradient(maximum)
    # A row without keys has no reference, and −inf − (−inf) is NaN.
    reference = jnp.where(maximum == -jnp.inf, 0.0, maximum)
    shifted = jnp.where(mask, shift(values, reference[..., None]), 0.0)
    return values, shifted, mask, maximum


def _broadcast(where: ArrayLike | None, shape: tuple[int, ...]) -> Bool[Array, "..."]:
    if where is None:
        return jnp.ones(shape, dtype=bool)
    mask = jnp.asarray(where)
    if mask.dtype != jnp.bool_:
        raise TypeError(f"where must be boolean; received {mask.dtype}")
    try:
        return jnp.broadcast_to(mask, shape)
    except ValueError:
        message = f"where must broadcast to {shape}; received shape {mask.shape}"
        raise ValueError(message) from None
