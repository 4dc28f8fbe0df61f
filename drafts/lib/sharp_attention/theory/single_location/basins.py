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

# Step of central differences of second order: risks are exact to about 1e-13, so that
# the error of a second derivative is 1e-13 / step² + step² = 2e-6.
STEP = 6e-4


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


def overlaps_of(point: Float64) -> Overlaps:
    """Overlaps of the head with the given coefficients.

    Parameters
    ----------
    point : (7,) or more: k along (k*, v*, a), then v along (k*, v*, a, b)
    """
    k, v = np.append(point[:3], 0.0), np.asarray(point[3:7])
    return Overlaps(
        m_k=float(k[0]),
        q_k=float(k @ k),
        m_v=float(v[1]),
        q_v=float(v @ v),
        m_kv=float(k[1]),
        m_vk=float(v[0]),
        q_kv=float(k @ v),
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

    def risk(point: Float64) -> float:
        offset = {"offset": float(point[7])} if len(point) == 8 else {}
        return float(population.risk(task, activation, overlaps_of(point), **offset))

    found = optimize.minimize(risk, start, method="BFGS", options={"gtol": 1e-8})
    slope, hessian = _derivatives(risk, found.x)
    return LocalMinimum(
        risk=float(found.fun),
        overlaps=overlaps_of(found.x),
        offset=float(found.x[7]) if len(found.x) == 8 else 0.0,
        slope=float(np.abs(slope).max()),
        smallest_curvature=float(np.linalg.eigvalsh(hessian)[0]),
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
    s (cos φ v* + sin φ k*); the risk is least over r, s and, for erf, the offset.
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
    has_offset = activation == "erf"
    point = np.array([0.0, -0.5]) if has_offset else np.array([0.0])
    found = []
    for angle in np.deg2rad(np.asarray(angles, dtype=np.float64)):
        risk = partial(_turned_risk, task, activation, float(angle))
        options = {"xatol": 1e-5, "fatol": 1e-9}
        result = optimize.minimize(risk, point, method="Nelder-Mead", options=options)
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


def _derivatives(
    function: Callable[[Float64], float], point: Float64
) -> tuple[Float64, Float64]:
    size = len(point)
    steps = STEP * np.eye(size)
    centre = function(point)
    up = np.array([function(point + step) for step in steps])
    down = np.array([function(point - step) for step in steps])
    gradient = (up - down) / (2 * STEP)
    hessian = np.diag((up - 2 * centre + down) / STEP**2)
    for i in range(size):
        for j in range(i):
            both = function(point + steps[i] + steps[j])
            neither = function(point - steps[i] - steps[j])
            mixed = both + neither - up[i] - down[i] - up[j] - down[j] + 2 * centre
            hessian[i, j] = hessian[j, i] = mixed / (2 * STEP**2)
    return gradient, hessian
