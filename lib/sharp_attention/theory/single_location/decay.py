"""How fast the risk falls with the length above the transition, as a power of L.

Spiked task with nu = c log L, slr-population (7.5). The needle is lost if it falls to
a height that the crowd reaches; the exponent is that of the cheapest way.
"""

import math

from sharp_attention._checks import check_real

__all__ = ["decay_exponent", "elementwise_decay_exponent"]


def decay_exponent(signal: float) -> float:
    """Kappa with Bayes risk L^(-kappa + o(1)) in the spiked task, (7.5).

    Parameters
    ----------
    signal : c = nu / log L >= 0

    Returns
    -------
    0 up to c = 2, (sqrt(c) - sqrt(2))^2 / 2 up to c = 8 (the needle falls to the edge
    of the crowd), then c/4 - 1 (needle and one other meet half way)
    """
    check_real("signal", signal, at_least=0)
    if signal <= 2:
        return 0.0
    if signal <= 8:
        return (math.sqrt(signal) - math.sqrt(2)) ** 2 / 2
    return signal / 4 - 1


def elementwise_decay_exponent(signal: float) -> float:
    """Exponent of the best element-wise weights, (c - 2)^2 / 8c above c = 2, (7.5).

    Parameters
    ----------
    signal : c = nu / log L >= 0
    """
    check_real("signal", signal, at_least=0)
    return (signal - 2) ** 2 / (8 * signal) if signal > 2 else 0.0
