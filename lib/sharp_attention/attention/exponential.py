"""The exponential of numbers that are not positive: fast in float32.

A row of softmax needs exp only of logits minus their maximum, so there is no overflow
to guard against and everything far below 0 may become 0.
With t = x log2(e) = i + f, i the nearest integer,

    exp(x) = 2^i · 2^f,    |f| ≤ 1/2,

where 2^i is written straight into the exponent bits and 2^f is a polynomial.
On CPUs this takes about half the time of XLA's own exp.
"""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

__all__ = ["POWER_OF_TWO", "exp_of_nonpositive"]

POWER_OF_TWO = (
    0.0013264727,
    0.0096715127,
    0.0555073374,
    0.2402224208,
    0.6931469776,
    1.0,
)
"""Coefficients of 2^f on [−1/2, 1/2], highest power first.

The polynomial of degree 5 with the smallest largest relative error (9.1e-8) among
those that are exactly 1 at f = 0, so that the largest item of a row weighs exactly 1.
"""

# Adding 1.5 · 2^23 pushes the fraction of a float32 out of its 24 bits: what is left
# in the low bits is the nearest integer.  Reading it as an integer, not subtracting the
# constant again, keeps compilers from cancelling the two.
_SHIFTER = 1.5 * 2**23
_SHIFTER_BITS = 0x4B400000
_EXPONENT_BIAS = 127
_MANTISSA_BITS = 23


def exp_of_nonpositive(x: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """Compute exp(`x`) for x ≤ 0 elementwise, in float32 or float64.

    Parameters
    ----------
    x : (...), at most 0 up to rounding; NaN stays NaN

    Returns
    -------
    (...), for float32 with a relative error of at most 2e-7 + 6e-8 |x|, exactly 1 at 0
    and exactly 0 below −87.7 (where the result would be less than 2^-126.5).
    """
    if x.dtype != jnp.float32:
        return jnp.exp(x)
    # At −127 the exponent bits are all 0 and so is the result.
    t = jnp.maximum(x * math.log2(math.e), -float(_EXPONENT_BIAS))
    shifted = jax.lax.bitcast_convert_type(t + _SHIFTER, jnp.int32)
    integer = shifted - _SHIFTER_BITS
    fraction = t - integer.astype(jnp.float32)
    result = jnp.full_like(fraction, POWER_OF_TWO[0])
    for coefficient in POWER_OF_TWO[1:]:
        result = result * fraction + coefficient
    power_bits = (integer + _EXPONENT_BIAS) << _MANTISSA_BITS
    return result * jax.lax.bitcast_convert_type(power_bits, jnp.float32)
