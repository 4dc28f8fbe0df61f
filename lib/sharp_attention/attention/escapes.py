"""Ways out of the dispersion theorem that need more than a row of logits.

Theorem 2.2 of "Softmax is not Enough" (arXiv 2410.01104) speaks of softmax over all
keys, at a fixed temperature, between continuous maps.
Each function here drops one of its assumptions: `top_k` and `hard` (all keys),
`windowed` (all keys, by place), `selective` (all keys, by what earlier tokens say),
`linear_attention` (normalisation), `discontinuous_feed_forward` (continuity).
`differential` drops none: a difference of two softmax rows disperses as they do.
Maps that a row of logits is enough for are in `activations`: `sigmoid`, `linear`,
`stick_breaking`, `sparsemax`, `entmax`, `scalable_softmax` (log n scaling).

Masks, dtypes, rows without keys, NaN and +inf are treated as in `activations`.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from sharp_attention._checks import check_integer, check_real, require
from sharp_attention._typing import ArrayLike
from sharp_attention.attention import _rows, activations
from sharp_attention.attention._arguments import check_broadcasts

__all__ = [
    "differential",
    "discontinuous_feed_forward",
    "hard",
    "linear_attention",
    "selective",
    "top_k",
    "votes",
    "windowed",
]

Weights = Float[Array, "*batch keys"]
Square = Float[Array, "*batch queries keys"]


def top_k(
    logits: ArrayLike, *, num_kept: int, where: ArrayLike | None = None
) -> Weights:
    """Softmax over the largest logits of the row; all other keys get exactly 0.

    Of equal logits the first in the row is kept: with ties at the edge the map does
    not commute with permutations of the keys.  Otherwise it jumps where two logits
    change places at the edge, and its gradient knows nothing of the keys left out.

    Parameters
    ----------
    logits : (..., keys)
    num_kept : k ≥ 1, how many keys are kept; all of them where the row has fewer
    where : boolean, broadcasts to `logits`

    Returns
    -------
    (..., keys), summing to 1, or to 0 for a row without keys

    Raises
    ------
    TypeError, ValueError
        If `num_kept` is not an integer ≥ 1, or as for `activations.softmax`.
    """
    check_integer("num_kept", num_kept, at_least=1)
    rows = _rows.prepare(logits, where)
    count = min(num_kept, rows.mask.shape[-1])
    ranked = jnp.where(rows.mask, rows.shifted, -jnp.inf)
    _, places = jax.lax.top_k(jax.lax.stop_gradient(ranked), count)
    nothing = jnp.zeros_like(rows.mask)
    kept = jnp.put_along_axis(nothing, places, True, axis=-1, inplace=False)
    return _rows.normalise(rows.shifted, kept & rows.mask).astype(rows.dtype)


def hard(logits: ArrayLike, *, where: ArrayLike | None = None) -> Weights:
    """All weight to the largest logit, equal shares to equal ones: softmax at θ → 0.

    Piecewise constant, so that its gradient is 0 wherever it exists.

    Parameters
    ----------
    logits : (..., keys)
    where : boolean, broadcasts to `logits`

    Returns
    -------
    (..., keys), summing to 1, or to 0 for a row without keys
    """
    rows = _rows.prepare(logits, where)
    # NaN equals nothing, and a row that holds one must not look like an empty row.
    leads = jnp.where(jnp.isnan(rows.shifted), jnp.nan, rows.shifted == 0)
    leads = jnp.where(rows.mask, leads, 0.0)
    total = jnp.sum(leads, axis=-1, keepdims=True)
    return (leads / _rows.nonzero(total)).astype(rows.dtype)


def windowed(
    logits: ArrayLike,
    *,
    width: int,
    first_query: int = 0,
    where: ArrayLike | None = None,
) -> Square:
    """Causal softmax over the `width` nearest keys, the query's own place included.

    Parameters
    ----------
    logits : (..., queries, keys), keys in the order of the sequence
    width : ≥ 1
    first_query : ≥ 0, place in the sequence of the first query; row i sees the keys
        at first_query + i − width + 1 … first_query + i
    where : boolean, broadcasts to `logits`

    Returns
    -------
    (..., queries, keys); a row whose window holds no key is 0

    Raises
    ------
    TypeError, ValueError
        If an integer is not one, `logits` have no axis of queries, or as for softmax.
    """
    check_integer("width", width, at_least=1)
    check_integer("first_query", first_query, at_least=0)
    array = _with_queries("logits", logits)
    queries, keys = array.shape[-2:]
    age = (first_query + jnp.arange(queries))[:, None] - jnp.arange(keys)
    near = (age >= 0) & (age < width)
    return activations.softmax(array, where=near & _mask(array, where))


def votes(selection: ArrayLike, *, first_key: int = 0) -> Square:
    """Add up, for each query, what earlier tokens have said against each key.

    F_ik = Σ_{k < j < i} max(S_jk, 0): token j may vote against the keys before it.
    Nobody votes against itself, and nobody against the first key, which often has to
    take the weight that no other key should have.

    Parameters
    ----------
    selection : S, (..., queries, keys), finite or −inf (no vote); row i is the i-th
        token of the sequence
    first_key : ≥ 0, place in the sequence of the first key, so that the columns can
        be treated in blocks: each depends on itself alone

    Returns
    -------
    F ≥ 0, (..., queries, keys), in float32 or better

    Raises
    ------
    TypeError, ValueError
        If `first_key` is no such integer, `selection` has no axis of queries or, in an
        eager call, holds NaN or +inf.
    """
    check_integer("first_key", first_key, at_least=0)
    rows = _rows.prepare(_with_queries("selection", selection))
    queries, keys = rows.values.shape[-2:]
    voter, key = jnp.arange(queries)[:, None], first_key + jnp.arange(keys)
    may_vote = rows.mask & (key < voter) & (key > 0)
    cast = jnp.where(may_vote, jnp.maximum(rows.values, 0.0), 0.0)
    earlier = jnp.cumsum(cast[..., :-1, :], axis=-2)
    return jnp.concatenate([jnp.zeros_like(cast[..., :1, :]), earlier], axis=-2)


def selective(
    logits: ArrayLike,
    *,
    selection: ArrayLike | None = None,
    where: ArrayLike | None = None,
) -> Square:
    """Causal softmax of the logits minus the votes against each key.

    After Leviathan, Kalman and Matias, "Selective Attention Improves Transformer"
    (ICLR 2025), as secondary sources describe it: the logits of one head serve all
    heads as selection.

    Parameters
    ----------
    logits : (..., length, length), keys in the order of the sequence
    selection : what `votes` adds up, of the same shape; the logits themselves if None.
        Votes count levels, not gaps: they change if a constant is added
    where : boolean, broadcasts to `logits`; an entry that it removes gets weight 0
        and casts no vote

    Returns
    -------
    (..., length, length); row i sums to 1 over the keys 0 … i

    Raises
    ------
    ValueError
        If `logits` are not square in their last two axes or `selection` has another
        shape, or as for `activations.softmax`.
    """
    array = _with_queries("logits", logits)
    queries, keys = array.shape[-2:]
    require(queries == keys, "logits", "square in the last two axes", array.shape)
    mask = _mask(array, where) & jnp.tri(queries, dtype=bool)
    scores = array if selection is None else jnp.asarray(selection)
    rule = f"of shape {array.shape}"
    require(scores.shape == array.shape, "selection", rule, scores.shape)
    left = jnp.where(mask, array, 0.0) - votes(jnp.where(mask, scores, -jnp.inf))
    return activations.softmax(left, where=mask).astype(array.dtype)


def differential(
    logits: ArrayLike,
    subtracted: ArrayLike,
    *,
    mix: ArrayLike,
    where: ArrayLike | None = None,
) -> Weights:
    """Difference of two softmax rows, softmax(e) − λ softmax(e'), in (−λ, 1).

    After Ye et al., "Differential Transformer" (ICLR 2025), without its norms.
    Each row disperses, so the difference does.

    Parameters
    ----------
    logits : e, (..., keys)
    subtracted : e', of the same shape
    mix : λ, finite, broadcasts to `logits`
    where : boolean, broadcasts to `logits`

    Returns
    -------
    (..., keys), summing to 1 − λ, or to 0 for a row without keys

    Raises
    ------
    ValueError
        If shapes do not fit or, in an eager call, `mix` is not finite; or as for
        `activations.softmax`.
    """
    check_real("mix", mix)
    first, second = jnp.asarray(logits), jnp.asarray(subtracted)
    rule = f"of shape {first.shape}"
    require(second.shape == first.shape, "subtracted", rule, second.shape)
    check_broadcasts("mix", mix, first.shape)
    one, other = (activations.softmax(row, where=where) for row in (first, second))
    return (one - jnp.asarray(mix, one.dtype) * other).astype(one.dtype)


def linear_attention(
    query: Float[Array, "*batch dim"],
    key: Float[Array, "*batch keys dim"],
    value: Float[Array, "*batch keys width"],
    *,
    where: Bool[Array, "*batch keys"] | None = None,
) -> Float[Array, "*batch width"]:
    """Attend with the weights 1 + <q, k_j>, without ever holding them.

    Σ_j (1 + <q, k_j>) v_j = Σ_j v_j + q · (Σ_j k_j v_jᵀ): two sums over the keys that
    do not know the query, of a size that does not depend on how many keys there are.
    The weights are those of `activations.linear`; nothing is normalised.

    Parameters
    ----------
    query : (..., dim), scaled already
    key, value : (..., keys, dim) and (..., keys, width)
    where : False for keys that take no part; what they hold does not count
    """
    if where is not None:
        key = jnp.where(where[..., None], key, 0.0)
        value = jnp.where(where[..., None], value, 0.0)
    state = jnp.einsum("...kd,...kw->...dw", key, value)
    return jnp.sum(value, axis=-2) + jnp.einsum("...d,...dw->...w", query, state)


def discontinuous_feed_forward(
    inputs: Float[Array, "*batch features"],
    inner: Float[Array, "hidden features"],
    bias: Float[Array, " hidden"],
    outer: Float[Array, "outputs hidden"],
) -> Float[Array, "*batch outputs"]:
    """Two layers with a step between them: outer · 1[inner x + bias > 0].

    Inputs at any distance ε > 0 may have outputs at distance 1, which no continuous
    map on a compact set allows; the weights of attention disperse all the same.
    Its gradient is 0 in everything but `outer`.  NaN gives NaN.

    Parameters
    ----------
    inputs : (..., features)
    inner, bias, outer : (hidden, features), (hidden,) and (outputs, hidden)
    """
    before = jnp.asarray(inputs) @ inner.T + bias
    steps = jnp.where(jnp.isnan(before), jnp.nan, before > 0)
    return steps.astype(before.dtype) @ outer.T


def _with_queries(name: str, array: ArrayLike) -> Square:
    values = jnp.asarray(array)
    if not jnp.issubdtype(values.dtype, jnp.inexact):
        values = values.astype(jnp.result_type(float))
    require(values.ndim >= 2, name, "an array (..., queries, keys)", values.shape)
    return values


def _mask(array: Square, where: ArrayLike | None) -> Bool[Array, "..."]:
    return _rows.prepare(jnp.zeros(array.shape), where).mask
