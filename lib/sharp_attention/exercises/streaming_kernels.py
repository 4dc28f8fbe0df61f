"""Exercises of the chapter on streaming kernels."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from sharp_attention.exercises.registry import exercise

__all__ = ["entropy_by_keys"]

_RNG = np.random.default_rng(9)
_QUERIES = 2 * _RNG.normal(size=(4, 16)).astype(np.float32)
_KEYS = _RNG.normal(size=(24, 16)).astype(np.float32)


def _entropy(
    combine: Callable[[Any, Any, float], Any], scale: float | None = None
) -> Any:
    """Return a function of queries and keys: `combine`(log Z, mean of q·k, scale)."""

    def rows(query: Any, key: Any) -> Any:
        query, key = (np.asarray(array, dtype=np.float64) for array in (query, key))
        factor = query.shape[-1] ** -0.5 if scale is None else scale
        logits = factor * query @ key.T
        mean = np.sum(query * (special.softmax(logits, axis=-1) @ key), axis=-1)
        return combine(special.logsumexp(logits, axis=-1), mean, factor)

    return rows


@exercise(
    "streaming-kernels/entropy-by-keys",
    cases={
        "one query": (_QUERIES[:1], _KEYS),
        "four queries": (_QUERIES, _KEYS),
        "a single key": (_QUERIES, _KEYS[:1]),
    },
    lookalikes={
        "The mean logit is missing the scale, as if the dimension were 1.": _entropy(
            lambda log_z, mean, scale: log_z - mean
        ),
        "The mean logit has the wrong sign.": _entropy(
            lambda log_z, mean, scale: log_z + scale * mean
        ),
        "This is the log-normaliser alone: the mean logit is missing.": _entropy(
            lambda log_z, mean, scale: log_z
        ),
        "This is the mean logit alone: the log-normaliser is missing.": _entropy(
            lambda log_z, mean, scale: scale * mean
        ),
        "The logits are not scaled by one over the root of the dimension.": _entropy(
            lambda log_z, mean, scale: log_z - mean, scale=1.0
        ),
    },
    tolerance=1e-4,  # two numbers of size 10 are subtracted in float32
)
def entropy_by_keys(query: Any, key: Any) -> Any:
    """Return the entropy of each query's row of weights over the keys, in nats.

    `query` has the shape (queries, dimension), `key` (keys, dimension); logits are
    scaled by one over the root of the dimension.
    """
    return _entropy(lambda log_z, mean, scale: log_z - scale * mean)(query, key)
