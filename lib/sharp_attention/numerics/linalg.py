"""Small linear algebra, written out and vectorised over many points.

A batch of symmetric matrices is held as a structure of arrays: entry (i, j) is an
array over the points, and only the lower triangle is stored. The elimination is
unrolled, so that XLA sees element-wise arithmetic on long arrays. On one core this is
more than fifteen times faster than ``jnp.linalg.solve`` at dimension 4, step after step
on the same points (tests/benchmarks).
"""

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import NamedTuple, TypeAlias

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Float64

from sharp_attention._checks import check_integer

__all__ = [
    "Factors",
    "Lower",
    "Rows",
    "dot",
    "factorise",
    "solve_factored",
    "total",
    "zero_sum_basis",
]

Rows: TypeAlias = tuple[Float[Array, " points"], ...]
"""A batch of vectors: one array over the points for each coordinate."""

Lower: TypeAlias = tuple[Rows, ...]
"""A batch of symmetric matrices: row i holds the entries (i, 0) to (i, i)."""


class Factors(NamedTuple):
    """The factors L D L^T of a batch of symmetric matrices.

    Attributes
    ----------
    lower : strictly lower triangle of L; row i holds i arrays, its diagonal is 1
    pivots : the diagonal of D, positive
    """

    lower: Lower
    pivots: Rows


def total(rows: Iterable[Float[Array, " points"]]) -> Float[Array, " points"]:
    """Sum over the coordinates, for every point; at least one row is needed."""
    return reduce(jnp.add, rows)


def dot(one: Rows, other: Rows) -> Float[Array, " points"]:
    """Scalar product over the coordinates, for every point."""
    return total(a * b for a, b in zip(one, other, strict=True))


def factorise(matrix: Lower, floor: Float[Array, ""] | float) -> Factors:
    """Factorise L D L^T, and make the matrix positive definite where it is not.

    A pivot below `floor` is replaced by its absolute value, or by `floor` where that
    is larger (Gill and Murray, 1974). Where all pivots exceed `floor` the factors are
    exact; elsewhere they belong to a positive definite matrix near by, so that
    ``solve_factored(factors, -gradient)`` is a descent direction everywhere.

    Parameters
    ----------
    matrix : lower triangle, entry (i, j) of shape (points,)
    floor : smallest pivot, > 0
    """
    lower: list[Rows] = []
    pivots: list[Float[Array, " points"]] = []
    # Divisions are the dearest: one for each pivot.
    inverses: list[Float[Array, " points"]] = []
    for i, row in enumerate(matrix):
        scaled: list[Float[Array, " points"]] = []
        for j in range(i):
            above = sum(scaled[k] * lower[j][k] for k in range(j))
            scaled.append(row[j] - above)
        entries = tuple(scaled[j] * inverses[j] for j in range(i))
        pivot = row[i] - sum(scaled[j] * entries[j] for j in range(i))
        lifted = jnp.maximum(jnp.abs(pivot), floor)
        pivots.append(jnp.where(pivot > floor, pivot, lifted))
        inverses.append(1 / pivots[i])
        lower.append(entries)
    return Factors(tuple(lower), tuple(pivots))


def solve_factored(factors: Factors, right: Sequence[Float[Array, " points"]]) -> Rows:
    """Solve L D L^T x = `right` for every point.

    Parameters
    ----------
    factors : what `factorise` returned
    right : one array of shape (points,) for each coordinate
    """
    lower, pivots = factors
    size = len(pivots)
    solution: list[Float[Array, " points"]] = []
    for i in range(size):
        solution.append(right[i] - sum(lower[i][j] * solution[j] for j in range(i)))
    # Compiled together with `factorise`, these are the inverses that it has found.
    solution = [solution[i] * (1 / pivots[i]) for i in range(size)]
    for i in reversed(range(size)):
        below = sum(lower[j][i] * solution[j] for j in range(i + 1, size))
        solution[i] = solution[i] - below
    return tuple(solution)


def zero_sum_basis(length: int) -> Float64[np.ndarray, "length reduced"]:
    """Return an orthonormal basis of the vectors of `length` entries that sum to 0.

    Returns
    -------
    matrix of shape (length, length - 1) with orthonormal columns

    Raises
    ------
    ValueError
        If `length` is below 2.
    """
    check_integer("length", length, at_least=2)
    basis = np.zeros((length, length - 1))
    for column in range(length - 1):
        count = column + 1
        basis[:count, column] = 1.0
        basis[count, column] = -count
        basis[:, column] /= np.sqrt(count * (count + 1))
    return basis
