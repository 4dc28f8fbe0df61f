"""Entropy and log-normaliser of attention rows on Hopper GPUs.

A kernel in Pallas Mosaic GPU that touches queries and keys only, never values: with
beta known, what is left is plain attention on beta · query, for which libraries have
kernels.

For logits e in units of log 2, so that exp is exp2: m, l, w are the running maximum,
Σ 2^(e − m) and Σ (e − m) 2^(e − m); a tile with a larger maximum moves the reference
as `entropy.merge` does.
"""

import functools
from typing import Any, NamedTuple, TypeAlias

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

__all__ = ["statistics"]

_COLUMNS, _STAGES = 128, 4
# Finite, so that 0 · hidden is 0; the first tile of a row always has a visible key.
_HIDDEN = -1e30

_Sums: TypeAlias = tuple[Array, Array, Array]


class _Memory(NamedTuple):
    """References: arrays in global memory, tiles in shared memory, barriers."""

    query: Any
    key: Any
    entropy: Any
    log_normaliser: Any
    rows: Any
    columns: Any
    results: Any
    arrived: Any
    loaded: Any
    consumed: Any


def statistics(
    query: Float[Array, "batch queries heads dim"],
    key: Float[Array, "batch keys kv_heads dim"],
    problem: Problem,
) -> tuple[Float[Array, "batch heads queries"], Float[Array, "batch heads queries"]]:
    """Entropy (nats) and log-normaliser of softmax(scale · query · key), in float32.

    Both lengths are multiples of 128, dim is 64 or 128, types float16 or bfloat16.
    """
    batch, queries, heads, dim = query.shape
    kv_heads = key.shape[2]
    result = jax.ShapeDtypeStruct((batch, heads, queries), jnp.float32)
    entropy, log_normaliser = mosaic_tiles.kernel(
        functools.partial(_body, problem, heads // kv_heads),
        out_type=[result, result],
        scratch_types=[
            mosaic_tiles.swizzled(query.dtype, GROUPS, ROWS, dim),
            mosaic_tiles.swizzled(query.dtype, _STAGES, dim, _COLUMNS),
            plgpu.SMEM((GROUPS, 2, ROWS), jnp.float32),
            plgpu.Barrier(num_barriers=GROUPS),
            plgpu.Barrier(num_barriers=_STAGES),
            plgpu.Barrier(num_arrivals=GROUPS, num_barriers=_STAGES),
        ],
        grid=(heads, queries // BLOCK_ROWS, batch),
        problem=problem,
    )(query, mosaic_tiles.columns_last(key))
    return entropy, log_normaliser


def _body(problem: Problem, heads_per_key: int, *references: Any) -> None:
    memory = _Memory(*references)
    stop = mosaic_tiles.last_tile(memory.key.shape[-1], _COLUMNS, problem.is_causal)
    mosaic_tiles.run_groups(
        functools.partial(_compute, memory, stop, problem),
        functools.partial(_load, memory, stop, heads_per_key),
    )


def _compute(memory: _Memory, stop: Integer, problem: Problem, place: Place) -> None:
    batch, head, first, group = place
    here = pl.ds(first, ROWS)
    source, rows = memory.query.at[batch, here, head], memory.rows.at[group]
    plgpu.copy_gmem_to_smem(source, rows, memory.arrived.at[group])
    plgpu.barrier_wait(memory.arrived.at[group])
    logits = functools.partial(_logits, memory, problem, place)
    maximum, normaliser, weighted_sum = jax.lax.fori_loop(
        1,
        stop,
        lambda step, sums: _merge(sums, logits(step)),
        _tile_sums(logits(jnp.int32(0))),
    )
    logarithm = jnp.log(normaliser)
    memory.results[group, 0] = logarithm - LN2 * weighted_sum / normaliser
    memory.results[group, 1] = logarithm + LN2 * maximum
    plgpu.commit_smem()
    for i, target in enumerate((memory.entropy, memory.log_normaliser)):
        source = memory.results.at[group, i]
        plgpu.copy_smem_to_gmem(source, target.at[batch, head, here])
    plgpu.wait_smem_to_gmem(0)


def _load(memory: _Memory, stop: Integer, heads_per_key: int, place: Place) -> None:
    kv_head = jax.lax.div(place.head, jnp.int32(heads_per_key))

    def fetch(step: Integer, slot: Integer) -> None:
        here = pl.ds(step * _COLUMNS, _COLUMNS)
        source = memory.key.at[place.batch, kv_head, :, here]
        columns = memory.columns.at[slot]
        plgpu.copy_gmem_to_smem(source, columns, memory.loaded.at[slot])

    mosaic_tiles.stream(fetch, jnp.int32(0), stop, memory.consumed, _STAGES)


def _logits(memory: _Memory, problem: Problem, place: Place, step: Integer) -> Array:
    slot, shape = jax.lax.rem(step, _STAGES), (ROWS, _COLUMNS)
    plgpu.barrier_wait(memory.loaded.at[slot])
    rows, columns = memory.rows.at[place.group], memory.columns.at[slot]
    product = mosaic_tiles.multiply(rows, columns, shape)
    plgpu.barrier_arrive(memory.consumed.at[slot])
    scaled = product * (problem.scale * LOG2E)
    hidden = mosaic_tiles.hidden(shape, place.first, step * _COLUMNS, problem)
    return scaled if hidden is None else jnp.where(hidden, _HIDDEN, scaled)


def _tile_sums(logits: Array) -> _Sums:
    return _sums_below(logits, logits.max(axis=1))


def _merge(sums: _Sums, logits: Array) -> _Sums:
    maximum, normaliser, weighted_sum = sums
    new, added_normaliser, added_sum = _sums_below(
        logits, jnp.maximum(maximum, logits.max(axis=1))
    )
    gap = maximum - new
    shrink = jnp.exp2(gap)
    return (
        new,
        shrink * normaliser + added_normaliser,
        shrink * (weighted_sum + gap * normaliser) + added_sum,
    )


def _sums_below(logits: Array, maximum: Array) -> _Sums:
    shifted = logits - jax.lax.broadcast_in_dim(maximum, logits.shape, [0])
    exponentials = jnp.exp2(shifted)
    weighted = exponentials * shifted
    return maximum, exponentials.sum(axis=1), weighted.sum(axis=1)
