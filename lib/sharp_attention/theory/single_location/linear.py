"""Linear attention, alpha_l = 1 + chi_l: the risk and its minimum in closed form.

slr-population (3.4), (3.5) and section 5.1. The minimum over all seven overlaps lies on
the manifold, because only the part of the prediction that is odd under z* -> -z* can
help, and its coefficients are free there already.
"""

import math

from sharp_attention.theory.single_location.heads import Head

__all__ = ["best_max", "best_spiked", "risk_in_max", "risk_in_spiked"]


def risk_in_spiked(head: Head) -> float:
    """Risk in the spiked task, (3.4), without label noise."""
    shift = math.sqrt(head.signal)
    h, lean, w = 1 + shift * head.m_k, shift * head.m_vk, head.q_kv
    own = (
        (1 - h * head.m_v) ** 2
        + h**2 * (head.q_v - head.m_v**2)
        - 2 * lean * head.m_kv
        + lean**2 * head.q_k
        + 2 * h * lean * w
        + head.q_k * head.q_v
        + w**2
    )
    one_other = head.q_v * (1 + head.q_k) + w**2
    return own + _times(head.length - 1, one_other) + _mean_square(head, h * lean)


def risk_in_max(head: Head, mean_score: float) -> float:
    """Risk in the max task, (3.5), without label noise.

    Parameters
    ----------
    head : on texts of one length
    mean_score : mu_L(nu) = E chi* of the token that counts
    """
    score = head.m_k * head.m_v + head.m_kv * head.m_vk
    one = head.q_v * (1 + head.q_k) + head.q_kv**2
    return (
        1
        - 2 * (head.m_v + mean_score * score)
        + _times(head.length, one)
        + _mean_square(head, 0.0)
    )


def best_spiked(signal: float, mean_length: float) -> tuple[float, float, float]:
    """Least risk in the spiked task, and m_k and m_v there, (5.1).

    1 / E = L / (L - 1) + nu / L. A random length counts by its mean alone.

    Returns
    -------
    risk, m_k, m_v; the head is k = m_k k*, v = m_v v*
    """
    if mean_length == 1:
        return 0.0, 0.0, 1.0
    excess = 1 / (mean_length - 1) + signal / mean_length  # 1 / E - 1
    not_relevant = 1 - 1 / mean_length
    risk = 1 / (1 + excess)
    m_v = excess * risk / (1 + signal * not_relevant)
    return risk, math.sqrt(signal) * not_relevant, m_v


def best_max(mean_score: float, mean_length: float) -> tuple[float, float, float]:
    """Least risk in the max task, and m_k and m_v there, (5.3).

    Parameters
    ----------
    mean_score, mean_length : averages over the length

    Returns
    -------
    risk 1 - (1 + mu^2) / L, m_k = mu, m_v = 1 / L
    """
    per_token = 1 / mean_length
    return 1 - (1 + mean_score**2) * per_token, mean_score, per_token


def _mean_square(head: Head, own: float) -> float:
    """Square of the mean prediction, own + L q_kv."""
    return (own + _times(head.length, head.q_kv)) ** 2


def _times(count: int, number: float) -> float:
    """Product with an integer that a float may not hold."""
    if number == 0 or count == 0:
        return 0.0
    log_product = math.log(count) + math.log(abs(number))
    if log_product > 709:
        return math.copysign(math.inf, number)
    return math.copysign(math.exp(log_product), number)
