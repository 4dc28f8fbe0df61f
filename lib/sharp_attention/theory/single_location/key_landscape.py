"""The exact population landscape, seen from the key.

For a fixed key the risk is a parabola in the value, so that the best value is that of a
linear equation, and what is left is a landscape over keys alone. Here the key lies in
the plane of the teachers, k = m_k k* + m_kv v*; then so does its best value
v = m_vk k* + m_v v*, since a part of v that is orthogonal to both only adds risk.
On the first axis lies the manifold, on the second one key and value have exchanged
their roles (slr-population, section 5.5). The landscape does not change when m_kv
turns its sign.
"""

import numpy as np

from sharp_attention._checks import check_real
from sharp_attention._typing import ArrayLike, Float64
from sharp_attention.tasks.single_location import Overlaps, Task
from sharp_attention.theory.single_location import population

__all__ = ["best_value", "least_risk"]

# Coefficients (m_vk, m_v) of values at which the parabola is known if it is known.
_PROBES = np.array([(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1), (1, 1)], np.float64)


def least_risk(
    task: Task,
    activation: str,
    m_k: ArrayLike,
    m_kv: ArrayLike,
    **parameters: float,
) -> Float64:
    """Risk of keys in the plane of the teachers, each with its best value.

    Parameters
    ----------
    task : SpikedSLR or MaxSLR
    activation, parameters : as in `population.risk`
    m_k, m_kv : finite coefficients of the key, numbers or arrays

    Returns
    -------
    array of their common shape, label noise included

    Raises
    ------
    TypeError, ValueError
        As `population.risk` does, or if a coefficient is not finite.
    """
    constant, slope, matrix = _parabolas(task, activation, m_k, m_kv, parameters)
    value = np.linalg.solve(matrix, slope[..., None])[..., 0]
    return np.asarray(constant - np.sum(slope * value, axis=-1))


def best_value(
    task: Task,
    activation: str,
    m_k: ArrayLike,
    m_kv: ArrayLike,
    **parameters: float,
) -> Float64:
    """Coefficients (m_vk, m_v) of the best value, on a new last axis.

    Parameters, errors: as for `least_risk`.
    """
    _, slope, matrix = _parabolas(task, activation, m_k, m_kv, parameters)
    return np.asarray(np.linalg.solve(matrix, slope[..., None])[..., 0], np.float64)


def _parabolas(
    task: Task,
    activation: str,
    m_k: ArrayLike,
    m_kv: ArrayLike,
    parameters: dict[str, float],
) -> tuple[Float64, Float64, Float64]:
    """Return c, b and A of the risk c - 2 b.v + v.A v in v = (m_vk, m_v)."""
    check_real("m_k", m_k)
    check_real("m_kv", m_kv)
    along, across = np.broadcast_arrays(
        np.asarray(m_k, np.float64), np.asarray(m_kv, np.float64)
    )
    along, across = along[..., None], across[..., None]
    m_vk, m_v = _PROBES.T
    overlaps = Overlaps(
        m_k=along,
        q_k=along**2 + across**2,
        m_v=m_v,
        q_v=m_v**2 + m_vk**2,
        m_kv=across,
        m_vk=m_vk,
        q_kv=along * m_vk + across * m_v,
    )
    risks = np.asarray(population.risk(task, activation, overlaps, **parameters))
    zero, right, left, up, down, both = np.moveaxis(risks, -1, 0)
    slope = np.stack([left - right, down - up], axis=-1) / 4
    first, second = (right + left) / 2 - zero, (up + down) / 2 - zero
    mixed = (both - zero - first - second) / 2 + slope.sum(axis=-1)
    matrix = np.stack([np.stack([first, mixed]), np.stack([mixed, second])])
    return np.asarray(zero), slope, np.moveaxis(matrix, (0, 1), (-2, -1))
