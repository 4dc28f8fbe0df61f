"""How far apart the logits of a head can lie: bounds by norms and singular values.

Proposition 3.1 of Veličković et al., "Softmax is not Enough (for Sharp Size
Generalisation)" (ICML 2025), a tighter variant, and what is left of it when the
architecture pins the norms.

Notation
--------
Q, K : query and key matrix, (head_dim, dim);  y : query item, x_i : items
e_i = scale · ⟨Q y, K x_i⟩ : logits;  δ = max e − min e : their spread
"""

import numpy as np

from sharp_attention._checks import check_finite, check_integer, check_real, require
from sharp_attention._typing import ArrayLike, Float64

__all__ = [
    "diameter_spread_bound",
    "normalised_spread_bound",
    "qk_norm_spread_bound",
    "soft_cap_spread_bound",
    "spread_bound",
]


def spread_bound(
    query_matrix: ArrayLike,
    key_matrix: ArrayLike,
    query: ArrayLike,
    items: ArrayLike,
    *,
    scale: float = 1.0,
) -> float:
    """Return the bound of Proposition 3.1: δ ≤ 2 σ_max(Q) σ_max(K) ‖y‖ max_i ‖x_i‖.

    It holds with rotary positions too, since rotations keep norms.
    It is attained if y and x_1 = −x_2 lie along the top right singular vectors of Q
    and K, and these matrices share their top left singular vector.

    Parameters
    ----------
    query_matrix, key_matrix : (head_dim, dim)
    query : (dim,)
    items : (items, dim)
    scale : > 0, factor on the logits, 1/√head_dim in most transformers

    Returns
    -------
    A bound on the spread of the logits.

    Raises
    ------
    TypeError, ValueError
        If a shape is wrong, an entry is not finite, or `scale` ≤ 0.
    """
    queries, keys = _matrices(query_matrix, key_matrix)
    vector, points = _query_and_items(queries, query, items)
    check_real("scale", scale, above=0)
    norms = np.linalg.norm(vector) * np.linalg.norm(points, axis=-1).max()
    return float(2 * scale * _largest_singular_values(queries, keys) * norms)


def diameter_spread_bound(
    query_matrix: ArrayLike,
    key_matrix: ArrayLike,
    query: ArrayLike,
    items: ArrayLike,
    *,
    scale: float = 1.0,
) -> float:
    """Return the tighter bound δ ≤ ‖Q y‖ · max_ij ‖K x_i − K x_j‖.

    Never above `spread_bound`, whose arguments and errors it shares.  It holds without
    rotary positions, which turn each key by its own angle.
    Time and memory grow with the square of the number of items.
    """
    queries, keys = _matrices(query_matrix, key_matrix)
    vector, points = _query_and_items(queries, query, items)
    check_real("scale", scale, above=0)
    mapped = points @ keys.T
    distances = np.linalg.norm(mapped[:, None] - mapped[None], axis=-1)
    return float(scale * np.linalg.norm(queries @ vector) * distances.max())


def normalised_spread_bound(query_matrix: ArrayLike, key_matrix: ArrayLike) -> float:
    """Bound δ if a norm without gain stands right before Q and K, whatever the input.

    RMS norm and layer norm leave vectors of length at most √dim, and logits are
    divided by √head_dim, hence δ ≤ 2 dim σ_max(Q) σ_max(K) / √head_dim.
    The singular value of the product QᵀK does not do with rotary positions: a rotation
    stands between the two factors.

    Parameters
    ----------
    query_matrix, key_matrix : (head_dim, dim)

    Returns
    -------
    A bound on the spread that no number and no choice of items exceeds.

    Raises
    ------
    TypeError, ValueError
        If a shape is wrong or an entry is not finite.
    """
    queries, keys = _matrices(query_matrix, key_matrix)
    head_dim, dim = queries.shape
    return float(2 * dim * _largest_singular_values(queries, keys) / head_dim**0.5)


def qk_norm_spread_bound(query_gain: float, key_gain: float, head_dim: int) -> float:
    """Bound δ if queries and keys themselves are RMS-normalised (QK-norm).

    They then have length gain · √head_dim; logits are divided by √head_dim, hence
    δ ≤ 2 · query_gain · key_gain · √head_dim.

    Raises
    ------
    TypeError, ValueError
        If a gain is negative or not finite, or `head_dim` is no integer ≥ 1.
    """
    check_real("query_gain", query_gain, at_least=0)
    check_real("key_gain", key_gain, at_least=0)
    check_integer("head_dim", head_dim, at_least=1)
    return float(2 * query_gain * key_gain * head_dim**0.5)


def soft_cap_spread_bound(cap: float) -> float:
    """Bound δ if logits are capped as cap · tanh(logit / cap): δ ≤ 2 · cap.

    Raises
    ------
    TypeError, ValueError
        If `cap` is not a finite number > 0.
    """
    check_real("cap", cap, above=0)
    return float(2 * cap)


def _largest_singular_values(queries: Float64, keys: Float64) -> float:
    return float(np.linalg.norm(queries, ord=2) * np.linalg.norm(keys, ord=2))


def _matrices(
    query_matrix: ArrayLike, key_matrix: ArrayLike
) -> tuple[Float64, Float64]:
    queries = _finite("query_matrix", query_matrix, 2)
    keys = _finite("key_matrix", key_matrix, 2)
    rule = f"of the shape of query_matrix, {queries.shape}"
    require(keys.shape == queries.shape, "key_matrix", rule, keys.shape)
    return queries, keys


def _query_and_items(
    queries: Float64, query: ArrayLike, items: ArrayLike
) -> tuple[Float64, Float64]:
    vector, points = _finite("query", query, 1), _finite("items", items, 2)
    dim = queries.shape[1]
    require(vector.shape == (dim,), "query", f"of shape ({dim},)", vector.shape)
    fits = len(points) >= 1 and points.shape[1] == dim
    require(fits, "items", f"of shape (items >= 1, {dim})", points.shape)
    return vector, points


def _finite(argument: str, value: ArrayLike, num_axes: int) -> Float64:
    array = np.asarray(value, dtype=np.float64)
    rule = f"an array with {num_axes} axes"
    require(array.ndim == num_axes, argument, rule, array.shape)
    check_finite(argument, array)
    return array
