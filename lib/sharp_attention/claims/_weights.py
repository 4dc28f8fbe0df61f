"""Rows of logits and what the library makes of them, in float64, for claims to share.

Everything is looked up in its module at each call, so that a test can break it.
"""

import jax
import numpy as np

from sharp_attention._typing import Float64
from sharp_attention.attention import activations, entropy, temperature

__all__ = [
    "adaptive",
    "beta",
    "entropy_of",
    "largest_change",
    "leader_rows",
    "leader_weights",
    "random_rows",
    "row_entropy",
    "softmax",
]


def random_rows() -> Float64:
    """512 rows of 16 logits, from nearly equal to nearly one-hot."""
    rng = np.random.default_rng(0)
    scales = np.geomspace(0.01, 30.0, 512)[:, None]
    return np.asarray(scales * rng.normal(size=(512, 16)))


def leader_rows(gaps: Float64 | list[float], num_keys: int) -> Float64:
    """One row for each gap: the leader first, all other logits 0."""
    logits = np.zeros((len(gaps), num_keys))
    logits[:, 0] = gaps
    return logits


def leader_weights(gaps: Float64 | list[float], num_keys: int) -> Float64:
    """Adaptive weight of the leader in each of the `leader_rows`."""
    return adaptive(leader_rows(gaps, num_keys))[:, 0]


def softmax(logits: Float64) -> Float64:
    """Softmax weights."""
    with jax.enable_x64(True):
        return np.asarray(activations.softmax(logits))


def adaptive(logits: Float64) -> Float64:
    """Adaptive weights."""
    with jax.enable_x64(True):
        return np.asarray(temperature.adaptive_softmax(logits))


def row_entropy(logits: Float64) -> Float64:
    """Entropy in nats, the library's way."""
    with jax.enable_x64(True):
        return np.asarray(entropy.entropy(logits))


def beta(logits: Float64) -> Float64:
    """Inverse temperature that the rule gives to each row."""
    with jax.enable_x64(True):
        return np.asarray(temperature.inverse_temperature(entropy.entropy(logits)))


def entropy_of(weights: Float64) -> Float64:
    """Entropy −Σ p log p in nats, by NumPy alone."""
    return np.asarray(-(weights * np.log(np.where(weights > 0, weights, 1.0))).sum(-1))


def largest_change(logits: Float64) -> float:
    """Largest difference between adaptive and softmax weights."""
    return float(np.abs(adaptive(logits) - softmax(logits)).max())
