"""Heads with given overlaps: vectors k and v for a theory in seven numbers."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from sharp_attention._checks import require
from sharp_attention._typing import ArrayLike
from sharp_attention.tasks.overlaps import Overlaps

__all__ = ["head_with"]


def head_with(
    rng_key: Array,
    overlaps: Overlaps,
    teacher_key: ArrayLike,
    teacher_value: ArrayLike,
) -> tuple[Float[Array, " dim"], Float[Array, " dim"]]:
    """Draw a head of given overlaps, at random in all directions left free.

    Parameters
    ----------
    rng_key : JAX random key
    overlaps : of one head, finite
    teacher_key, teacher_value : (dim,), k* and v*, orthogonal and of norm sqrt(dim);
        dim >= 4, so that there is room for what is orthogonal to both

    Returns
    -------
    k and v, each of shape (dim,), whose Gram matrix with the teachers is that of
    `overlaps` to rounding

    Raises
    ------
    ValueError
        If `overlaps` describes more than one head or an infinite key, or dim < 4.
    """
    require(overlaps.shape == (), "overlaps", "those of one head", overlaps.shape)
    gram = overlaps.gram()
    require(bool(np.isfinite(gram).all()), "overlaps", "finite", overlaps)
    teachers = jnp.stack([jnp.asarray(teacher_key), jnp.asarray(teacher_value)])
    dim = teachers.shape[-1]
    require(dim >= 4, "dim", ">= 4", dim)
    frame = _complete(rng_key, teachers / jnp.sqrt(dim))
    # Rows of a root of the Gram matrix are the coefficients in an orthonormal frame;
    # the teachers are the first two vectors of the frame.
    coefficients = jnp.asarray(_root(gram)[2:], frame.dtype)
    key, value = jnp.sqrt(dim) * coefficients @ frame
    return key, value


def _complete(rng_key: Array, teachers: Float[Array, "2 dim"]) -> Float[Array, "4 dim"]:
    """Append two random unit vectors, orthogonal to the teachers and each other."""
    directions = jax.random.normal(rng_key, (2, teachers.shape[-1]), teachers.dtype)
    stacked = jnp.concatenate([teachers, directions])
    basis, triangle = jnp.linalg.qr(stacked.T)
    return (basis * jnp.sign(jnp.diagonal(triangle))).T


def _root(gram: np.ndarray) -> np.ndarray:
    """Lower triangular root of a Gram matrix that may be singular by rounding."""
    cross, block = gram[2:, :2], gram[2:, 2:]
    rest = block - cross @ cross.T
    values, vectors = np.linalg.eigh(rest)
    # Any root of the orthogonal part does: the directions are random anyway.
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return np.block([[np.eye(2), np.zeros((2, 2))], [cross, root]])
