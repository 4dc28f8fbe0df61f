"""Many tokens: the phases of softmax attention, and all that is said about large L.

At large L softmax is a random-energy model. Spiked task, k = beta k*, v = m_v v*, on
the scale of log L:

    sharpness b = beta / sqrt(log L),    signal c = nu / log L.

The relevant token has log weight b sqrt(c) log L; the others together have 1 + b^2/2
for b < sqrt(2), and sqrt(2) b beyond, where the few largest dominate (frozen). Hence
three phases, slr-population section 7: *retrieval*, where the relevant token wins,
*dispersed*, where the weight spreads over the crowd, *glass*, where it condenses on
wrong tokens. On the Bayes line b = sqrt(c) the transition is at c = 2, nu = 2 log L.

The limits are approached slowly, through a window of width O(1) in sqrt(nu); exact
risks at finite L are in `population`. This module is the door to the others on large
L, whose names it offers as well: `critical_window`, `decay`, `max_phases`,
`size_generalisation` and `adaptive_heads`.
"""

import math
from typing import Literal

from scipy import special

from sharp_attention._checks import check_choice, check_integer, check_real
from sharp_attention.theory.single_location.adaptive_heads import (
    Estimate,
    adaptive_change,
    adaptive_log_reach,
    sample_changes,
)
from sharp_attention.theory.single_location.critical_window import (
    corrected_window_risk,
    mistuned_window_risk,
    window_risk,
)
from sharp_attention.theory.single_location.decay import (
    decay_exponent,
    elementwise_decay_exponent,
)
from sharp_attention.theory.single_location.max_phases import (
    max_agreement,
    max_limit_risk,
)
from sharp_attention.theory.single_location.size_generalisation import (
    TrainedHead,
    asymptotic_sharpness,
    at_length,
    best_read_out,
    best_sharpness,
    frozen_risk,
    length_rescaling,
    nearly_hard_risk,
    train,
)

__all__ = [
    "Estimate",
    "Phase",
    "TrainedHead",
    "adaptive_change",
    "adaptive_log_reach",
    "asymptotic_sharpness",
    "at_length",
    "best_read_out",
    "best_sharpness",
    "corrected_window_risk",
    "critical_signal",
    "decay_exponent",
    "elementwise_decay_exponent",
    "frozen_entropy",
    "frozen_participation",
    "frozen_risk",
    "length_rescaling",
    "limit_risk",
    "log_capacity",
    "max_agreement",
    "max_limit_risk",
    "mistuned_window_risk",
    "nearly_hard_risk",
    "phase",
    "retrieval_threshold",
    "sample_changes",
    "train",
    "window_risk",
]

Phase = Literal["retrieval", "dispersed", "glass"]

ROOT_TWO = math.sqrt(2)


def critical_signal(length: int) -> float:
    """Signal 2 log L around which the Bayes risk falls from 1 to 0, (7.2).

    Parameters
    ----------
    length : number of tokens L >= 1, of any size
    """
    check_integer("length", length, at_least=1)
    return 2 * math.log(length)


def retrieval_threshold(sharpness: float) -> float:
    """Signal c above which the relevant token wins, (7.1).

    Parameters
    ----------
    sharpness : b = beta / sqrt(log L) >= 0

    Returns
    -------
    (1 + b^2/2)^2 / b^2 for b < sqrt(2), at least 2, infinite where a float can't hold
    it; then 2
    """
    check_real("sharpness", sharpness, at_least=0)
    if sharpness == 0:
        return math.inf
    if sharpness >= ROOT_TWO:
        return 2.0
    edge = 1 / sharpness + sharpness / 2
    return edge * edge  # overflows to infinity, where a power would raise


def phase(sharpness: float, signal: float) -> Phase:
    """Phase of the spiked task as L grows, (7.1).

    Parameters
    ----------
    sharpness : b = beta / sqrt(log L) >= 0
    signal : c = nu / log L >= 0; a point on a boundary counts to the phase below it
    """
    check_real("signal", signal, at_least=0)
    if signal > retrieval_threshold(sharpness):
        return "retrieval"
    return "glass" if sharpness > ROOT_TWO else "dispersed"


def limit_risk(sharpness: float, signal: float, read_out: str = "fixed") -> float:
    """Risk in the spiked task in the limit L -> infinity, (7.1).

    Parameters
    ----------
    sharpness, signal : b and c, as for `phase`
    read_out : "fixed" for v = v*, "best" for the best multiple of it

    Returns
    -------
    0 in the retrieval, 1 in the dispersed phase; in the glass 2 - sqrt(2)/b at v = v*,
    worse than predicting 0
    """
    check_choice("read_out", read_out, ("fixed", "best"))
    found = phase(sharpness, signal)
    if found == "retrieval":
        return 0.0
    if found == "glass" and read_out == "fixed":
        return 1 + frozen_participation(sharpness)
    return 1.0


def frozen_participation(sharpness: float) -> float:
    """Limit of E sum alpha^2 over the wrong tokens: 1 - sqrt(2)/b in the glass, else 0.

    Parameters
    ----------
    sharpness : b >= 0
    """
    check_real("sharpness", sharpness, at_least=0)
    return 1 - ROOT_TWO / sharpness if sharpness > ROOT_TWO else 0.0


def frozen_entropy(sharpness: float) -> float:
    """Limit of the mean entropy of the weights in the glass, in nats.

    The weights are Poisson-Dirichlet with parameter x = sqrt(2)/b, whose entropy is
    psi(1) - psi(1 - x); it diverges as b falls to sqrt(2).

    Parameters
    ----------
    sharpness : b > sqrt(2)

    Raises
    ------
    ValueError
        If `sharpness` is not in the glass.
    """
    check_real("sharpness", sharpness, above=ROOT_TWO)
    return float(special.digamma(1) - special.digamma(1 - ROOT_TWO / sharpness))


def log_capacity(signal: float, sharpness: float = math.inf) -> float:
    """Log of the length beyond which the relevant token drowns, (8.2) and (8.3).

    Parameters
    ----------
    signal : nu >= 0
    sharpness : beta >= 0, of a head that is not rescaled

    Returns
    -------
    nu/2 from beta = sqrt(nu) on, beta sqrt(nu) - beta^2/2 below
    """
    check_real("signal", signal, at_least=0)
    check_real("sharpness", sharpness, at_least=0, allow_infinite=True)
    root = math.sqrt(signal)
    useful = min(sharpness, root)
    return useful * root - useful**2 / 2
