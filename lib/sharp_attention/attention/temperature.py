"""Adaptive temperature: sharpen a softmax row by as much as its entropy suggests.

The rule of Veličković et al., "Softmax is not Enough" (ICML 2025), their Figure 4: with
H the entropy (nats) of softmax(e),

    beta = max(r(H), 1),    weights = softmax(beta e),

where r is a polynomial of degree four fitted to the best inverse temperatures of one
trained model.
The original also asks for H > 0.5 before it acts; that condition is left out because
it never binds: r(H) < 1 for every H below 0.8486 (`active_domain`).
Beyond H = 5.9445, the entropy of 381.66 equal keys, r is below 1 again and the rule is
off; in between beta never exceeds 2.4214 (`maximum`).
"""

import functools
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from sharp_attention._checks import (
    check_finite,
    check_integer,
    check_real,
    require,
)
from sharp_attention._typing import ArrayLike, Float64
from sharp_attention.attention import _best_temperature, _rows
from sharp_attention.attention.entropy import entropy as row_entropy

__all__ = [
    "POLYNOMIAL",
    "active_domain",
    "adaptive_softmax",
    "fit_polynomial",
    "inverse_temperature",
    "maximum",
    "optimal_inverse_temperature",
]

POLYNOMIAL = (-0.037, 0.481, -2.3, 4.917, -1.791)
"""Coefficients of r, highest power first, as printed in Figure 4 of the paper."""


def inverse_temperature(
    entropy: ArrayLike, *, polynomial: Sequence[float] = POLYNOMIAL
) -> Float[Array, "..."]:
    """Inverse temperature beta = max(r(entropy), 1) that the rule picks.

    Parameters
    ----------
    entropy : (...), of the softmax row at temperature 1, in nats (not bits, and not
        divided by the log of the number of keys)
    polynomial : finite coefficients of r, highest power first

    Returns
    -------
    (...), at least 1 and, for the default r, at most 2.4214; float32, or float64 for
    float64 input where JAX has it enabled.  Half precision is widened first: in
    bfloat16 the same polynomial is off by 0.14 at H = 4.5.

    Raises
    ------
    TypeError
        If `entropy` or `polynomial` does not hold real numbers.
    ValueError
        If `polynomial` is not finite or, in an eager call, `entropy` is not; under
        ``jax.jit`` NaN stays NaN.
    """
    check_real("entropy", entropy)
    check_real("polynomial", polynomial)
    require(np.ndim(polynomial) == 1, "polynomial", "one-dimensional", polynomial)
    values = jnp.asarray(entropy)
    values = values.astype(jnp.promote_types(values.dtype, "float32"))
    # As Python numbers the coefficients take on the precision of the entropy.
    return _clamped_polynomial(values, tuple(map(float, polynomial)))


def adaptive_softmax(
    logits: ArrayLike,
    *,
    where: ArrayLike | None = None,
    polynomial: Sequence[float] = POLYNOMIAL,
) -> Float[Array, "*batch keys"]:
    """Softmax at the temperature that `inverse_temperature` picks for each row.

    Parameters
    ----------
    logits : (..., keys), any float type; −inf removes a key
    where : boolean, broadcasts to `logits`; False removes a key
    polynomial : coefficients of r, highest power first

    Returns
    -------
    Weights of the shape and float type of `logits`, computed in float32 or better.
    Each row sums to 1, keeps the order of its logits and has at most the entropy of
    the plain softmax; a row without keys is all 0.
    Gradients pass through beta as well.

    Raises
    ------
    ValueError
        In an eager call, if a key that takes part is NaN or +inf; under ``jax.jit``
        the weights of its row are NaN.

    Notes
    -----
    The *shifted* logits are scaled: beta times a float16 logit of 50,000 is infinite,
    beta times its distance from the maximum is 0.
    """
    rows = _rows.prepare(logits, where)
    entropies = row_entropy(rows.values, where=rows.mask)
    beta = inverse_temperature(entropies, polynomial=polynomial)
    weights = _rows.normalise(beta[..., None] * rows.shifted, rows.mask)
    return weights.astype(rows.dtype)


@functools.cache
def active_domain() -> tuple[float, float]:
    """Entropies between which the rule sharpens: the two real roots of r(H) = 1."""
    *leading, constant = POLYNOMIAL
    lower, upper = _real_roots([*leading, constant - 1.0])
    return lower, upper


@functools.cache
def maximum() -> tuple[float, float]:
    """Entropy at which the rule sharpens most, and the inverse temperature there."""
    (peak,) = _real_roots(np.polyder(np.array(POLYNOMIAL)))
    return peak, float(np.polyval(POLYNOMIAL, peak))


def optimal_inverse_temperature(
    logits: ArrayLike, target: ArrayLike
) -> Float64 | float:
    """Inverse temperature at which softmax gives the target its largest weight.

    log p_t(beta) = beta e_t − log Σ exp(beta e_k) is concave in beta and stationary
    where the mean logit under softmax(beta e) equals the target's: E_beta[e] = e_t.
    The mean increases with beta, so the one solution is found by bisection.

    Parameters
    ----------
    logits : (..., keys), float; −inf removes a key
    target : (...), integer index of a key that takes part

    Returns
    -------
    (...) in float64, a Python float for a single row.
    +inf where the target is the largest logit (no temperature is cold enough), −inf
    where it is the smallest, 1 where all logits are equal and nothing depends on it;
    negative where the target lies below the plain mean of the logits.

    Raises
    ------
    TypeError
        If `target` is not an integer.
    ValueError
        If `target` has the wrong shape or points to no key, or `logits` hold NaN or
        +inf.
    """
    with jax.enable_x64(True):
        rows = _rows.prepare(np.asarray(logits, dtype=np.float64), None)
        index = _check_target(target, np.asarray(rows.mask))
        solution = np.asarray(_best_temperature.solve(rows.shifted, rows.mask, index))
    return solution if index.ndim else float(solution)


def fit_polynomial(
    entropy: ArrayLike, inverse_temperature: ArrayLike, degree: int = 4
) -> Float64:
    """Least-squares polynomial of inverse temperature against entropy.

    Parameters
    ----------
    entropy, inverse_temperature : (points,), finite
    degree : of the polynomial; the paper takes 4

    Returns
    -------
    (degree + 1,) coefficients, highest power first, as `POLYNOMIAL` has them.

    Raises
    ------
    ValueError
        If the arrays differ in shape, hold anything but finite numbers, or have fewer
        than degree + 1 different entropies, so that no single polynomial fits best.
    """
    check_integer("degree", degree, at_least=0)
    check_finite("entropy", entropy)
    check_finite("inverse_temperature", inverse_temperature)
    x = np.asarray(entropy, dtype=np.float64)
    y = np.asarray(inverse_temperature, dtype=np.float64)
    require(x.ndim == 1, "entropy", "one-dimensional", x.shape)
    require(y.shape == x.shape, "inverse_temperature", f"of shape {x.shape}", y.shape)
    distinct = np.unique(x).size
    require(distinct > degree, "entropy", f"{degree + 1} different values", distinct)
    # Fitted on [−1, 1], where powers of x are far from parallel, then moved back.
    ascending = np.polynomial.Polynomial.fit(x, y, degree).convert().coef
    missing = degree + 1 - ascending.size  # leading powers that came out as 0
    return np.pad(ascending, (0, missing))[::-1].astype(np.float64)


@functools.partial(jax.jit, static_argnums=1)
def _clamped_polynomial(
    values: Float[Array, "..."], coefficients: tuple[float, ...]
) -> Float[Array, "..."]:
    result = jnp.zeros_like(values)
    for coefficient in coefficients:
        result = result * values + coefficient
    # Unlike a comparison, jnp.maximum hands NaN on.
    return jnp.maximum(result, 1.0)


def _real_roots(coefficients: Sequence[float] | Float64) -> list[float]:
    roots = np.roots(np.asarray(coefficients, dtype=np.float64))
    return sorted(float(root.real) for root in roots if abs(root.imag) < 1e-9)


def _check_target(target: ArrayLike, mask: np.ndarray) -> np.ndarray:
    index = np.asarray(target)
    if not np.issubdtype(index.dtype, np.integer):
        raise TypeError(f"target must be an integer; received {target!r}")
    rows = mask.shape[:-1]
    require(index.shape == rows, "target", f"of shape {rows}", index.shape)
    in_range = (index >= 0) & (index < mask.shape[-1])
    require(bool(in_range.all()), "target", f"in 0..{mask.shape[-1] - 1}", target)
    taken = np.take_along_axis(mask, index[..., None], axis=-1)
    require(bool(taken.all()), "target", "a key whose logit is not -inf", target)
    return index
