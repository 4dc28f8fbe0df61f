"""The seven order parameters of a head in single-location regression.

With teachers k*, v* (orthogonal, squared norm D) a head of key k and value v acts on a
random text only through the Gram matrix of (k*, v*, k, v) / sqrt(D):

    m_k = k.k*/D    q_k = k.k/D    m_kv = k.v*/D    q_kv = k.v/D
    m_v = v.v*/D    q_v = v.v/D    m_vk = v.k*/D

On the manifold m_kv = m_vk = q_kv = 0 four numbers remain.
"""

from dataclasses import dataclass, fields

import numpy as np

from sharp_attention._checks import check_real, is_traced, require
from sharp_attention._typing import ArrayLike, Float64

__all__ = ["Overlaps", "measure_overlaps"]

# What rounding may do to the smallest eigenvalue of a Gram matrix of order one.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Overlaps:
    """Overlaps of a head with its teachers and with itself.

    Each is a number, or an array: arrays broadcast against each other and describe
    many heads at once. `m_k` and `q_k` may be infinite together, on the manifold, for
    a key that has become infinitely long along k*.

    Attributes
    ----------
    m_k, q_k : k.k*/D and k.k/D
    m_v, q_v : v.v*/D and v.v/D
    m_kv, m_vk, q_kv : k.v*/D, v.k*/D and k.v/D, zero on the manifold

    Raises
    ------
    ValueError
        If one is NaN or an empty array, if arrays do not broadcast, or if no vectors
        k, v have these overlaps: then the Gram matrix of (k*, v*, k, v) has an
        eigenvalue below -1e-9, which the message names (k and v are first divided by
        their length where it exceeds sqrt(D)).
    """

    m_k: ArrayLike
    q_k: ArrayLike
    m_v: ArrayLike
    q_v: ArrayLike
    m_kv: ArrayLike = 0.0
    m_vk: ArrayLike = 0.0
    q_kv: ArrayLike = 0.0

    def __post_init__(self) -> None:
        if is_traced(*self.values()):
            return
        for field in fields(self):
            can_diverge = field.name in ("m_k", "q_k")
            value = getattr(self, field.name)
            check_real(field.name, value, allow_infinite=can_diverge)
        self._check_shapes()
        self._check_admissible()

    @property
    def on_manifold(self) -> bool:
        """Whether m_kv = m_vk = q_kv = 0 everywhere."""
        crossed = (self.m_kv, self.m_vk, self.q_kv)
        return not any(np.asarray(overlap).any() for overlap in crossed)

    @property
    def shape(self) -> tuple[int, ...]:
        """Common shape of the fields, () for one head."""
        shapes = (np.asarray(value).shape for value in self.values())
        return np.broadcast_shapes(*shapes)

    def gram(self) -> Float64:
        """Gram matrix of (k*, v*, k, v) / sqrt(D), shape (..., 4, 4)."""
        matrix = np.zeros((*self.shape, 4, 4))
        matrix[..., 0, 0] = matrix[..., 1, 1] = 1.0
        matrix[..., 0, 2] = matrix[..., 2, 0] = self.m_k
        matrix[..., 1, 2] = matrix[..., 2, 1] = self.m_kv
        matrix[..., 0, 3] = matrix[..., 3, 0] = self.m_vk
        matrix[..., 1, 3] = matrix[..., 3, 1] = self.m_v
        matrix[..., 2, 2], matrix[..., 3, 3] = self.q_k, self.q_v
        matrix[..., 2, 3] = matrix[..., 3, 2] = self.q_kv
        return matrix

    def values(self) -> list[ArrayLike]:
        """All fields in their order: m_k, q_k, m_v, q_v, m_kv, m_vk, q_kv."""
        return [getattr(self, field.name) for field in fields(self)]

    def _check_shapes(self) -> None:
        shapes = {
            field.name: np.shape(getattr(self, field.name)) for field in fields(self)
        }
        arrays = {name: shape for name, shape in shapes.items() if shape}
        for name, shape in arrays.items():
            require(
                0 not in shape, name, "a number or an array that is not empty", shape
            )
        try:
            np.broadcast_shapes(*arrays.values())
            fit = True
        except ValueError:
            fit = False
        require(fit, "overlaps", "of shapes that broadcast against each other", arrays)

    def _check_admissible(self) -> None:
        gram = self.gram()
        norms = np.sqrt(np.maximum(np.diagonal(gram, axis1=-2, axis2=-1), 1.0))
        is_long = np.isinf(norms[..., 2])
        if is_long.any():
            _check_infinite_key(gram[is_long])
            gram = np.where(is_long[..., None, None], np.eye(4), gram)
            norms = np.where(is_long[..., None], 1.0, norms)
        scaled = gram / (norms[..., :, None] * norms[..., None, :])
        eigenvalues = np.linalg.eigvalsh(scaled).reshape(-1, 4)
        worst = eigenvalues[np.argmin(eigenvalues[:, 0])]
        negative = [f"number {i + 1} is {x:.6g}" for i, x in enumerate(worst) if x < 0]
        rule = (
            "admissible: no eigenvalue of the Gram matrix of (k*, v*, k, v) may be "
            f"negative, but of the four in rising order {' and '.join(negative)}"
        )
        require(bool(worst[0] >= -_ROUNDING), "overlaps", rule, self)


def measure_overlaps(
    key: ArrayLike,
    value: ArrayLike,
    teacher_key: ArrayLike,
    teacher_value: ArrayLike,
) -> Overlaps:
    """Measure the overlaps of actual vectors, summed in float64.

    Parameters
    ----------
    key, value : (..., dim), of the head or of many heads
    teacher_key, teacher_value : (dim,), k* and v*; only their directions count: k* is
        scaled to norm sqrt(dim), and so is the part of v* that is orthogonal to it

    Returns
    -------
    Overlaps with fields of shape (...), Python floats for a single head

    Raises
    ------
    ValueError
        If the last axes differ or are shorter than 2, or the teachers are zero or
        parallel.
    """
    vectors = [np.asarray(x, np.float64) for x in (key, value)]
    pair = [np.asarray(x, np.float64) for x in (teacher_key, teacher_value)]
    shapes = pair[0].shape, pair[1].shape
    is_pair = shapes[0] == shapes[1] and len(shapes[0]) == 1
    require(is_pair, "teachers", "two vectors of one length", shapes)
    teachers = np.stack(pair)
    dim = teachers.shape[-1]
    require(dim >= 2, "teachers", "vectors of length 2 or more", shapes)
    for name, vector in zip(("key", "value"), vectors, strict=True):
        require(vector.shape[-1:] == (dim,), name, f"(..., {dim})", vector.shape)
    k, v = vectors
    teacher_k, teacher_v = _orthonormalise(teachers)

    def overlap(one: Float64, other: Float64) -> Float64 | float:
        product = np.einsum("...d,...d->...", one, other) / dim
        return product if product.ndim else float(product)

    return Overlaps(
        m_k=overlap(k, teacher_k),
        q_k=overlap(k, k),
        m_v=overlap(v, teacher_v),
        q_v=overlap(v, v),
        m_kv=overlap(k, teacher_v),
        m_vk=overlap(v, teacher_k),
        q_kv=overlap(k, v),
    )


def _orthonormalise(teachers: Float64) -> Float64:
    """Undo the rounding of single precision: norm sqrt(dim) and orthogonal."""
    basis, triangle = np.linalg.qr(teachers.T)
    lengths = np.diagonal(triangle)
    norms = np.linalg.norm(teachers, axis=1)
    independent = bool((np.abs(lengths) > 1e-6 * norms).all())
    require(independent, "teachers", "linearly independent", lengths)
    return (basis * np.sign(lengths)).T * np.sqrt(teachers.shape[1])


def _check_infinite_key(gram: Float64) -> None:
    """Raise unless an infinitely long key lies along k*, and v away from both."""
    m_k, crossed = gram[..., 0, 2], gram[..., [1, 3, 0], [2, 2, 3]]
    require(bool((m_k == np.inf).all()), "m_k", "infinite where q_k is", m_k)
    require(not crossed.any(), "m_kv, q_kv and m_vk", "0 where q_k is inf", crossed)
