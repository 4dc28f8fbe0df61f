"""Where a descent on the population risk ends when it leaves the manifold.

The risk is even under a change of sign of the three mixed overlaps, so the manifold
m_kv = m_vk = q_kv = 0 traps a descent that starts on it. A descent that starts
elsewhere moves in all seven overlaps; here it is followed in coordinates in which every
point is admissible: the coefficients of k in (k*, v*, a) and of v in (k*, v*, a, b),
with a and b orthogonal to the teachers.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from scipy import optimize

from sharp_attention._checks import check_integer, require
from sharp_attention._typing import Float64
from sharp_attention.tasks.single_location import Overlaps, SpikedSLR, Task
from sharp_attention.theory.single_location import population

__all__ = [
    "LocalMinimum",
    "descend",
    "linear_valley",
    "linear_valley_limit",
    "overlaps_of",
    "swapped_risk",
]

Risks: TypeAlias = Callable[[Float64], Float64]

# Steps of central differences, of first and of second order. Risks are exact to about
# 1e-13, so that the errors are 1e-13 / step + step^2 = 1e-8 and
# 1e-13 / step^2 + step^2 = 6e-7.
FIRST_STEP, SECOND_STEP = 1e-4, 6e-4

# Range of the logarithm of a key's length: longer keys lose the digits of the risk.
LOG_LENGTHS = (-3.0, 4.0)


@dataclass(frozen=True)
class LocalMinimum:
    """Where a descent ended.

    Attributes
    ----------
    risk : there
    overlaps : there
    offset : of the activation (0 where it has none)
    slope : largest absolute derivative in the coordinates of the descent
    smallest_curvature : smallest eigenvalue of the matrix of second derivatives; a
        minimum has none below zero, and one zero for each symmetry
    """

    risk: float
    overlaps: Overlaps
    offset: float
    slope: float
    smallest_curvature: float


def overlaps_of(points: Float64) -> Overlaps:
    """Overlaps of heads with the given coefficients.

    Parameters
    ----------
    points : (..., 7) or more: k along (k*, v*, a), then v along (k*, v*, a, b)

    Returns
    -------
    Overlaps with fields of shape (...)
    """
    k = np.asarray(points, np.float64)[..., :3]
    v = np.asarray(points, np.float64)[..., 3:7]
    return Overlaps(
        m_k=k[..., 0],
        q_k=np.sum(k**2, axis=-1),
        m_v=v[..., 1],
        q_v=np.sum(v**2, axis=-1),
        m_kv=k[..., 1],
        m_vk=v[..., 0],
        q_kv=np.sum(k * v[..., :3], axis=-1),
    )


def descend(task: Task, activation: str, start: Float64) -> LocalMinimum:
    """Follow the risk downhill from a head, in all its overlaps at once.

    Parameters
    ----------
    task : SpikedSLR or MaxSLR
    activation : as in `population.risk`
    start : (7,) coefficients of the head, see `overlaps_of`; an eighth number is the
        offset of erf attention

    Returns
    -------
    LocalMinimum; its slope and curvature say how good a minimum it is

    Raises
    ------
    ValueError
        If `start` has neither 7 nor 8 entries.
    """
    start = np.asarray(start, dtype=np.float64)
    require(start.shape in {(7,), (8,)}, "start", "7 or 8 numbers", start.shape)
    risks = partial(_risks, task, activation)
    found = optimize.minimize(
        partial(_value_and_gradient, risks), start, jac=True, options={"gtol": 1e-7}
    )
    _, gradient = _value_and_gradient(risks, found.x)
    eigenvalues = np.linalg.eigvalsh(_hessian(risks, found.x))
    values = overlaps_of(found.x).values()
    return LocalMinimum(
        risk=float(found.fun),
        overlaps=Overlaps(*(float(np.asarray(value)) for value in values)),
        offset=float(found.x[7]) if len(found.x) == 8 else 0.0,
        slope=float(np.abs(gradient).max()),
        smallest_curvature=float(eigenvalues[0]),
    )


def linear_valley(task: SpikedSLR, stretches: Float64) -> Float64:
    """Least risk of linear attention with k = a v*, v = b k*, over b, for each a.

    The output contains the right product of fields with the coefficient S = a b, and
    an even part of size b that only adds risk; it dies out as a grows at fixed S.

    Parameters
    ----------
    task : a fixed length
    stretches : values of a > 0

    Returns
    -------
    risk at each a, falling towards `linear_valley_limit`
    """
    stretches = np.asarray(stretches, dtype=np.float64)

    def risk(b: float) -> Float64:
        zero = np.zeros_like(stretches)
        swapped = Overlaps(
            zero, stretches**2, zero, zero + b**2, m_kv=stretches, m_vk=b
        )
        return np.asarray(population.risk(task, "linear", swapped))

    # The risk is c - 2 B b + A b²: three values fix the parabola.
    down, middle, up = risk(-1.0), risk(0.0), risk(1.0)
    slope, curvature = (down - up) / 4, (up + down) / 2 - middle
    return middle - slope**2 / curvature


def linear_valley_limit(signal: float, length: int) -> float:
    """Risk L / (L + ν) at the far end of the valley: that of the weights σ = χ.

    Parameters
    ----------
    signal : ν >= 0
    length : number of tokens L >= 1
    """
    check_integer("length", length, at_least=1)
    return length / (length + signal)


def swapped_risk(task: Task, activation: str, angles: Float64) -> Float64:
    """Least risk of heads whose key and value are turned towards each other's teacher.

    At the angle φ the key is r (cos φ k* + sin φ v*) and the value is
    s (cos φ v* + sin φ k*); the risk is least over r between e^-3 and e^4, s and, for
    erf, the offset.
    The product m_k m_v + m_kv m_vk = r s, by which linear attention finds the token,
    does not depend on φ: at 90 degrees key and value have swapped their roles.

    Parameters
    ----------
    task : SpikedSLR or MaxSLR
    activation : as in `population.risk`
    angles : φ in degrees, in rising order; each search starts from the last result

    Returns
    -------
    risk at each angle
    """
    point, bounds = [0.0], [LOG_LENGTHS]
    if activation == "erf":
        point, bounds = [0.0, -0.5], [LOG_LENGTHS, (-8.0, 3.0)]
    found = []
    for angle in np.deg2rad(np.asarray(angles, dtype=np.float64)):
        result = optimize.minimize(
            partial(_turned_risk, task, activation, float(angle)),
            point,
            method="Nelder-Mead",
            bounds=bounds,
            options={"xatol": 1e-5, "fatol": 1e-9},
        )
        point = result.x
        found.append(float(result.fun))
    return np.array(found)


def _turned_risk(task: Task, activation: str, angle: float, point: Float64) -> float:
    length = math.exp(float(point[0]))
    offset = {"offset": float(point[1])} if len(point) == 2 else {}
    value = np.array([-1.0, 0.0, 1.0])
    cos, sin = math.cos(angle), math.sin(angle)
    overlaps = Overlaps(
        m_k=length * cos,
        q_k=length**2,
        m_v=value * cos,
        q_v=value**2,
        m_kv=length * sin,
        m_vk=value * sin,
        q_kv=2 * length * value * sin * cos,
    )
    down, middle, up = np.asarray(population.risk(task, activation, overlaps, **offset))
    return float(middle - (down - up) ** 2 / (8 * (up + down - 2 * middle)))


def _risks(task: Task, activation: str, points: Float64) -> Float64:
    """Risks at many points, (points, 7 or 8)."""
    if points.shape[1] == 7:
        return np.asarray(population.risk(task, activation, overlaps_of(points)))
    values = np.empty(len(points))
    for offset in np.unique(points[:, 7]):
        chosen = points[:, 7] == offset
        heads = overlaps_of(points[chosen])
        values[chosen] = population.risk(task, activation, heads, offset=float(offset))
    return values


def _value_and_gradient(risks: Risks, point: Float64) -> tuple[float, Float64]:
    steps = FIRST_STEP * np.eye(len(point))
    value, *others = risks(np.vstack([point, point + steps, point - steps]))
    up, down = np.reshape(others, (2, -1))
    return float(value), (up - down) / (2 * FIRST_STEP)


def _hessian(risks: Risks, point: Float64) -> Float64:
    """Second derivatives: f(+,+) - f(+,-) - f(-,+) + f(-,-), in one call."""
    size = len(point)
    steps = SECOND_STEP * np.eye(size)
    signs = np.array([(1, 1), (1, -1), (-1, 1), (-1, -1)])
    pairs = signs[:, 0, None, None, None] * steps[:, None]
    pairs = pairs + signs[:, 1, None, None, None] * steps
    values = risks((point + pairs).reshape(-1, size)).reshape(4, size, size)
    return np.tensordot(signs.prod(axis=1), values, 1) / (4 * SECOND_STEP**2)
