"""The projection behind entmax and its derivative.

With logits shifted so that the largest is 0, the weights are

    p_k = max(1 + (alpha − 1)(e_k − λ), 0)^(1 / (alpha − 1)),

λ ≥ 0 chosen so that they sum to 1.  Written like this they turn into exp(e_k − λ) as
alpha → 1, with λ the log-normaliser.
"""

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from sharp_attention.attention import _rows

__all__ = ["project"]

Rows = Float[Array, "*batch keys"]
Mask = Bool[Array, "*batch keys"]
Threshold = Float[Array, "*batch 1"]


@functools.partial(jax.jit, static_argnums=0)
def project(alpha: float, shifted: Rows, mask: Mask) -> Rows:
    """Weights of alpha-entmax for rows whose largest logit is 0; masked keys get 0.

    Parameters
    ----------
    alpha : > 1
    shifted : at most 0, the largest of each row equal to 0
    mask : True where a key takes part
    """
    return _project(alpha, shifted, mask)


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def _project(alpha: float, shifted: Rows, mask: Mask) -> Rows:
    # No key that lies 1/(alpha − 1) below the largest has any weight, so none is
    # needed below that; masked keys join them.
    lowest = -1.0 / (alpha - 1.0)
    clipped = jnp.where(mask, jnp.maximum(shifted, lowest), lowest)
    if alpha == 2.0:
        threshold = _threshold_of_sparsemax(clipped)
    elif alpha == 1.5:
        threshold = _threshold_of_entmax15(clipped)
    else:
        threshold = _threshold_by_bisection(alpha, clipped)
    weights = jnp.where(mask, _power(alpha, clipped - threshold), 0.0)
    return weights / _rows.nonzero(jnp.sum(weights, axis=-1, keepdims=True))


@_project.defjvp
def _project_jvp(
    alpha: float, primals: tuple[Rows, Mask], tangents: tuple[Rows, Any]
) -> tuple[Rows, Rows]:
    """Jacobian diag(s) − s sᵀ / Σ s with s_k = p_k^(2 − alpha) on the support."""
    weights = _project(alpha, *primals)
    tangent, _ = tangents
    on = weights != 0
    # For alpha > 2 the slope at the edge of the support is infinite: hold it finite.
    largest = math.sqrt(float(jnp.finfo(weights.dtype).max))
    slope = jnp.minimum(jnp.where(on, weights, 1.0) ** (2.0 - alpha), largest)
    slope = jnp.where(on, slope, 0.0)
    share = slope / _rows.nonzero(jnp.sum(slope, axis=-1, keepdims=True))
    mean = jnp.sum(share * tangent, axis=-1, keepdims=True)
    return weights, slope * (tangent - mean)


def _power(alpha: float, gaps: Rows) -> Rows:
    """max(1 + (alpha − 1) gap, 0)^(1 / (alpha − 1)), accurate as alpha → 1."""
    scaled = (alpha - 1.0) * gaps
    # Asked this way round, NaN is not outside and stays in sight.
    outside = scaled <= -1.0
    logarithm = jnp.log1p(jnp.where(outside, 0.0, scaled)) / (alpha - 1.0)
    return jnp.where(outside, 0.0, jnp.exp(logarithm))


def _threshold_of_sparsemax(clipped: Rows) -> Threshold:
    """λ for alpha = 2: the largest support whose smallest key keeps a weight."""
    descending, count = _sorted(clipped)
    threshold = 1.0 + (jnp.cumsum(descending, axis=-1) - 1.0) / count
    return _at_support(threshold, descending - threshold > -1.0)


def _threshold_of_entmax15(clipped: Rows) -> Threshold:
    """λ for alpha = 3/2, where the sum of squares is a quadratic in λ."""
    descending, count = _sorted(clipped / 2.0)
    mean = jnp.cumsum(descending, axis=-1) / count
    mean_of_squares = jnp.cumsum(descending**2, axis=-1) / count
    discriminant = 1.0 / count - (mean_of_squares - mean**2)
    threshold = mean - jnp.sqrt(jnp.maximum(discriminant, 0.0))
    return 2.0 * (1.0 + _at_support(threshold, descending >= threshold))


def _threshold_by_bisection(alpha: float, clipped: Rows) -> Threshold:
    """λ for any alpha, between the values that a lone key and n equal keys have."""
    num_keys = clipped.shape[-1]
    ceiling = -math.expm1((1.0 - alpha) * math.log(max(num_keys, 1))) / (alpha - 1.0)
    low = jnp.zeros_like(clipped[..., :1])

    def halve(_: Int[Array, ""], bracket: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = bracket
        middle = (low + high) / 2
        total = jnp.sum(_power(alpha, clipped - middle), axis=-1, keepdims=True)
        return jnp.where(total >= 1, middle, low), jnp.where(total >= 1, high, middle)

    # One step per bit of the mantissa, and a few for a bracket wider than 1.
    num_steps = jnp.finfo(clipped.dtype).nmant + 8
    low, high = jax.lax.fori_loop(0, num_steps, halve, (low, low + ceiling))
    return (low + high) / 2


def _sorted(values: Rows) -> tuple[Rows, Float[Array, " keys"]]:
    descending = jnp.flip(jnp.sort(values, axis=-1), axis=-1)
    return descending, jnp.arange(1, values.shape[-1] + 1, dtype=values.dtype)


def _at_support(thresholds: Rows, belongs: Mask) -> Threshold:
    """Threshold of the last key, in descending order, that belongs to the support."""
    last = jnp.sum(belongs, axis=-1, keepdims=True) - 1
    return jnp.take_along_axis(thresholds, jnp.maximum(last, 0), axis=-1)
