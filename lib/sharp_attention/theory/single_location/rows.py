"""Evaluate a compiled integral on many rows of parameters.

The number of quadrature nodes must be known when a function is compiled. It is rounded
up to a power of two, so that a few compilations serve every row; the rows that share
one run in a compiled loop.

Levels are visited in chunks where a table of all of them would be large.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from sharp_attention._typing import Float64

__all__ = [
    "LARGEST_TABLE",
    "evaluate",
    "rung",
    "sum_over_levels",
]

LARGEST_TABLE = 2**22
"""Entries of a table that are held at once: 32 MiB."""

# The compiled loop takes tables of this many rows, of which it visits the first few.
BLOCK = 64


def rung(num_nodes: float) -> int:
    """Round a number of nodes up to a power of two, at least 128."""
    return max(128, 1 << (int(num_nodes) - 1).bit_length())


def sum_over_levels(
    integrate: Callable[[tuple[Any, Any]], Float[Array, " outputs"]],
    levels: Float[Array, " levels"],
    steps: Float[Array, " levels"],
    num_fields: int,
) -> Float[Array, " outputs"]:
    """Sum what `integrate` returns for (some levels, their steps) over all of them.

    Parameters
    ----------
    integrate : traceable; its tables have the shape (levels, fields)
    levels, steps : their number is a power of two
    num_fields : of each level
    """
    chunk = len(levels)
    while chunk > 1 and chunk * num_fields > LARGEST_TABLE:
        chunk //= 2
    if chunk == len(levels):
        return integrate((levels, steps))
    chunks = levels.reshape(-1, chunk), steps.reshape(-1, chunk)
    return jnp.sum(jax.lax.map(integrate, chunks), axis=0)


def evaluate(
    integrate: Callable[[Any, Any], Float[Array, " outputs"]],
    rows: Sequence[Any],
    sizes: Sequence[Hashable],
    num_outputs: int,
) -> Float64:
    """Apply `integrate(row, size)` to every row, in float64.

    Parameters
    ----------
    integrate : traceable in its first argument; equal functions with equal sizes share
        a compilation
    rows : pytrees of numbers, one for each point
    sizes : of the grids of each row
    num_outputs : length of what `integrate` returns

    Returns
    -------
    (rows, outputs)
    """
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for index, size in enumerate(sizes):
        groups[size].append(index)
    results = np.empty((len(rows), num_outputs))
    with jax.enable_x64(True):
        for size, members in groups.items():
            for start in range(0, len(members), BLOCK):
                chosen = members[start : start + BLOCK]
                table = _stack([rows[index] for index in chosen])
                outputs = _loop(integrate, size, num_outputs, table, len(chosen))
                results[chosen] = np.asarray(outputs)[: len(chosen)]
    return results


@partial(jax.jit, static_argnums=(0, 1, 2))
def _loop(
    integrate: Callable[[Any, Any], Float[Array, " outputs"]],
    size: Hashable,
    num_outputs: int,
    table: Any,
    num_rows: Int[Array, ""] | int,
) -> Float[Array, "block outputs"]:
    def visit(
        index: Int[Array, ""], results: Float[Array, "block outputs"]
    ) -> Float[Array, "block outputs"]:
        row = jax.tree.map(lambda column: column[index], table)
        return results.at[index].set(integrate(row, size))

    return jax.lax.fori_loop(0, num_rows, visit, jnp.zeros((BLOCK, num_outputs)))


def _stack(rows: Sequence[Any]) -> Any:
    """Turn rows into a table of `BLOCK` rows, the last ones empty."""

    def column(*entries: float | Float64) -> Float64:
        values = np.zeros((BLOCK, *np.shape(entries[0])))
        values[: len(entries)] = entries
        return values

    return jax.tree.map(column, *rows)
