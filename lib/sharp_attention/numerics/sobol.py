"""Points that fill a Gaussian space evenly."""

import math

import numpy as np
from scipy.special import ndtri
from scipy.stats import qmc

from sharp_attention._checks import check_integer
from sharp_attention._typing import Float64

__all__ = ["sobol_normals"]


def sobol_normals(dimension: int, num_points: int, seed: int) -> Float64:
    """Scrambled Sobol points, turned into independent standard normal variables.

    Parameters
    ----------
    dimension : of a point, >= 1
    num_points : >= 1; a power of two balances them best
    seed : of the scrambling, >= 0

    Returns
    -------
    (dimension, num_points)

    Raises
    ------
    TypeError, ValueError
        If an argument is not an integer in its range.
    """
    check_integer("dimension", dimension, at_least=1)
    check_integer("num_points", num_points, at_least=1)
    check_integer("seed", seed, at_least=0)
    power = math.ceil(math.log2(num_points))
    sobol = qmc.Sobol(dimension, scramble=True, rng=seed)
    uniform = sobol.random_base2(power)[:num_points]
    # A scrambled coordinate can be exactly 0, whose normal quantile is infinite.
    return ndtri(np.clip(uniform, 2.0**-53, 1 - 2.0**-53)).T
