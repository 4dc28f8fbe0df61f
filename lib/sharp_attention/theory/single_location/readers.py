"""Readers who know the key and the value but not how to weigh doubt.

Both know the fields of the teacher; they differ from the best reader, the posterior
mean, only in the weights that they give to the tokens.
"""

import math

import numpy as np
from scipy import special

from sharp_attention._checks import check_integer, check_real

__all__ = ["betting_risk", "even_risk"]


def even_risk(length: int) -> float:
    """Risk of spreading the bet evenly over all tokens: 1 - 1/L.

    With weights 1/L and read-out m v* the risk is 1 - 2 m / L + m² / L, least at m = 1,
    in both tasks and at every signal.

    Parameters
    ----------
    length : number of tokens L >= 1

    Raises
    ------
    ValueError, TypeError
        If `length` is not an integer >= 1.
    """
    check_integer("length", length, at_least=1)
    return 1.0 - 1.0 / length


def betting_risk(signal: float, length: int, num_points: int = 401) -> float:
    """Risk of betting all on the highest score in the spiked task: 2 P(wrong).

    A wrong token's value is independent of the answer, and the difference of the two
    has variance 2. The bet is right when all other scores are below that of the
    pushed token: P(right) = E Φ(√ν + g)^(L-1).

    Parameters
    ----------
    signal : ν >= 0
    length : number of tokens L >= 1
    num_points : of the trapezoid rule; 401 are exact to rounding

    Returns
    -------
    risk in [0, 2)

    Raises
    ------
    ValueError, TypeError
        If `signal` is negative or not finite, or `length` is not an integer >= 1.
    """
    check_real("signal", signal, at_least=0)
    check_integer("length", length, at_least=1)
    g, step = np.linspace(-9.5, 9.5, num_points, retstep=True)
    density = np.exp(-(g**2) / 2) / math.sqrt(2 * math.pi)
    others = (length - 1) * special.log_ndtr(math.sqrt(signal) + g)
    return float(-2 * step * np.sum(density * np.expm1(others)))
