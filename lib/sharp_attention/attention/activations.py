"""Maps from logits to attention weights, one function each; the last axis holds keys.

Common to all: logits of any float type (integers count as the default float), −inf or
``where=False`` removes a key and gives it weight 0, a row without keys is all 0.
Sums are taken in float32 or better; the weights come back in the shape and float type
of the logits.
In eager calls NaN and +inf logits raise ``ValueError``; under ``jax.jit`` they turn the
weights that depend on them into NaN.

Normalised (a row sums to 1): `softmax`, `softplus`, `sparsemax`, `entmax`,
`scalable_softmax`.  Not normalised: `linear`, `erf`, `sigmoid` (each key on its own)
and `stick_breaking` (a row sums to at most 1).
The adaptive softmax has its own module, `temperature`.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from sharp_attention._checks import check_real
from sharp_attention._typing import ArrayLike
from sharp_attention.attention import _entmax, _rows
from sharp_attention.attention._arguments import check_broadcasts, known_number

__all__ = [
    "entmax",
    "erf",
    "linear",
    "scalable_softmax",
    "sigmoid",
    "softmax",
    "softplus",
    "sparsemax",
    "stick_breaking",
]

Weights = Float[Array, "*batch keys"]

# The largest that tests go to; rows differ little from `hard` long before.
_LARGEST_ALPHA = 1000.0


def softmax(
    logits: ArrayLike,
    *,
    temperature: ArrayLike = 1.0,
    where: ArrayLike | None = None,
) -> Weights:
    """Softmax at a temperature: exp(e_k / θ) / Σ exp(e_j / θ).

    Parameters
    ----------
    logits : (..., keys)
    temperature : θ > 0; a number, or one for each row: an array that broadcasts to
        (..., 1)
    where : boolean, broadcasts to `logits`

    Raises
    ------
    ValueError
        If `temperature` has another shape or, in an eager call, is not a finite number
        > 0.
    """
    check_real("temperature", temperature, above=0.0)
    rows = _rows.prepare(logits, where)
    check_broadcasts("temperature", temperature, (*rows.values.shape[:-1], 1))
    # Below the smallest normal number, processors may read 0, and 0 / 0 is NaN.
    tiny = float(jnp.finfo(rows.values.dtype).tiny)
    check_real("temperature", temperature, at_least=tiny)
    scores = rows.shifted / jnp.asarray(temperature, rows.values.dtype)
    return _rows.normalise(scores, rows.mask).astype(rows.dtype)


def linear(logits: ArrayLike, *, where: ArrayLike | None = None) -> Weights:
    """Linear attention 1 + e_k, not normalised; may be negative.

    Parameters
    ----------
    logits : (..., keys)
    where : boolean, broadcasts to `logits`
    """
    rows = _rows.prepare(logits, where)
    return _masked(1.0 + rows.values, rows)


def erf(
    logits: ArrayLike, *, offset: ArrayLike = 0.0, where: ArrayLike | None = None
) -> Weights:
    """Element-wise attention 1 + erf(offset + e_k) in (0, 2), not normalised.

    Parameters
    ----------
    logits : (..., keys)
    offset : finite, broadcasts to `logits`; added to each
    where : boolean, broadcasts to `logits`
    """
    check_real("offset", offset)
    rows = _rows.prepare(logits, where)
    check_broadcasts("offset", offset, rows.values.shape)
    # erfc(−x) = 1 + erf(x), without losing the small weights to cancellation.
    weights = jax.scipy.special.erfc(-(rows.values + _as(offset, rows)))
    return _masked(weights, rows)


def softplus(logits: ArrayLike, *, where: ArrayLike | None = None) -> Weights:
    """Normalised softplus: log(1 + exp e_k) / Σ log(1 + exp e_j).

    Evaluated through its logarithm, so that rows of very negative logits, whose
    softplus underflows, approach the softmax instead of 0 / 0.

    Parameters
    ----------
    logits : (..., keys)
    where : boolean, broadcasts to `logits`
    """
    rows = _rows.prepare(logits, where)
    # log log(1 + u) = log u − u/2 + O(u²): below e = −20 the rest is under 1e-18.
    # Each branch stays where it is finite: the one not taken is differentiated too.
    low = jnp.minimum(rows.values, -20.0)
    small = low - jnp.exp(low) / 2
    large = jnp.log(jax.nn.softplus(jnp.maximum(rows.values, -20.0)))
    logarithms = jnp.where(rows.values < -20.0, small, large)
    scores = _rows.prepare(logarithms, rows.mask)
    return _rows.normalise(scores.shifted, rows.mask).astype(rows.dtype)


def sigmoid(
    logits: ArrayLike, *, bias: ArrayLike = 0.0, where: ArrayLike | None = None
) -> Weights:
    """Sigmoid attention 1 / (1 + exp(−e_k − bias)) in (0, 1), not normalised.

    Parameters
    ----------
    logits : (..., keys)
    bias : finite, broadcasts to `logits`; added to each (−log of the number of keys
        keeps the total weight of equal logits near 1)
    where : boolean, broadcasts to `logits`
    """
    check_real("bias", bias)
    rows = _rows.prepare(logits, where)
    check_broadcasts("bias", bias, rows.values.shape)
    return _masked(jax.nn.sigmoid(rows.values + _as(bias, rows)), rows)


def scalable_softmax(
    logits: ArrayLike, *, scale: ArrayLike, where: ArrayLike | None = None
) -> Weights:
    """Softmax of s log(n) e_k, with n the number of keys that take part in the row.

    Sharpening by log n keeps a leader that is ahead by more than 1/s from dispersing;
    for small n, where s log n < 1, it is flatter than softmax.
    After Nakanishi, "Scalable-Softmax Is Superior for Attention" (arXiv 2501.19399).

    Parameters
    ----------
    logits : (..., keys)
    scale : s ≥ 0; a number, or one for each row: an array that broadcasts to (..., 1)
    where : boolean, broadcasts to `logits`

    Raises
    ------
    ValueError
        If `scale` has another shape or, in an eager call, is not a finite number ≥ 0.
    """
    check_real("scale", scale, at_least=0.0)
    rows = _rows.prepare(logits, where)
    check_broadcasts("scale", scale, (*rows.values.shape[:-1], 1))
    num_keys = jnp.sum(rows.mask, axis=-1, keepdims=True, dtype=rows.values.dtype)
    factor = _as(scale, rows) * jnp.log(jnp.maximum(num_keys, 1.0))
    # An infinite factor times the distance 0 of the largest logit would be NaN.
    factor = jnp.minimum(factor, jnp.finfo(factor.dtype).max)
    return _rows.normalise(factor * rows.shifted, rows.mask).astype(rows.dtype)


def sparsemax(logits: ArrayLike, *, where: ArrayLike | None = None) -> Weights:
    """Euclidean projection of the logits on the simplex; entmax with alpha = 2.

    Weights are max(e_k − τ, 0), many of them exactly 0.
    After Martins and Astudillo (ICML 2016).

    Parameters
    ----------
    logits : (..., keys)
    where : boolean, broadcasts to `logits`
    """
    return entmax(logits, alpha=2.0, where=where)


def entmax(
    logits: ArrayLike, *, alpha: float = 1.5, where: ArrayLike | None = None
) -> Weights:
    """Sparse softmax: weights max((alpha − 1) e_k − τ, 0)^(1 / (alpha − 1)).

    τ makes the row sum to 1.  It is exact, by sorting, for alpha 1.5 and 2, and found
    by bisection to the last bit otherwise; alpha → 1 is the softmax.
    Where a derivative is beyond about 1e19 (the root of the largest float32), as at the
    edge of the support for alpha > 2, the gradient is held finite.
    After Peters, Niculae and Martins, "Sparse Sequence-to-Sequence Models" (ACL 2019).

    Parameters
    ----------
    logits : (..., keys)
    alpha : > 1 and at most 1000, a single number, known when tracing
    where : boolean, broadcasts to `logits`

    Raises
    ------
    TypeError
        If `alpha` is traced or not a number.
    ValueError
        If `alpha` is not a single number in its range.
    """
    power = known_number("alpha", alpha, above=1.0, at_most=_LARGEST_ALPHA)
    rows = _rows.prepare(logits, where)
    weights = _entmax.project(power, rows.shifted, rows.mask)
    return weights.astype(rows.dtype)


def stick_breaking(logits: ArrayLike, *, where: ArrayLike | None = None) -> Weights:
    """Break pieces off a stick of length 1, the last key first; sums to at most 1.

    Key k gets the share σ(e_k) of what the keys after it have left:
    σ(e_k) Π_{j>k} (1 − σ(e_j)).  In causal attention the last key is the nearest.
    After Tan et al., "Scaling Stick-Breaking Attention" (ICLR 2025).

    Parameters
    ----------
    logits : (..., keys), in the order of the sequence
    where : boolean, broadcasts to `logits`
    """
    rows = _rows.prepare(logits, where)
    kept = jnp.where(rows.mask, jax.nn.log_sigmoid(-rows.values), 0.0)
    # Sum over the keys after k: cumulative from the end, without the key itself.
    after = jnp.flip(jnp.cumsum(jnp.flip(kept[..., 1:], -1), axis=-1), -1)
    left = jnp.concatenate([after, jnp.zeros_like(kept[..., :1])], axis=-1)
    return _masked(jnp.exp(jax.nn.log_sigmoid(rows.values) + left), rows)


def _masked(weights: Weights, rows: _rows.Rows) -> Weights:
    return jnp.where(rows.mask, weights, 0.0).astype(rows.dtype)


def _as(value: ArrayLike, rows: _rows.Rows) -> Float[Array, "..."]:
    return jnp.asarray(value, rows.values.dtype)
