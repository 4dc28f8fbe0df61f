"""One key head and the queries that read it: the loop over blocks of rows.

All arrays here are in the working float type and `query` carries the scale already.
A block takes the same queries of every head of the group, as (group × block) rows.
"""

from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from sharp_attention.attention.interface import Settings
from sharp_attention.attention.row_plan import Span, plan
from sharp_attention.attention.rowblock_math import (
    RowGradients,
    RowSums,
    backward_block,
    forward_block,
)

__all__ = ["Head", "backward_head", "forward_head"]

# 128 rows of 4096 float32 logits are two megabytes: they stay in the caches from the
# first product to the last, and 128 rows are enough for products at nearly full speed.
_BLOCK_ROWS = 128

_Tree = TypeVar("_Tree")


class Head(NamedTuple):
    """What one key head works on."""

    query: Float[Array, "group queries dim"]
    key: Float[Array, "keys dim"]
    value: Float[Array, "keys value_dim"]
    mask: Bool[Array, "#group #queries #keys"] | None


def forward_head(
    head: Head, settings: Settings
) -> tuple[Float[Array, "group queries value_dim"], RowSums]:
    """Return the output, and the sums of each row as (group, queries)."""
    parts = [_forward_span(head, span, settings) for span in _spans(head, settings)]
    return jax.tree.map(lambda *spans: jnp.concatenate(spans, axis=1), *parts)


def _forward_span(head: Head, span: Span, settings: Settings) -> tuple[Array, RowSums]:
    key, value = head.key[: span.keys], head.value[: span.keys]

    def one_block(start: Int[Array, ""]) -> tuple[Array, RowSums]:
        query = _take_rows(head.query, start, span)
        visible = _visible(head, start, span, settings)
        return forward_block(query, key, value, visible, settings)

    return _join_rows(jax.lax.map(one_block, _starts(span)), head.query.shape[0])


def backward_head(
    head: Head, sums: RowSums, gradients: RowGradients, settings: Settings
) -> tuple[
    Float[Array, "group queries dim"],
    Float[Array, "keys dim"],
    Float[Array, "keys value_dim"],
]:
    """Return the gradients of `query`, `key` and `value`."""
    of_keys = (jnp.zeros_like(head.key), jnp.zeros_like(head.value))
    parts = []
    for span in _spans(head, settings):
        of_keys, part = _backward_span(head, sums, gradients, of_keys, span, settings)
        parts.append(part)
    return jnp.concatenate(parts, axis=1), *of_keys


def _backward_span(
    head: Head,
    sums: RowSums,
    gradients: RowGradients,
    of_keys: tuple[Array, Array],
    span: Span,
    settings: Settings,
) -> tuple[tuple[Array, Array], Array]:
    """Add the span's gradients to those `of_keys`; return them and those of query."""
    key, value = head.key[: span.keys], head.value[: span.keys]

    def one_block(
        of_keys: tuple[Array, Array], start: Int[Array, ""]
    ) -> tuple[tuple[Array, Array], Array]:
        rows = _take_rows((head.query, sums, gradients), start, span)
        visible = _visible(head, start, span, settings)
        of_query, *added = backward_block(*rows, key, value, visible, settings)
        of_key, of_value = (
            total.at[: span.keys].add(part)
            for total, part in zip(of_keys, added, strict=True)
        )
        return (of_key, of_value), of_query

    of_keys, of_query = jax.lax.scan(one_block, of_keys, _starts(span))
    return of_keys, _join_rows(of_query, head.query.shape[0])


def _spans(head: Head, settings: Settings) -> list[Span]:
    group, queries, _ = head.query.shape
    block = max(1, _BLOCK_ROWS // group)
    return plan(queries, head.key.shape[0], block, is_causal=settings.is_causal)


def _starts(span: Span) -> Int[Array, "blocks"]:
    return span.start + span.block * jnp.arange(span.blocks)


def _take_rows(tree: _Tree, start: Int[Array, ""], span: Span) -> _Tree:
    """From (group, queries, ...) take one block, as (group × block, ...)."""

    def take(array: Array) -> Array:
        rows = jax.lax.dynamic_slice_in_dim(array, start, span.block, axis=1)
        return rows.reshape(-1, *array.shape[2:])

    return jax.tree.map(take, tree)


def _join_rows(tree: _Tree, group: int) -> _Tree:
    """From (blocks, group × block, ...) to (group, blocks × block, ...)."""

    def join(array: Array) -> Array:
        blocks, _, *rest = array.shape
        by_group = jnp.moveaxis(array.reshape(blocks, group, -1, *rest), 1, 0)
        return by_group.reshape(group, -1, *rest)

    return jax.tree.map(join, tree)


def _visible(
    head: Head, start: Int[Array, ""], span: Span, settings: Settings
) -> Bool[Array, "last_keys rows"] | None:
    """Which of the last keys of a span the rows of a block see; they see all others.

    Without a mask, causality hides no key before the first query of the span.
    """
    first = 0 if head.mask is not None else span.start
    if head.mask is None and (not settings.is_causal or first >= span.keys):
        return None
    visible = jnp.ones((1, 1, 1), dtype=bool)
    if settings.is_causal:
        queries = start + jnp.arange(span.block)
        visible = jnp.arange(first, span.keys)[:, None, None] <= queries
    if head.mask is not None:
        mask = head.mask[..., : span.keys]
        if mask.shape[1] > 1:
            mask = jax.lax.dynamic_slice_in_dim(mask, start, span.block, axis=1)
        visible = visible & jnp.moveaxis(mask, -1, 0)
    shape = (span.keys - first, head.query.shape[0], span.block)
    return jnp.broadcast_to(visible, shape).reshape(shape[0], -1)
