"""What the Mosaic GPU kernels of attention rows have in common.

A thread block works on two tiles of rows, one per compute warpgroup, while a third
warpgroup streams tiles of columns through shared memory.

Every operation is one that Mosaic's interpreter knows, so that the kernels can be
tested without a GPU; that is why each product has an accumulator of its own.
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

__all__ = [
    "BLOCK_ROWS",
    "GROUPS",
    "LN2",
    "LOG2E",
    "ROWS",
    "Integer",
    "Place",
    "Problem",
    "columns_last",
    "hidden",
    "kernel",
    "last_tile",
    "multiply",
    "run_groups",
    "stream",
    "swizzled",
]

GROUPS = 2  # compute warpgroups
ROWS = 64  # per warpgroup: the height of a Hopper matrix instruction
BLOCK_ROWS = GROUPS * ROWS
LOG2E, LN2 = math.log2(math.e), math.log(2.0)

Integer: TypeAlias = Array | int


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


class Place(NamedTuple):
    """Where a warpgroup works: batch entry, head, first row, and its number."""

    batch: Integer
    head: Integer
    first: Integer
    group: Integer


def kernel(
    body: Callable[..., None], *, problem: Problem, **arguments: Any
) -> Callable[..., Any]:
    """Make a function of arrays of `body`, a function of references to memory."""
    if problem.interpret is not None:
        arguments["interpret"] = problem.interpret
    return plgpu.kernel(
        body,
        grid_names=("head", "tile", "batch"),
        num_threads=GROUPS + 1,
        thread_name="group",
        # JAX 0.11 has this by default; layouts then follow from use in 0.10, too.
        compiler_params=plgpu.CompilerParams(
            approx_math=True, lowering_semantics=plgpu.LoweringSemantics.Warpgroup
        ),
        **arguments,
    )


def run_groups(compute: Callable[[Place], None], load: Callable[[Place], None]) -> None:
    """Let the first warpgroups `compute` and the last one `load` their columns."""
    group = jax.lax.axis_index("group")
    first = jax.lax.axis_index("tile") * BLOCK_ROWS + group * ROWS
    place = Place(jax.lax.axis_index("batch"), jax.lax.axis_index("head"), first, group)
    pl.when(group < GROUPS)(functools.partial(compute, place))
    pl.when(group == GROUPS)(functools.partial(load, place))


def last_tile(columns: int, width: int, is_causal: bool) -> Integer:
    """Count the tiles of keys that a block of queries needs; both groups run all."""
    tiles = jnp.int32(columns // width)
    if not is_causal:
        return tiles
    reach = (jax.lax.axis_index("tile") + 1) * (BLOCK_ROWS // width)
    return jnp.minimum(tiles, reach)


def multiply(left: Any, right: Any, shape: tuple[int, int]) -> Array:
    """Product of two tiles in shared memory, in float32."""

    def product(accumulator: Any) -> Array:
        plgpu.wgmma(accumulator, left, right)
        return accumulator[...]

    return pl.run_scoped(product, plgpu.ACC(shape, jnp.float32))


def hidden(
    shape: tuple[int, int],
    first_row: Integer,
    first_column: Integer,
    problem: Problem,
    *,
    rows_are_queries: bool = True,
) -> Array | None:
    """Which entries of a tile belong to hidden keys; None if there are none at all."""
    is_padded = problem.keys % BLOCK_ROWS != 0
    if not (is_padded or problem.is_causal):
        return None
    row, column = (
        jax.lax.broadcasted_iota(jnp.int32, shape, axis) + first
        for axis, first in ((0, first_row), (1, first_column))
    )
    query, key = (row, column) if rows_are_queries else (column, row)
    is_padding = key >= problem.keys
    return is_padding | (key > query) if problem.is_causal else is_padding


def stream(
    fetch: Callable[[Integer, Integer], None],
    start: Integer,
    stop: Integer,
    consumed: Any,
    stages: int,
) -> None:
    """Fetch tiles `start` to `stop` into `stages` slots, each as soon as it is free."""
    for i in range(stages):
        pl.when(start + i < stop)(functools.partial(fetch, start + i, jnp.int32(i)))

    def refill(step: Integer, _: None) -> None:
        slot = jax.lax.rem(step - start, stages)
        plgpu.barrier_wait(consumed.at[slot])
        following = step + stages
        pl.when(following < stop)(functools.partial(fetch, following, slot))

    jax.lax.fori_loop(start, stop, refill, None)


def columns_last(
    array: Float[Array, "batch length heads dim"],
) -> Float[Array, "batch heads dim length"]:
    """Transpose, since the interpreter can't transpose a tile in shared memory."""
    return jnp.transpose(array, (0, 2, 3, 1))


def swizzled(dtype: jnp.dtype, *shape: int) -> Any:
    """Shared memory in the layout that matrix instructions read."""
    transforms = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))
    return plgpu.SMEM(shape, dtype, transforms=transforms)
