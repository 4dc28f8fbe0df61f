"""Refuse an integral that would take too long, and say what would not.

The nodes of a quadrature grow in number with the signal and with the length of the
key, where nothing better is known. What is beyond about ten seconds or a gigabyte is
an error that names the largest value for which it is not.
"""

import math
from collections.abc import Callable

from sharp_attention._checks import require
from sharp_attention.theory.single_location.heads import Head

__all__ = ["LARGEST", "check_affordable", "check_representable"]

LARGEST = 1e100
"""Squares of larger signals and keys would not be finite."""


def check_representable(head: Head) -> None:
    """Raise ``ValueError`` unless finite signals and q_k are at most `LARGEST`."""
    rule = f"at most {LARGEST:g}"
    is_held = math.isinf(head.signal) or head.signal <= LARGEST
    require(is_held, "signal", rule, head.signal)
    require(head.q_k <= LARGEST, "q_k", rule, head.q_k)


def check_affordable(head: Head, cost: Callable[[Head], float]) -> None:
    """Raise ``ValueError`` if `cost` of `head` exceeds 1.

    Parameters
    ----------
    head : whose averages are wanted
    cost : of the quadrature for a head, over the largest one that is affordable

    Raises
    ------
    ValueError
        Naming q_k if a shorter key of the same direction is affordable, or signal.
    """
    if cost(head) <= 1:
        return
    scales = {"q_k": _with_square, "signal": _with_signal}
    for name, scaled in scales.items():
        value = float(getattr(head, name))
        if value > 1 and cost(scaled(head, 1.0)) <= 1:
            low, high = 1.0, min(value, LARGEST)
            while high > 1.02 * low:
                middle = math.sqrt(low * high)
                is_affordable = cost(scaled(head, middle)) <= 1
                low, high = (middle, high) if is_affordable else (low, middle)
            rule = f"at most {_rounded_down(low):g} here, where its cost is acceptable"
            require(False, name, rule, value)
    rule = f"smaller, and so has signal (here {head.signal:g}): both cost too much"
    require(False, "q_k", rule, head.q_k)


def _with_square(head: Head, square: float) -> Head:
    scale = math.sqrt(square / head.q_k)
    return head._replace(
        m_k=head.m_k * scale,
        q_k=square,
        m_kv=head.m_kv * scale,
        q_kv=head.q_kv * scale,
    )


def _with_signal(head: Head, signal: float) -> Head:
    return head._replace(signal=signal)


def _rounded_down(value: float) -> float:
    """Round to two digits, but not up."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return math.floor(value / unit) * unit
