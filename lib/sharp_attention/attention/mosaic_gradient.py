"""Gradient of entropy and log-normaliser of attention rows on Hopper GPUs.

With H̄ and λ̄ the gradients of entropy H and log-normaliser λ, p = softmax(e):

    ē_ij = p_ij (a_i − H̄_i log p_ij),    a = λ̄ − H̄ H

The gradient of the queries is scale · ē k, that of the keys scale · ēᵀ q: the same
kernel with the roles exchanged, the numbers of a query standing once for rows and once
for columns.

A tile of ē goes through shared memory, since Mosaic's interpreter knows no other left
side of a product.
"""

import functools
from typing import Any, NamedTuple

import jax
import jax.experimental.pallas as pl
import jax.experimental.pallas.mosaic_gpu as plgpu
import jax.numpy as jnp
from jaxtyping import Array, Float

from sharp_attention.attention import mosaic_tiles
from sharp_attention.attention.mosaic_tiles import (
    BLOCK_ROWS,
    GROUPS,
    LN2,
    LOG2E,
    ROWS,
    Integer,
    Place,
    Problem,
)

__all__ = ["pull_back"]

_COLUMNS, _STAGES = 64, 2
_TILE = (ROWS, _COLUMNS)


class _Task(NamedTuple):
    """The problem, what the rows are, and the tiles of columns that they need."""

    problem: Problem
    rows_are_queries: bool
    start: Integer
    stop: Integer


class _Memory(NamedTuple):
    """References: arrays in global memory, tiles in shared memory, barriers."""

    all_rows: Any
    all_transposed: Any
    all_columns: Any
    per_query: Any
    all_results: Any
    rows: Any
    transposed: Any
    columns: Any
    per_row: Any
    per_column: Any
    weights: Any
    result: Any
    arrived: Any
    loaded: Any
    consumed: Any


def pull_back(
    rows: Float[Array, "batch rows heads dim"],
    columns: Float[Array, "batch columns heads dim"],
    per_query: Float[Array, "batch heads 3 queries"],
    problem: Problem,
    *,
    rows_are_queries: bool,
) -> Float[Array, "batch rows heads dim"]:
    """Σ over columns of ē · column, in float32: a gradient up to the scale.

    Both lengths are multiples of 128.  `per_query` holds λ / log 2, H̄ and a of each
    query; with `rows_are_queries` false the rows are keys and the columns queries.
    """
    batch, length, heads, dim = rows.shape
    dtype = rows.dtype
    return mosaic_tiles.kernel(
        functools.partial(_body, problem, rows_are_queries),
        out_type=jax.ShapeDtypeStruct(rows.shape, jnp.float32),
        scratch_types=[
            mosaic_tiles.swizzled(dtype, GROUPS, ROWS, dim),
            mosaic_tiles.swizzled(dtype, _STAGES, dim, _COLUMNS),
            mosaic_tiles.swizzled(dtype, _STAGES, _COLUMNS, dim),
            plgpu.SMEM((GROUPS, 3, ROWS), jnp.float32),
            plgpu.SMEM((_STAGES, 3, _COLUMNS), jnp.float32),
            mosaic_tiles.swizzled(dtype, GROUPS, ROWS, _COLUMNS),
            plgpu.SMEM((GROUPS, ROWS, dim), jnp.float32),
            plgpu.Barrier(num_arrivals=1 + rows_are_queries, num_barriers=GROUPS),
            plgpu.Barrier(num_arrivals=3 - rows_are_queries, num_barriers=_STAGES),
            plgpu.Barrier(num_arrivals=GROUPS, num_barriers=_STAGES),
        ],
        grid=(heads, length // BLOCK_ROWS, batch),
        problem=problem,
    )(rows, mosaic_tiles.columns_last(columns), columns, per_query)


def _body(problem: Problem, rows_are_queries: bool, *references: Any) -> None:
    memory = _Memory(*references)
    columns = memory.all_transposed.shape[-1]
    start, stop = jnp.int32(0), columns // _COLUMNS
    if rows_are_queries:
        stop = mosaic_tiles.last_tile(columns, _COLUMNS, problem.is_causal)
    elif problem.is_causal:  # no query before the first key of the block sees any
        start = jax.lax.axis_index("tile") * (BLOCK_ROWS // _COLUMNS)
    task = _Task(problem, rows_are_queries, start, stop)
    mosaic_tiles.run_groups(
        functools.partial(_compute, memory, task),
        functools.partial(_load, memory, task),
    )


def _compute(memory: _Memory, task: _Task, place: Place) -> None:
    batch, head, first, group = place
    here, arrived = pl.ds(first, ROWS), memory.arrived.at[group]
    source = memory.all_rows.at[batch, here, head]
    plgpu.copy_gmem_to_smem(source, memory.rows.at[group], arrived)
    if task.rows_are_queries:
        source = memory.per_query.at[batch, head, :, here]
        plgpu.copy_gmem_to_smem(source, memory.per_row.at[group], arrived)
    plgpu.barrier_wait(arrived)
    add_tile = functools.partial(_add_tile, memory, task, place)
    zero = jnp.zeros(memory.result.shape[1:], jnp.float32)
    memory.result[group] = jax.lax.fori_loop(task.start, task.stop, add_tile, zero)
    plgpu.commit_smem()
    target = memory.all_results.at[batch, here, head]
    plgpu.copy_smem_to_gmem(memory.result.at[group], target)
    plgpu.wait_smem_to_gmem(0)


def _load(memory: _Memory, task: _Task, place: Place) -> None:
    batch, head = place.batch, place.head

    def fetch(step: Integer, slot: Integer) -> None:
        here = pl.ds(step * _COLUMNS, _COLUMNS)
        copies = [
            (memory.all_transposed.at[batch, head, :, here], memory.transposed),
            (memory.all_columns.at[batch, here, head], memory.columns),
        ]
        if not task.rows_are_queries:
            source = memory.per_query.at[batch, head, :, here]
            copies.append((source, memory.per_column))
        for source, target in copies:
            plgpu.copy_gmem_to_smem(source, target.at[slot], memory.loaded.at[slot])

    mosaic_tiles.stream(fetch, task.start, task.stop, memory.consumed, _STAGES)


def _add_tile(
    memory: _Memory, task: _Task, place: Place, step: Integer, total: Array
) -> Array:
    slot, group = jax.lax.rem(step - task.start, _STAGES), place.group
    plgpu.barrier_wait(memory.loaded.at[slot])
    rows, transposed = memory.rows.at[group], memory.transposed.at[slot]
    product = mosaic_tiles.multiply(rows, transposed, _TILE)
    numbers = (memory.per_row.at[group], memory.per_column.at[slot])
    tile = _gradient_of_logits(product, numbers, task)
    hidden = mosaic_tiles.hidden(
        _TILE,
        place.first,
        step * _COLUMNS,
        task.problem,
        rows_are_queries=task.rows_are_queries,
    )
    tile = tile if hidden is None else jnp.where(hidden, 0.0, tile)
    weights = memory.weights.at[group]
    weights[...] = tile.astype(weights.dtype)
    plgpu.commit_smem()
    shape = (ROWS, total.shape[1])
    total += mosaic_tiles.multiply(weights, memory.columns.at[slot], shape)
    plgpu.barrier_arrive(memory.consumed.at[slot])
    return total


def _gradient_of_logits(product: Array, numbers: tuple[Any, Any], task: _Task) -> Array:
    """ē of a tile; the numbers of its queries are those per row or per column."""
    axis = 0 if task.rows_are_queries else 1
    normaliser, of_entropy, offset = (
        jax.lax.broadcast_in_dim(numbers[axis][i], _TILE, [axis]) for i in range(3)
    )
    logarithm = product * (task.problem.scale * LOG2E) - normaliser
    return jnp.exp2(logarithm) * (offset - of_entropy * (LN2 * logarithm))
