"""Softmax attention whose key is pressed to zero by its ridge, in closed form.

With r_k at infinity all weights are 1 / L and what is left is ridge regression of the
target on the mean token. Its replica equations can be solved by hand: with
c = (alpha / L) / ((1 + V / L)^2 (r_v + Vhat)^2),

    1 / V = r_v + Vhat,   Vhat = (alpha / L) / (1 + V / L),   m_v = Vhat V,
    q_v = (m_v^2 + c (1 + noise^2 - 2 m_v / L)) / (1 - c / L).

It is the same for both tasks: the token that counts is one of L, whichever marks it.
"""

import math
from dataclasses import dataclass

from sharp_attention._checks import check_integer, check_real

__all__ = ["UniformAttention", "uniform_attention"]


@dataclass(frozen=True)
class UniformAttention:
    """Ridge regression on the mean token.

    Attributes
    ----------
    test_risk : mean squared error on fresh samples, noise**2 included
    m_v, q_v : v.v*/D and v.v/D
    variance_v : response V_v
    """

    test_risk: float
    m_v: float
    q_v: float
    variance_v: float


def uniform_attention(
    length: int, sample_ratio: float, ridge_v: float, noise: float = 0.0
) -> UniformAttention:
    """Limit of the replica solution for softmax at r_k to infinity.

    Parameters
    ----------
    length : number of tokens L >= 1
    sample_ratio : alpha = N / D > 0
    ridge_v : r_v > 0
    noise : standard deviation of the label noise, >= 0

    Raises
    ------
    TypeError, ValueError
        If one of them is out of range.
    """
    check_integer("length", length, at_least=1)
    check_real("sample_ratio", sample_ratio, above=0)
    check_real("ridge_v", ridge_v, above=0)
    check_real("noise", noise, at_least=0)
    # x = V / L is the positive root of r L x^2 + (r L + alpha - 1) x - 1 = 0.
    square, linear = ridge_v * length, ridge_v * length + sample_ratio - 1
    root = 2 / (linear + math.sqrt(linear**2 + 4 * square))
    variance, precision = length * root, 1 / (length * root)
    response = sample_ratio / length / (1 + root)
    m_v = response / precision
    c = sample_ratio / length / ((1 + root) * precision) ** 2
    unexplained = 1 + noise**2 - 2 * m_v / length
    q_v = (m_v**2 + c * unexplained) / (1 - c / length)
    return UniformAttention(unexplained + q_v / length, m_v, q_v, variance)
