"""Entropy and log-normaliser of attention rows on Hopper GPUs, forward and backward.

Kernels in Pallas Mosaic GPU that touch queries and keys only, never values: with beta
known, what is left is plain attention on beta · query, for which libraries have
kernels.
A thread block works on two tiles of rows, one per compute warpgroup, while a third
warpgroup streams tiles of columns through shared memory.

Forward, for logits e in units of log 2, so that exp is exp2: m, l, w are the running
maximum, Σ 2^(e − m) and Σ (e − m) 2^(e − m); a tile with a larger maximum moves the
reference as `entropy.merge` does.

Backward, with H̄ and λ̄ the gradients of entropy H and log-normaliser, p = softmax(e):

    ē_ij = p_ij (a_i − H̄_i log p_ij),    a = λ̄ − H̄ H

The gradient of the queries is scale · ē k, that of the keys scale · ēᵀ q: the same
kernel with the roles exchanged, the numbers of a query standing once for rows and once
for columns.

Every operation is one that Mosaic's interpreter knows, so that the kernels can be
tested without a GPU; that is why a tile of ē goes through shared memory and each
product has an accumulator of its own.
"""

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.experimental.pallas as pl
import jax.experimental.pallas.mosaic_gpu as plgpu
import jax.numpy as jnp
from jaxtyping import Array, Float

__all__ = ["Problem", "pull_back", "statistics"]

_GROUPS = 2  # compute warpgroups
_ROWS = 64  # per warpgroup: the height of a Hopper matrix instruction
_BLOCK_ROWS = _GROUPS * _ROWS
_COLUMNS, _STAGES = 128, 4
_BACKWARD_COLUMNS, _BACKWARD_STAGES = 64, 2
_LOG2E, _LN2 = math.log2(math.e), math.log(2.0)
# Finite, so that 0 · hidden is 0; the first tile of a row always has a visible key.
_HIDDEN = -1e30

_Integer: TypeAlias = Array | int
_Sums: TypeAlias = tuple[Array, Array, Array]


class Problem(NamedTuple):
    """What is fixed when the kernels are traced.

    Attributes
    ----------
    scale : factor of the logits
    is_causal : whether query i sees only keys 0..i
    keys : number of keys before padding; those beyond are hidden
    interpret : parameters of Mosaic's interpreter; None compiles for the GPU
    """

    scale: float
    is_causal: bool
    keys: int
    interpret: Any = None


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
    entropy, log_normaliser = _kernel(
        functools.partial(_statistics_body, problem, heads // kv_heads),
        out_type=[result, result],
        scratch_types=[
            _swizzled(query.dtype, _GROUPS, _ROWS, dim),
            _swizzled(query.dtype, _STAGES, dim, _COLUMNS),
            plgpu.SMEM((_GROUPS, 2, _ROWS), jnp.float32),
            plgpu.Barrier(num_barriers=_GROUPS),
            plgpu.Barrier(num_barriers=_STAGES),
            plgpu.Barrier(num_arrivals=_GROUPS, num_barriers=_STAGES),
        ],
        grid=(heads, queries // _BLOCK_ROWS, batch),
        problem=problem,
    )(query, _columns_last(key))
    return entropy, log_normaliser


def _statistics_body(
    problem: Problem,
    heads_per_key: int,
    query: Any,
    key: Any,
    entropy: Any,
    log_normaliser: Any,
    rows: Any,
    columns: Any,
    results: Any,
    arrived: Any,
    loaded: Any,
    consumed: Any,
) -> None:
    batch, head, first, group = _place()
    stop = _last_tile(key.shape[-1], _COLUMNS, problem.is_causal)

    def logits(step: _Integer) -> Array:
        slot = jax.lax.rem(step, _STAGES)
        plgpu.barrier_wait(loaded.at[slot])
        product = _multiply(rows.at[group], columns.at[slot], (_ROWS, _COLUMNS))
        plgpu.barrier_arrive(consumed.at[slot])
        scaled = product * (problem.scale * _LOG2E)
        hidden = _hidden((_ROWS, _COLUMNS), first, step * _COLUMNS, problem)
        return scaled if hidden is None else jnp.where(hidden, _HIDDEN, scaled)

    @pl.when(group < _GROUPS)
    def compute() -> None:
        here = pl.ds(first, _ROWS)
        source = query.at[batch, here, head]
        plgpu.copy_gmem_to_smem(source, rows.at[group], arrived.at[group])
        plgpu.barrier_wait(arrived.at[group])
        maximum, normaliser, weighted_sum = jax.lax.fori_loop(
            1,
            stop,
            lambda step, sums: _merge(sums, logits(step)),
            _tile_sums(logits(jnp.int32(0))),
        )
        logarithm = jnp.log(normaliser)
        results[group, 0] = logarithm - _LN2 * weighted_sum / normaliser
        results[group, 1] = logarithm + _LN2 * maximum
        plgpu.commit_smem()
        for i, target in enumerate((entropy, log_normaliser)):
            plgpu.copy_smem_to_gmem(results.at[group, i], target.at[batch, head, here])
        plgpu.wait_smem_to_gmem(0)

    @pl.when(group == _GROUPS)
    def stream() -> None:
        kv_head = jax.lax.div(head, jnp.int32(heads_per_key))

        def fetch(step: _Integer, slot: _Integer) -> None:
            source = key.at[batch, kv_head, :, pl.ds(step * _COLUMNS, _COLUMNS)]
            plgpu.copy_gmem_to_smem(source, columns.at[slot], loaded.at[slot])

        _stream(fetch, jnp.int32(0), stop, consumed, _STAGES)


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
    return _kernel(
        functools.partial(_pull_back_body, problem, rows_are_queries),
        out_type=jax.ShapeDtypeStruct(rows.shape, jnp.float32),
        scratch_types=[
            _swizzled(dtype, _GROUPS, _ROWS, dim),
            _swizzled(dtype, _BACKWARD_STAGES, dim, _BACKWARD_COLUMNS),
            _swizzled(dtype, _BACKWARD_STAGES, _BACKWARD_COLUMNS, dim),
            plgpu.SMEM((_GROUPS, 3, _ROWS), jnp.float32),
            plgpu.SMEM((_BACKWARD_STAGES, 3, _BACKWARD_COLUMNS), jnp.float32),
            _swizzled(dtype, _GROUPS, _ROWS, _BACKWARD_COLUMNS),
            plgpu.SMEM((_GROUPS, _ROWS, dim), jnp.float32),
            plgpu.Barrier(num_arrivals=1 + rows_are_queries, num_barriers=_GROUPS),
            plgpu.Barrier(
                num_arrivals=3 - rows_are_queries, num_barriers=_BACKWARD_STAGES
            ),
            plgpu.Barrier(num_arrivals=_GROUPS, num_barriers=_BACKWARD_STAGES),
        ],
        grid=(heads, length // _BLOCK_ROWS, batch),
        problem=problem,
    )(rows, _columns_last(columns), columns, per_query)


def _pull_back_body(
    problem: Problem,
    rows_are_queries: bool,
    rows_ref: Any,
    transposed_ref: Any,
    columns_ref: Any,
    per_query_ref: Any,
    result_ref: Any,
    rows: Any,
    transposed: Any,
    columns: Any,
    per_row: Any,
    per_column: Any,
    weights: Any,
    result: Any,
    arrived: Any,
    loaded: Any,
    consumed: Any,
) -> None:
    batch, head, first, group = _place()
    start, stop = jnp.int32(0), transposed_ref.shape[-1] // _BACKWARD_COLUMNS
    if rows_are_queries:
        stop = _last_tile(
            transposed_ref.shape[-1], _BACKWARD_COLUMNS, problem.is_causal
        )
    elif problem.is_causal:  # no query before the first key of the block sees any
        start = jax.lax.axis_index("tile") * (_BLOCK_ROWS // _BACKWARD_COLUMNS)

    def add_tile(step: _Integer, total: Array) -> Array:
        slot = jax.lax.rem(step - start, _BACKWARD_STAGES)
        plgpu.barrier_wait(loaded.at[slot])
        shape = (_ROWS, _BACKWARD_COLUMNS)
        product = _multiply(rows.at[group], transposed.at[slot], shape)
        numbers, axis = (per_row.at[group], 0)
        if not rows_are_queries:
            numbers, axis = (per_column.at[slot], 1)
        normaliser, of_entropy, offset = (
            jax.lax.broadcast_in_dim(numbers[i], shape, [axis]) for i in range(3)
        )
        logarithm = product * (problem.scale * _LOG2E) - normaliser
        tile = jnp.exp2(logarithm) * (offset - of_entropy * (_LN2 * logarithm))
        places = (first, step * _BACKWARD_COLUMNS)
        hidden = _hidden(shape, *places, problem, rows_are_queries=rows_are_queries)
        tile = tile if hidden is None else jnp.where(hidden, 0.0, tile)
        weights[group] = tile.astype(weights.dtype)
        plgpu.commit_smem()
        total += _multiply(weights.at[group], columns.at[slot], (_ROWS, total.shape[1]))
        plgpu.barrier_arrive(consumed.at[slot])
        return total

    @pl.when(group < _GROUPS)
    def compute() -> None:
        here = pl.ds(first, _ROWS)
        source = rows_ref.at[batch, here, head]
        plgpu.copy_gmem_to_smem(source, rows.at[group], arrived.at[group])
        if rows_are_queries:
            source = per_query_ref.at[batch, head, :, here]
            plgpu.copy_gmem_to_smem(source, per_row.at[group], arrived.at[group])
        plgpu.barrier_wait(arrived.at[group])
        zero = jnp.zeros(result.shape[1:], jnp.float32)
        result[group] = jax.lax.fori_loop(start, stop, add_tile, zero)
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(result.at[group], result_ref.at[batch, here, head])
        plgpu.wait_smem_to_gmem(0)

    @pl.when(group == _GROUPS)
    def stream() -> None:
        def fetch(step: _Integer, slot: _Integer) -> None:
            here = pl.ds(step * _BACKWARD_COLUMNS, _BACKWARD_COLUMNS)
            copies = [
                (transposed_ref.at[batch, head, :, here], transposed),
                (columns_ref.at[batch, here, head], columns),
            ]
            if not rows_are_queries:
                copies.append((per_query_ref.at[batch, head, :, here], per_column))
            for source, target in copies:
                plgpu.copy_gmem_to_smem(source, target.at[slot], loaded.at[slot])

        _stream(fetch, start, stop, consumed, _BACKWARD_STAGES)


def _place() -> tuple[_Integer, _Integer, _Integer, _Integer]:
    """Batch entry, head, first row, and number of this warpgroup."""
    group = jax.lax.axis_index("group")
    first = jax.lax.axis_index("tile") * _BLOCK_ROWS + group * _ROWS
    return jax.lax.axis_index("batch"), jax.lax.axis_index("head"), first, group


def _last_tile(columns: int, width: int, is_causal: bool) -> _Integer:
    """Count the tiles of keys that a block of queries needs; both groups run all."""
    tiles = jnp.int32(columns // width)
    if not is_causal:
        return tiles
    reach = (jax.lax.axis_index("tile") + 1) * (_BLOCK_ROWS // width)
    return jnp.minimum(tiles, reach)


def _multiply(left: Any, right: Any, shape: tuple[int, int]) -> Array:
    def product(accumulator: Any) -> Array:
        plgpu.wgmma(accumulator, left, right)
        return accumulator[...]

    return pl.run_scoped(product, plgpu.ACC(shape, jnp.float32))


def _hidden(
    shape: tuple[int, int],
    first_row: _Integer,
    first_column: _Integer,
    problem: Problem,
    *,
    rows_are_queries: bool = True,
) -> Array | None:
    """Which entries of a tile belong to hidden keys; None if there are none at all."""
    is_padded = problem.keys % _BLOCK_ROWS != 0
    if not (is_padded or problem.is_causal):
        return None
    row, column = (
        jax.lax.broadcasted_iota(jnp.int32, shape, axis) + first
        for axis, first in ((0, first_row), (1, first_column))
    )
    query, key = (row, column) if rows_are_queries else (column, row)
    hidden = key >= problem.keys
    return hidden | (key > query) if problem.is_causal else hidden


def _stream(
    fetch: Callable[[_Integer, _Integer], None],
    start: _Integer,
    stop: _Integer,
    consumed: Any,
    stages: int,
) -> None:
    """Fetch tiles `start` to `stop` into `stages` slots, each as soon as it is free."""
    for i in range(stages):
        pl.when(start + i < stop)(functools.partial(fetch, start + i, jnp.int32(i)))

    def refill(step: _Integer, _: None) -> None:
        slot = jax.lax.rem(step - start, stages)
        plgpu.barrier_wait(consumed.at[slot])
        following = step + stages
        pl.when(following < stop)(functools.partial(fetch, following, slot))

    jax.lax.fori_loop(start, stop, refill, None)


def _columns_last(
    array: Float[Array, "batch length heads dim"],
) -> Float[Array, "batch heads dim length"]:
    return jnp.transpose(array, (0, 2, 3, 1))


def _swizzled(dtype: jnp.dtype, *shape: int) -> Any:
    """Shared memory in the layout that matrix instructions read."""
    transforms = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))
    return plgpu.SMEM(shape, dtype, transforms=transforms)


def _kernel(
    body: Callable[..., None], *, problem: Problem, **arguments: Any
) -> Callable[..., Any]:
    if problem.interpret is not None:
        arguments["interpret"] = problem.interpret
    return plgpu.kernel(
        body,
        grid_names=("head", "tile", "batch"),
        num_threads=_GROUPS + 1,
        thread_name="group",
        # JAX 0.11 has this by default; layouts then follow from use in 0.10, too.
        compiler_params=plgpu.CompilerParams(
            approx_math=True, lowering_semantics=plgpu.LoweringSemantics.Warpgroup
        ),
        **arguments,
    )
