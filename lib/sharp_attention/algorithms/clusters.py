"""Which end points of descents are the same minimum."""

import numpy as np

from sharp_attention._checks import check_real, require
from sharp_attention._typing import Float64

__all__ = ["ENERGY_TOLERANCE", "HEAD_TOLERANCE", "cluster"]

ENERGY_TOLERANCE = 1e-3
"""Largest relative difference of the energies of one minimum."""

HEAD_TOLERANCE = 0.05
"""Largest distance between the heads of one minimum, over the length of the first."""


def cluster(
    energies: Float64,
    heads: Float64,
    *,
    energy_tolerance: float = ENERGY_TOLERANCE,
    head_tolerance: float = HEAD_TOLERANCE,
) -> np.ndarray:
    """Sort end points into minima, which are numbered from the lowest energy upwards.

    In rising order of the energy an end point joins the first minimum whose lowest
    member is near in energy and in all coordinates, or begins a new one. On given
    texts the objective has no exact symmetry, so heads are compared as they are: two
    minima that mirror each other are two.

    Parameters
    ----------
    energies : (ends,), finite
    heads : (ends, coordinates), finite
    energy_tolerance : relative, >= 0
    head_tolerance : relative to the length of the head, >= 0

    Returns
    -------
    (ends,), numbers 0, 1, ...

    Raises
    ------
    ValueError
        If the sizes do not agree, or a number is not finite.
    """
    check_real("energies", energies)
    check_real("heads", heads)
    check_real("energy_tolerance", energy_tolerance, at_least=0)
    check_real("head_tolerance", head_tolerance, at_least=0)
    rule = "one head for each energy"
    require(heads.shape[:1] == energies.shape, "heads", rule, heads.shape)
    numbers = np.empty(energies.size, int)
    lowest: list[int] = []
    for index in np.argsort(energies, kind="stable"):
        found = [
            number
            for number, first in enumerate(lowest)
            if energies[index] - energies[first]
            <= energy_tolerance * abs(energies[first])
            and np.linalg.norm(heads[index] - heads[first])
            <= head_tolerance * np.linalg.norm(heads[first])
        ]
        if not found:
            lowest.append(int(index))
        numbers[index] = found[0] if found else len(lowest) - 1
    return numbers
