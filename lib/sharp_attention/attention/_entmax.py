"""The projection behind entmax and its derivative.

With a = alpha − 1 and logits shifted so that the largest is 0, the weights are

    p_k = max(u + a e_k, 0)^(1/a) = P max(1 + a e_k / u, 0)^(1/a),    u = P^a,

P the largest of them, chosen so that they sum to 1.
Nothing is subtracted from 1 here to leave little: n equal keys have u = n^(−a), which
1 − a λ, the same number by way of a threshold λ, loses once it is below the rounding.
As alpha → 1, (1 + a e / u)^(1/a) turns into exp(e).
"""

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from sharp_attention.attention import _rows

__all__ = ["project"]

Rows = Float[Array, "*batch keys"]
Mask = Bool[Array, "*batch keys"]
Level = Float[Array, "*batch 1"]


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
    power = alpha - 1.0
    gaps = jnp.where(mask, power * shifted, -jnp.inf)
    if alpha == 2.0:
        weights = _relative(power, gaps, _level_of_sparsemax(gaps))
    elif alpha == 1.5:
        weights = _relative(power, gaps, _level_of_entmax15(gaps))
    else:
        weights = _weights_by_bisection(power, gaps)
    return weights / _rows.nonzero(_total(weights))


@_project.defjvp
def _project_jvp(
    alpha: float, primals: tuple[Rows, Mask], tangents: tuple[Rows, Any]
) -> tuple[Rows, Rows]:
    """Jacobian diag(s) − s sᵀ / Σ s with s_k = p_k^(2 − alpha) on the support."""
    weights = _project(alpha, *primals)
    tangent, _ = tangents
    on = weights != 0
    logarithms = (2.0 - alpha) * jnp.log(jnp.where(on, weights, 1.0))
    # For alpha > 2 the slope at the edge of the support is infinite, and n^(alpha − 2)
    # in a row of n equal keys: hold it finite, but not the shares in the sum.
    ceiling = math.log(float(jnp.finfo(weights.dtype).max)) / 2
    slope = jnp.where(on, jnp.exp(jnp.minimum(logarithms, ceiling)), 0.0)
    lowest = jnp.finfo(weights.dtype).min
    largest = jnp.max(logarithms, axis=-1, keepdims=True, where=on, initial=lowest)
    scores = jnp.where(on, logarithms - jax.lax.stop_gradient(largest), 0.0)
    share = _rows.normalise(scores, on)
    mean = jnp.sum(share * tangent, axis=-1, keepdims=True)
    return weights, slope * (tangent - mean)


def _relative(power: float, gaps: Rows, level: Level) -> Rows:
    """max(1 + gap / u, 0)^(1/a), the weights divided by the largest."""
    ratio = gaps / level
    # Asked this way round, NaN is not outside and stays in sight.
    outside = ratio <= -1.0
    logarithm = jnp.log1p(jnp.where(outside, 0.0, ratio)) / power
    return jnp.where(outside, 0.0, jnp.exp(logarithm))


def _level_of_sparsemax(gaps: Rows) -> Level:
    """Return u for alpha = 2: the largest support whose last key keeps a weight."""
    descending, count = _sorted(gaps)
    level = (1.0 - jnp.cumsum(descending, axis=-1)) / count
    return _at_support(level, level + descending > 0)


def _level_of_entmax15(gaps: Rows) -> Level:
    """Return u for alpha = 3/2, where the sum of squares is a quadratic in u."""
    descending, count = _sorted(gaps)
    mean = jnp.cumsum(descending, axis=-1) / count
    mean_of_squares = jnp.cumsum(descending**2, axis=-1) / count
    discriminant = 1.0 / count - (mean_of_squares - mean**2)
    level = jnp.sqrt(jnp.maximum(discriminant, 0.0)) - mean
    return _at_support(level, level + descending >= 0)


def _weights_by_bisection(power: float, gaps: Rows) -> Rows:
    """Weights for any alpha, between the u of n equal keys and 1, that of a lone key.

    Positive floats are in the order of their bits, so that halving the bits ends with
    two neighbours, however small u is.
    What the smallest key of the support gets may differ between these by all that is
    left: (1 + gap / u)^(1/a) jumps from 0 to 2^(−24/a).  Between them, the weights are
    interpolated to the sum 1.
    """
    lowest, highest = _bracket(power, gaps)
    start = jnp.full_like(gaps[..., :1], lowest.item(), dtype=lowest.dtype)

    def weights_at(bits: Int[Array, "*batch 1"]) -> Rows:
        level = jax.lax.bitcast_convert_type(bits, gaps.dtype)
        return jnp.exp(jnp.log(level) / power) * _relative(power, gaps, level)

    def halve(_: Int[Array, ""], bracket: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = bracket
        middle = low + (high - low) // 2
        is_enough = _total(weights_at(middle)) >= 1
        return jnp.where(is_enough, low, middle), jnp.where(is_enough, middle, high)

    num_steps = int(highest - lowest).bit_length()
    bracket = start, start + (highest - lowest)
    below, above = map(weights_at, jax.lax.fori_loop(0, num_steps, halve, bracket))
    missing = 1.0 - _total(below)
    between = jnp.clip(missing / _rows.nonzero(_total(above - below)), 0.0, 1.0)
    return below + between * (above - below)


def _bracket(power: float, gaps: Rows) -> tuple[np.integer, np.integer]:
    """Bits of the u of n equal keys, if it is a normal number, and of 1."""
    smallest = math.exp(-power * math.log(max(gaps.shape[-1], 1)))
    tiny = float(jnp.finfo(gaps.dtype).tiny)
    ends = np.array([max(smallest, tiny), 1.0], gaps.dtype)
    lowest, highest = ends.view(f"int{8 * ends.itemsize}")
    return lowest, highest


def _sorted(gaps: Rows) -> tuple[Rows, Float[Array, " keys"]]:
    # No key that lies 1 below the largest has any weight: sums of such remain finite.
    descending = jnp.flip(jnp.sort(jnp.maximum(gaps, -1.0), axis=-1), axis=-1)
    return descending, jnp.arange(1, gaps.shape[-1] + 1, dtype=gaps.dtype)


def _at_support(levels: Rows, belongs: Mask) -> Level:
    """Level of the last key, in descending order, that belongs to the support."""
    last = jnp.sum(belongs, axis=-1, keepdims=True) - 1
    return jnp.take_along_axis(levels, jnp.maximum(last, 0), axis=-1)


def _total(weights: Rows) -> Level:
    return jnp.sum(weights, axis=-1, keepdims=True)
