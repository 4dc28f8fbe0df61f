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

__all__ = ["Rows", "normalise", "prepare", "shift"]


class Rows(NamedTuple):
    """Rows of logits ready for exponentials; the last axis holds the keys.

    Attributes
    ----------
    values : the logits in float32 or better, 0 where masked
    mask : True where a key takes part
    maximum : of each row, kept axis, −inf for a row without keys; no gradient
    dtype : floating-point type of the logits as they came, which weights return to
    """

    values: Float[Array, "*batch keys"]
    mask: Bool[Array, "*batch keys"]
    maximum: Float[Array, "*batch 1"]
    dtype: jnp.dtype

    @property
    def shifted(self) -> Float[Array, "*batch keys"]:
        """Logits minus the maximum of their row: at most 0, and 0 where masked."""
        empty = self.maximum == -jnp.inf
        reference = jnp.where(empty, 0.0, self.maximum)
        return jnp.where(self.mask, shift(self.values, reference), 0.0)


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
    mask = (array != -jnp.inf) & _broadcast_mask(where, array.shape)
    values = jnp.where(mask, array, 0).astype(jnp.promote_types(array.dtype, "float32"))
    if not is_traced(values):
        check_no_nan("logits", values)
    maximum = jnp.max(values, axis=-1, keepdims=True, where=mask, initial=-jnp.inf)
    return Rows(values, mask, jax.lax.stop_gradient(maximum), array.dtype)


def shift(
    values: Float[Array, "*batch keys"], reference: Float[Array, "*batch #keys"]
) -> Float[Array, "*batch keys"]:
    """Return `values` − `reference`, held at the most negative finite number.

    A difference that overflows would be −inf, and −inf times its weight 0 is NaN.
    """
    lowest = jnp.finfo(values.dtype).min
    return jnp.maximum(values - reference, lowest)


def normalise(
    scores: Float[Array, "*batch keys"], mask: Bool[Array, "*batch keys"]
) -> Float[Array, "*batch keys"]:
    """Exponentiate scores whose largest is 0 and divide by their sum; no keys: zeros.

    Masked scores must be finite, so that their gradient is 0 and not 0 · ∞.
    """
    unnormalised = jnp.where(mask, jnp.exp(scores), 0.0)
    total = jnp.sum(unnormalised, axis=-1, keepdims=True)
    # `== 0` is False for NaN, which therefore stays in sight; `> 0` would hide it.
    return unnormalised / jnp.where(total == 0, 1.0, total)


def _broadcast_mask(
    where: ArrayLike | None, shape: tuple[int, ...]
) -> Bool[Array, "..."]:
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
