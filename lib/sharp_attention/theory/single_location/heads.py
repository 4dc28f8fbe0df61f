"""One head on one text: what conditioning on its scores leaves, and its risk.

Notation (per token l, the relevant one is e):

    chi*_l = X_l.k*/sqrt(D), z*_l = X_l.v*/sqrt(D)   scores and values of the teachers
    chi_l  = X_l.k/sqrt(D),  z_l  = X_l.v/sqrt(D)    scores and values of the head
    alpha_l                                          weights of the head

(chi*, z*, chi, z) is Gaussian with the Gram matrix of (k*, v*, k, v) / sqrt(D) as its
covariance. Let g_l be the standard normal part of chi_l that the task does not single
out (all of its fluctuation in the spiked task, its part orthogonal to chi*_l in the
max task). Then

    z*_l = h g_l + rest of variance 1 - h^2,
    z_l  = F_l   + rest of variance V,   covariance of the two rests C,
    F_l  = lean chi*_l + w g_l,

and with A = E sum alpha^2, B = E alpha_e the risk is

    E (z*_e - sum_l alpha_l z_l)^2 = (1 - h^2) - 2 C B + V A + T,
    T = E (h g_e - sum_l alpha_l F_l)^2,

slr-population (3.1) and (3.3). Written with standard normal g the formulas stay
regular for k = 0 and for k parallel to k*.
"""

import math
from typing import NamedTuple

import numpy as np

from sharp_attention._typing import Float64

__all__ = ["Head", "Moments", "ReadOut", "best_read_out", "risk"]


class Head(NamedTuple):
    """One head (its overlaps) on texts of one length."""

    signal: float
    length: int
    m_k: float
    q_k: float
    m_v: float = 0.0
    q_v: float = 0.0
    m_kv: float = 0.0
    m_vk: float = 0.0
    q_kv: float = 0.0

    @property
    def slope(self) -> float:
        """Standard deviation of the head's scores, sqrt(q_k)."""
        return math.sqrt(self.q_k)

    @property
    def drift(self) -> float:
        """Mean of the relevant score in the spiked task, in units of `slope`."""
        cosine = _ratio(self.m_k, self.slope, 1.0)
        return math.sqrt(self.signal) * cosine

    @property
    def stray(self) -> float:
        """Standard deviation of the part of a score that chi* does not explain."""
        excess = self.q_k - self.m_k**2
        is_parallel = excess <= 2 * np.finfo(np.float64).eps * self.q_k
        return 0.0 if is_parallel else math.sqrt(excess)


class ReadOut(NamedTuple):
    """Conditional law of the values given the scores (see the module's notation).

    Attributes
    ----------
    target_slope, target_variance : h and 1 - h^2
    value_slope, value_variance : w and V
    lean : coefficient of chi* in F
    covariance : C
    """

    target_slope: float
    target_variance: float
    value_slope: float
    value_variance: float
    lean: float
    covariance: float

    @classmethod
    def on_manifold(cls, head: Head) -> "ReadOut":
        """Nothing of the values is known from the scores."""
        return cls(0.0, 1.0, 0.0, head.q_v, 0.0, head.m_v)

    @classmethod
    def in_spiked(cls, head: Head) -> "ReadOut":
        """Condition on the head's scores; the shift along k* is a constant."""
        h = _ratio(head.m_kv, head.slope, 1.0)
        w = _ratio(head.q_kv, head.slope, math.sqrt(head.q_v))
        return cls(h, 1 - h**2, w, head.q_v - w**2, head.m_vk, head.m_v - h * w)

    @classmethod
    def in_max(cls, head: Head) -> "ReadOut":
        """Condition on the teacher's and the head's scores."""
        h = _ratio(head.m_kv, head.stray, 1.0)
        leftover = max(head.q_v - head.m_vk**2, 0.0)
        crossed = head.q_kv - head.m_k * head.m_vk
        w = _ratio(crossed, head.stray, math.sqrt(leftover))
        variance = head.q_v - head.m_vk**2 - w**2
        return cls(h, 1 - h**2, w, variance, head.m_vk, head.m_v - h * w)


class Moments(NamedTuple):
    """Averages of the weights; arrays of one shape.

    Attributes
    ----------
    kept : B = E alpha_e
    lost : 1 - B, computed without cancellation
    squares : A = E sum_l alpha_l^2
    misplaced : E sum_l (alpha_l - delta_le)^2 = 1 - 2 B + A, likewise
    crossed : T, 0 on the manifold
    """

    kept: Float64
    lost: Float64
    squares: Float64
    misplaced: Float64
    crossed: Float64

    def completed(self) -> "Moments":
        """Take A and B from what is lost, where that is the smaller part.

        The integrals for A and B need levels around the relevant token, which may be
        far above those that count for what is lost.
        """
        is_focused = self.lost < 0.5
        return self._replace(
            kept=np.where(is_focused, 1 - self.lost, self.kept),
            squares=np.where(
                is_focused, 1 - 2 * self.lost + self.misplaced, self.squares
            ),
        )


def risk(moments: Moments, read_out: ReadOut) -> Float64:
    """Combine the moments to the risk (without label noise).

    Both forms are exact. The one in A and B loses the digits of small risks (B near
    1), the other those of large read-outs of small weights (B near 0).
    """
    _, target, _, value, _, covariance = read_out
    scattered = target - 2 * covariance * moments.kept + value * moments.squares
    focused = (
        (target - 2 * covariance + value)
        + 2 * (covariance - value) * moments.lost
        + value * moments.misplaced
    )
    best = np.where(moments.kept < 0.5, scattered, focused)
    return np.asarray(best + moments.crossed)


def best_read_out(moments: Moments) -> tuple[Float64, Float64]:
    """Best v = m_v v* on the manifold: m_v = B / A, and its risk 1 - B^2 / A.

    slr-population (2.2).
    """
    kept, lost, squares, misplaced, _ = moments
    scattered = 1 - kept**2 / squares
    focused = (misplaced - lost**2) / squares
    return np.asarray(kept / squares), np.where(kept < 0.5, scattered, focused)


def _ratio(numerator: float, denominator: float, largest: float) -> float:
    """Divide where that can be done; admissible overlaps never exceed `largest`."""
    if denominator == 0:
        return 0.0
    return float(np.clip(numerator / denominator, -largest, largest))
