"""Exact attention in linear memory: a block of rows against all keys at a time.

A block of R rows holds its R × n logits, so beta is known before the values are
needed and queries meet keys once; a kernel that sees a row only tile by tile has to
form the logits twice.
Memory is O(n): one block, and five numbers per row for the backward pass, which is
written by hand and goes through the same blocks.
Here is what runs over batch and heads, one after the other; `rowblock_head` runs over
the blocks of a head and `rowblock_math` has the formulas of a block.
"""

import functools
from typing import TypeAlias, TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from sharp_attention.attention.interface import Settings, Statistics, working_type
from sharp_attention.attention.rowblock_head import Head, backward_head, forward_head
from sharp_attention.attention.rowblock_math import RowGradients, RowSums

__all__ = ["attend"]

_Tree = TypeVar("_Tree")
_Position: TypeAlias = tuple[Int[Array, "..."], Int[Array, "..."]]
"""Batch entry and key head."""


@functools.partial(jax.jit, static_argnames="settings")
def attend(
    query: Float[Array, "batch queries heads dim"],
    key: Float[Array, "batch keys kv_heads dim"],
    value: Float[Array, "batch keys kv_heads value_dim"],
    mask: Bool[Array, "#batch #heads #queries #keys"] | None,
    settings: Settings,
) -> tuple[Float[Array, "batch queries heads value_dim"], Statistics | None]:
    """Attend block by block; see `interface` for the contract.

    Derivatives in reverse mode and of first order only.
    """
    return _attend(query, key, value, mask, settings)


@functools.partial(jax.custom_vjp, nondiff_argnums=(4,))
def _attend(
    query: Array, key: Array, value: Array, mask: Array | None, settings: Settings
) -> tuple[Array, Statistics | None]:
    result, _ = _attend_forward(query, key, value, mask, settings)
    return result


def _attend_forward(
    query: Array, key: Array, value: Array, mask: Array | None, settings: Settings
) -> tuple[tuple[Array, Statistics | None], tuple]:
    """Return output and statistics, and what the backward pass needs."""
    batch, queries, heads, _ = query.shape

    def one_head(position: _Position) -> tuple[Array, RowSums]:
        head = _take_head(query, key, value, mask, position, settings)
        return forward_head(head, settings)

    output, sums = jax.lax.map(one_head, _positions(key))
    sums = jax.tree.map(lambda array: array.reshape(batch, heads, queries), sums)
    statistics = _statistics(sums) if settings.return_statistics else None
    return (_join(output, query), statistics), (query, key, value, mask, sums)


def _attend_backward(
    settings: Settings, residuals: tuple, gradients: tuple[Array, Statistics | None]
) -> tuple[Array, Array, Array, None]:
    query, key, value, mask, sums = residuals
    of_output, of_statistics = gradients
    group = query.shape[2] // key.shape[2]

    def one_head(position: _Position) -> tuple[Array, Array, Array]:
        head = _take_head(query, key, value, mask, position, settings)
        output = _take(of_output, position, group, axis=2).astype(head.query.dtype)
        head_sums, statistics = _take((sums, of_statistics), position, group, axis=1)
        gradients = RowGradients(output, statistics)
        return backward_head(head, head_sums, gradients, settings)

    of_query, of_key, of_value = jax.lax.map(one_head, _positions(key))
    of_query = settings.scale * of_query
    return _join(of_query, query), _join(of_key, key), _join(of_value, value), None


_attend.defvjp(_attend_forward, _attend_backward)


def _positions(key: Float[Array, "batch keys kv_heads dim"]) -> _Position:
    """Batch entry and key head of everything that is to be run through."""
    batch, _, kv_heads, _ = key.shape
    return jnp.divmod(jnp.arange(batch * kv_heads), kv_heads)


def _take_head(
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None,
    position: _Position,
    settings: Settings,
) -> Head:
    wide = working_type(query.dtype)
    group = query.shape[2] // key.shape[2]
    return Head(
        query=_take(query, position, group, axis=2).astype(wide) * settings.scale,
        key=_take(key, position, 1, axis=2)[0].astype(wide),
        value=_take(value, position, 1, axis=2)[0].astype(wide),
        mask=_take(mask, position, group, axis=1),
    )


def _take(tree: _Tree, position: _Position, count: int, *, axis: int) -> _Tree:
    """Take `count` heads of one batch entry, heads first: (count, ...).

    An axis of length 1 that stands for all batch entries or heads needs no case of its
    own: a slice that would reach beyond the end starts further left.
    """
    batch, kv_head = position

    def take(array: Array) -> Array:
        entry = jax.lax.dynamic_index_in_dim(array, batch, keepdims=False)
        size = min(count, entry.shape[axis - 1])
        heads = jax.lax.dynamic_slice_in_dim(entry, kv_head * count, size, axis - 1)
        return jnp.moveaxis(heads, axis - 1, 0)

    return jax.tree.map(take, tree)


def _join(array: Array, like: Float[Array, "batch length heads dim"]) -> Array:
    """Put what was done head by head in the axes and float type of `like`."""
    by_head = array.reshape(like.shape[0], -1, *array.shape[-2:])
    return jnp.swapaxes(by_head, 1, 2).astype(like.dtype)


def _statistics(sums: RowSums) -> Statistics:
    is_empty = sums.normaliser == 0
    logarithm = jnp.log(jnp.where(is_empty, 1.0, sums.normaliser))
    log_normaliser = jnp.where(is_empty, -jnp.inf, sums.maximum + logarithm)
    return Statistics(sums.entropy, sums.beta, log_normaliser)
