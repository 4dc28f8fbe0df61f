"""Entropy of a softmax row, straight from its logits and in a single pass.

For p = softmax(e) with maximum m = max e, three sums over the row carry everything:

    normaliser    l = Σ exp(e − m)
    weighted sum  w = Σ (e − m) exp(e − m)
    entropy       H = log l − w / l        (in nats)

Both terms are non-negative, so nothing cancels, whatever offset the logits share.
The sums of two blocks of keys merge into those of the union (`merge`), which is what
lets a kernel find H without ever holding a row.
Follows section 3 of Veličković et al., "Softmax is not Enough" (ICML 2025), who take H
from the weights as −Σ p log(p + 1e-9); the streaming form and its merge rule are ours.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from sharp_attention._typing import ArrayLike
from sharp_attention.attention import _rows

__all__ = [
    "PartialStatistics",
    "effective_support",
    "entropy",
    "entropy_from_statistics",
    "log_normaliser",
    "merge",
    "partial_statistics",
]


class PartialStatistics(NamedTuple):
    """What one pass over some keys of a row leaves behind.

    Attributes
    ----------
    maximum : m, the largest logit seen; −inf if there was none
    normaliser : l = Σ exp(e − m) ≥ 1; 0 if there was none
    weighted_sum : w = Σ (e − m) exp(e − m) ≤ 0
    """

    maximum: Float[Array, "..."]
    normaliser: Float[Array, "..."]
    weighted_sum: Float[Array, "..."]


def partial_statistics(
    logits: ArrayLike, *, where: ArrayLike | None = None
) -> PartialStatistics:
    """Reduce the last axis of `logits` to the three numbers that the entropy needs.

    Parameters
    ----------
    logits : (..., keys), any float type; −inf removes a key
    where : boolean, broadcasts to `logits`; False removes a key

    Returns
    -------
    Three arrays of shape (...), float32 (float64 for float64 logits).
    The maximum is a constant reference to differentiation: combinations that do not
    depend on it, such as entropy and log-normaliser, have the right gradients.

    Raises
    ------
    ValueError
        In an eager call, if a key that takes part is NaN or +inf; under ``jax.jit``
        the statistics of its row are NaN.
    """
    rows = _rows.prepare(logits, where)
    normaliser, weighted_sum = _sums(rows.shifted, rows.mask)
    return PartialStatistics(rows.maximum, normaliser, weighted_sum)


@jax.jit
def merge(first: PartialStatistics, second: PartialStatistics) -> PartialStatistics:
    """Combine the statistics of two disjoint blocks of keys into those of both.

    When the reference moves from m to m', each term of w changes twice: its weight
    shrinks by s = exp(m − m') and its logit moves by m − m'.  Hence

        l ← s l,    w ← s (w + (m − m') l).

    Forgetting the second part is the classical mistake.  The rule is commutative and
    associative up to rounding, and a block without keys changes nothing.
    """
    maximum = jnp.maximum(first.maximum, second.maximum)
    one, other = _refer(first, maximum), _refer(second, maximum)
    return PartialStatistics(
        maximum=maximum,
        normaliser=one.normaliser + other.normaliser,
        weighted_sum=one.weighted_sum + other.weighted_sum,
    )


@jax.jit
def entropy_from_statistics(statistics: PartialStatistics) -> Float[Array, "..."]:
    """Return H = log l − w / l in nats; 0 for a row without keys."""
    normaliser = _rows.nonzero(statistics.normaliser)
    return jnp.log(normaliser) - statistics.weighted_sum / normaliser


@jax.jit
def log_normaliser(statistics: PartialStatistics) -> Float[Array, "..."]:
    """Return log Σ exp(e) = m + log l; −inf for a row without keys."""
    return statistics.maximum + jnp.log(_rows.nonzero(statistics.normaliser))


def entropy(
    logits: ArrayLike, *, where: ArrayLike | None = None
) -> Float[Array, "..."]:
    """Shannon entropy of softmax(`logits`) over the last axis.

    Parameters
    ----------
    logits : (..., keys), any float type; −inf removes a key
    where : boolean, broadcasts to `logits`; False removes a key

    Returns
    -------
    (...), in nats, between 0 and log(number of keys); 0 for a row without keys.
    Float32 for half precision too, or float64 for float64 logits.

    Raises
    ------
    ValueError
        In an eager call, if a key that takes part is NaN or +inf; under ``jax.jit``
        the entropy of its row is NaN.
    """
    return entropy_from_statistics(partial_statistics(logits, where=where))


def effective_support(
    logits: ArrayLike, *, where: ArrayLike | None = None
) -> Float[Array, "..."]:
    """Perplexity exp(H) of softmax(`logits`): how many equal keys weigh as much.

    Arguments, shapes and errors are those of `entropy`; the result lies between 1 and
    the number of keys, and is 1 for a row without keys, whose entropy is 0.
    """
    return jnp.exp(entropy(logits, where=where))


@jax.jit
def _sums(
    shifted: Float[Array, "*batch keys"], mask: Bool[Array, "*batch keys"]
) -> tuple[Float[Array, "*batch"], Float[Array, "*batch"]]:
    # The derivative multiplies `shifted` by what arrives before its weight: far down,
    # where that weight is 0 in double precision too, their product must not overflow.
    shifted = jnp.maximum(shifted, -1e4)
    exponentials = jnp.where(mask, jnp.exp(shifted), 0.0)
    return jnp.sum(exponentials, axis=-1), jnp.sum(shifted * exponentials, axis=-1)


def _refer(
    statistics: PartialStatistics, maximum: Float[Array, "..."]
) -> PartialStatistics:
    """Restate the sums relative to another maximum, at least as large."""
    is_empty = statistics.normaliser == 0
    # The reference of an empty block is −inf, and −inf − (−inf) is NaN.
    gap = jnp.where(is_empty, 0.0, _rows.shift(statistics.maximum, maximum))
    scale = jnp.exp(gap)
    return PartialStatistics(
        maximum=maximum,
        normaliser=scale * statistics.normaliser,
        weighted_sum=scale * statistics.weighted_sum
        + (scale * gap) * statistics.normaliser,
    )
