"""Plain attention by a library on queries that an inverse temperature multiplies.

The product beta · query does not fit the type of the query: rounded to bfloat16 it
moves a logit by several hundredths, and outputs by more than all other roundings
together.
So the library gets float16, which has three bits more and is as fast on a GPU.

Its range is narrower than that of bfloat16, hence every component of queries, keys and
values is multiplied by a power of two of its own first, which is exact: what queries
gain keys lose, and what values gain is taken from the output.
The output is not finite where the largest query times the largest key of a component,
before the scale, is beyond 2^30.

Gradients of any size have to fit as well, and theirs is not known beforehand, so the
way back is that of the rounded product in the type of the query; for bfloat16 the
library's forward pass is run once more for it.
"""

import functools
from collections.abc import Callable
from typing import TypeAlias

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from sharp_attention.attention.interface import Settings

__all__ = ["PlainAttention", "attend"]

# Values are brought below 2^15, as far up as they may go: float16 ends before 2^16.
_TOP = 15
# Arrays smaller than this count as this large, so that every power fits float32.
_LEAST_EXPONENT = -110

PlainAttention: TypeAlias = Callable[..., Array]


def attend(
    query: Float[Array, "batch queries heads dim"],
    key: Float[Array, "batch keys kv_heads dim"],
    value: Float[Array, "batch keys kv_heads dim"],
    inverse_temperature: Float[Array, "batch heads queries"],
    settings: Settings,
    plain_attention: PlainAttention,
) -> Float[Array, "batch queries heads dim"]:
    """Attend with softmax(inverse_temperature · scale · query · key).

    Parameters
    ----------
    query, key, value : float16 or bfloat16; grouped heads as in `interface`
    inverse_temperature : of each row, in float32
    settings : of which `scale` and `is_causal` count here
    plain_attention : called like ``jax.nn.dot_product_attention``
    """
    run = functools.partial(
        plain_attention, scale=settings.scale, is_causal=settings.is_causal
    )
    arguments = query, key, value, inverse_temperature
    if query.dtype == jnp.float16:
        return _attend_in_type_of_query(run, *arguments)
    return _attend_in_float16(run, *arguments)


def _attend_in_type_of_query(
    plain_attention: PlainAttention,
    query: Array,
    key: Array,
    value: Array,
    inverse_temperature: Array,
) -> Array:
    sharp = _sharpen(query, inverse_temperature)
    return plain_attention(sharp.astype(query.dtype), key, value)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _attend_in_float16(
    plain_attention: PlainAttention,
    query: Array,
    key: Array,
    value: Array,
    inverse_temperature: Array,
) -> Array:
    sharp = _sharpen(query, inverse_temperature)
    batch, _, kv_heads, dim = key.shape
    group = query.shape[2] // kv_heads
    of_query = _exponents(sharp).reshape(batch, 1, kv_heads, group, dim).max(axis=3)
    of_key, of_value = _exponents(key), _exponents(value)
    balance = (of_key - of_query) // 2
    output = plain_attention(
        _times_power(sharp, jnp.repeat(balance, group, axis=2)).astype(jnp.float16),
        _times_power(key, -balance).astype(jnp.float16),
        _times_power(value, _TOP - of_value).astype(jnp.float16),
    )
    undone = jnp.repeat(of_value - _TOP, group, axis=2)
    return _times_power(output, undone).astype(query.dtype)


def _forward(
    plain_attention: PlainAttention, *arguments: Array
) -> tuple[Array, tuple[Array, ...]]:
    return _attend_in_float16(plain_attention, *arguments), arguments


def _backward(
    plain_attention: PlainAttention, arguments: tuple[Array, ...], of_output: Array
) -> tuple[Array, ...]:
    attend = functools.partial(_attend_in_type_of_query, plain_attention)
    return jax.vjp(attend, *arguments)[1](of_output)


_attend_in_float16.defvjp(_forward, _backward)


def _sharpen(
    query: Float[Array, "batch queries heads dim"],
    inverse_temperature: Float[Array, "batch heads queries"],
) -> Float[Array, "batch queries heads dim"]:
    by_query = jnp.swapaxes(inverse_temperature, 1, 2)[..., None]
    return by_query * query.astype(jnp.float32)


def _exponents(
    array: Float[Array, "batch length heads dim"],
) -> Int[Array, "batch 1 heads dim"]:
    """Powers of two just above the largest entry of each component."""
    largest = jnp.abs(array).max(axis=1, keepdims=True).astype(jnp.float32)
    return jnp.maximum(jnp.frexp(largest)[1], _LEAST_EXPONENT)


def _times_power(
    array: Float[Array, "batch length heads dim"],
    exponents: Int[Array, "batch 1 heads dim"],
) -> Float[Array, "batch length heads dim"]:
    # By its bits, since no exponential function promises to be exact on every device.
    bits = (exponents + 127) << 23
    return array.astype(jnp.float32) * jax.lax.bitcast_convert_type(bits, jnp.float32)
