"""The window around the transition at nu = 2 log L, where every finite text lies.

Bayes risk and risk of mistuned heads in the spiked task, slr-population (7.3) and
(7.4): on the scale of h = sqrt(nu) - sqrt(2 log L) the risk is a function of h alone.
"""

import math

import numpy as np
from scipy import special

from sharp_attention._checks import check_integer, check_real
from sharp_attention._typing import ArrayLike, Float64

__all__ = ["corrected_window_risk", "mistuned_window_risk", "window_risk"]

ROOT_TWO = math.sqrt(2)


def window_risk(offset: ArrayLike) -> Float64 | float:
    """Bayes risk at sqrt(nu) = sqrt(2 log L) + h in the limit, Q(h) = P(g > h), (7.3).

    Parameters
    ----------
    offset : h, a number or an array

    Returns
    -------
    of the shape of `offset`, in (0, 1)
    """
    check_real("offset", offset)
    return _number(special.ndtr(-np.asarray(offset, np.float64)))


def corrected_window_risk(offset: ArrayLike, length: int) -> Float64 | float:
    """Bayes risk in the window with the first correction in 1/sqrt(nu), (7.3).

    Q(h - h^2 / (2 sqrt(nu)) - log Phi(-h) / sqrt(nu)); good near h = 0, elsewhere the
    leading term can be better at accessible L.

    Parameters
    ----------
    offset : h, above -sqrt(2 log L); a number or an array
    length : number of tokens L >= 2, of any size

    Returns
    -------
    of the shape of `offset`, in (0, 1)
    """
    check_integer("length", length, at_least=2)
    edge = math.sqrt(2 * math.log(length))
    check_real("offset", offset, above=-edge)
    h = np.asarray(offset, np.float64)
    corrected = h - (h**2 / 2 + special.log_ndtr(-h)) / (edge + h)
    return _number(special.ndtr(-corrected))


def mistuned_window_risk(sharpness: float, signal: float, length: int) -> float:
    """Risk at v = v* near the edge of the retrieval phase, (7.4).

    Parameters
    ----------
    sharpness : b = beta / sqrt(log L) > 0
    signal : c = nu / log L >= 0
    length : number of tokens L >= 2, of any size

    Returns
    -------
    Q((sqrt(c) - 1/b - b/2) sqrt(log L)) for b < sqrt(2); then
    (2 - sqrt(2)/b) Q(sqrt(nu) - sqrt(2 log L))
    """
    check_integer("length", length, at_least=2)
    check_real("sharpness", sharpness, above=0)
    check_real("signal", signal, at_least=0)
    root = math.sqrt(math.log(length))
    if sharpness < ROOT_TWO:
        edge = 1 / sharpness + sharpness / 2
        return float(special.ndtr((edge - math.sqrt(signal)) * root))
    below = float(special.ndtr((ROOT_TWO - math.sqrt(signal)) * root))
    return (2 - ROOT_TWO / sharpness) * below


def _number(values: ArrayLike) -> Float64 | float:
    array = np.asarray(values, np.float64)
    return array if array.ndim else float(array)
