"""Entropy: exact values, the streaming identity, the merge rule and its two traps."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sharp_attention.attention.entropy import (
    PartialStatistics,
    effective_support,
    entropy,
    entropy_from_statistics,
    log_normaliser,
    merge,
    partial_statistics,
)

# Float32 sums of at most a few thousand terms of one sign.
F32 = 5e-6
F64 = 1e-12

# One shape, so that XLA compiles once; −inf makes shorter rows of it.
rows = hnp.arrays(
    np.float64, 12, elements=st.floats(-30, 30) | st.just(-np.inf), fill=st.nothing()
)


def dense_entropy(logits: np.ndarray) -> float:
    """−Σ p log p from the weights, in float64 and written independently."""
    logits = np.asarray(logits, dtype=np.float64)
    kept = logits[logits > -np.inf]
    if kept.size == 0:
        return 0.0
    weights = np.exp(kept - kept.max())
    weights /= weights.sum()
    weights = weights[weights > 0]
    return float(-(weights * np.log(weights)).sum())


def in_blocks(logits: np.ndarray, size: int) -> PartialStatistics:
    """Statistics of a row gathered block by block, from left to right."""
    blocks = [logits[i : i + size] for i in range(0, len(logits), size)]
    total = partial_statistics(blocks[0])
    for block in blocks[1:]:
        total = merge(total, partial_statistics(block))
    return total


@pytest.mark.parametrize(
    ("logits", "want"),
    [
        pytest.param([7.0], 0.0, id="one-key"),
        pytest.param([1e6] * 8, np.log(8), id="uniform-large-offset"),
        pytest.param([0, 0, 0, -np.inf], np.log(3), id="masked-by-infinity"),
        pytest.param([0, 0, 0, -20], np.log(3), id="nearly-masked"),
        pytest.param([0.0, -3e38], 0.0, id="huge-gap"),
        pytest.param([3e38, -3e38], 0.0, id="gap-overflows"),
        pytest.param([-2.3819763e38] * 4, np.log(4), id="all-at-gemma-mask"),
        pytest.param([np.log(3.0), 0.0], np.log(4) - 0.75 * np.log(3), id="3-to-1"),
        pytest.param(list(range(16)), 1.04065, id="ramp"),
        pytest.param([-np.inf] * 4, 0.0, id="no-keys"),
        pytest.param([], 0.0, id="empty"),
    ],
)
def test_known_entropies(logits: list, want: float) -> None:
    np.testing.assert_allclose(entropy(logits), want, atol=F32)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(rows)
def test_agrees_with_the_dense_formula(logits: np.ndarray) -> None:
    with jax.enable_x64(True):
        np.testing.assert_allclose(entropy(logits), dense_entropy(logits), atol=F64)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(rows, st.sampled_from([1, 3, 4]))
def test_blocks_merge_into_the_whole_row(logits: np.ndarray, size: int) -> None:
    with jax.enable_x64(True):
        whole, parts = partial_statistics(logits), in_blocks(logits, size)
        for merged, direct in zip(parts, whole, strict=True):
            np.testing.assert_allclose(merged, direct, rtol=1e-12, atol=1e-12)


@settings(derandomize=True, deadline=None, max_examples=30)
@given(rows, rows, rows)
def test_merge_is_commutative_and_associative(
    a: np.ndarray, b: np.ndarray, c: np.ndarray
) -> None:
    with jax.enable_x64(True):
        one, two, three = (partial_statistics(row) for row in (a, b, c))
        for left, right in [
            (merge(one, two), merge(two, one)),
            (merge(merge(one, two), three), merge(one, merge(two, three))),
        ]:
            for x, y in zip(left, right, strict=True):
                np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("value", [2.0, -1e30, 3e38])
def test_an_empty_block_changes_nothing(value: float) -> None:
    row = partial_statistics([value, value - 1.0])
    empty = partial_statistics([-jnp.inf, -jnp.inf])
    for merged in (merge(row, empty), merge(empty, row)):
        assert all(bool(x == y) for x, y in zip(merged, row, strict=True))
    nothing = merge(empty, empty)
    assert nothing.maximum == -jnp.inf
    assert nothing.normaliser == 0
    assert entropy_from_statistics(nothing) == 0
    assert log_normaliser(nothing) == -jnp.inf


def test_without_the_cross_term_the_entropy_is_wrong() -> None:
    # Negative control: rescaling w by s alone, the classical mistake.
    logits = np.arange(16.0)
    normaliser, weighted_sum = 1.0, 0.0
    for _ in logits[1:]:
        scale = np.exp(-1.0)
        normaliser, weighted_sum = 1 + scale * normaliser, scale * weighted_sum
    wrong = np.log(normaliser) - weighted_sum / normaliser
    assert wrong == pytest.approx(0.4587, abs=5e-5)
    streamed = entropy_from_statistics(in_blocks(logits, 1))
    assert float(streamed) == pytest.approx(1.04065, abs=5e-6)


def test_a_common_offset_costs_no_precision() -> None:
    # Negative control: w = Σ e exp(e − m) cancels against the offset in float32.
    # Logits are multiples of 1/16, so that they survive the offset exactly.
    offset = np.float32(1e6)
    logits = (np.arange(64, dtype=np.float32) % 9) / 16 + offset
    weights = np.exp(logits - logits.max())
    naive = (
        logits.max()
        + np.log(weights.sum())
        - (logits * weights).sum() / (weights.sum())
    )
    want = dense_entropy(logits)
    assert abs(naive - want) > 0.01
    assert float(entropy(logits)) == pytest.approx(want, abs=F32)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_half_precision_is_summed_in_float32(dtype: str) -> None:
    value = entropy(jnp.zeros(256, dtype))
    assert value.dtype == jnp.float32
    assert float(value) == pytest.approx(np.log(256), abs=F32)
    assert float(effective_support(jnp.zeros(256, dtype))) == pytest.approx(256, 1e-5)


def test_float64_in_float64_out() -> None:
    with jax.enable_x64(True):
        assert entropy(np.zeros(3)).dtype == jnp.float64
        assert entropy(np.zeros(3, np.float32)).dtype == jnp.float32


def test_log_normaliser_is_the_log_sum_of_exponentials() -> None:
    logits = np.array([[1.0, 2.0, 3.0], [500.0, 499.0, -np.inf]])
    want = scipy.special.logsumexp(logits, axis=-1)
    got = log_normaliser(partial_statistics(logits))
    np.testing.assert_allclose(got, want, rtol=1e-6)


def test_gradient_of_entropy() -> None:
    # dH/de_k = −p_k (e_k − E[e])
    logits = jnp.array([1.0, 0.5, -2.0, 3.0, -jnp.inf])
    weights = np.exp(np.asarray(logits, np.float64))
    weights /= weights.sum()
    finite = np.where(weights > 0, logits, 0.0)
    want = -weights * (finite - weights @ finite)
    np.testing.assert_allclose(jax.jit(jax.grad(entropy))(logits), want, atol=F32)


def test_gradient_through_a_merge() -> None:
    def streamed(logits: jax.Array) -> jax.Array:
        first, second = jnp.split(logits, 2)
        merged = merge(partial_statistics(first), partial_statistics(second))
        return entropy_from_statistics(merged) + log_normaliser(merged)

    def dense(logits: jax.Array) -> jax.Array:
        return entropy(logits) + jax.scipy.special.logsumexp(logits)

    logits = jnp.array([0.3, -jnp.inf, 2.0, 1.0, -0.5, 4.0])
    want, got = jax.jit(lambda e: (jax.grad(dense)(e), jax.grad(streamed)(e)))(logits)
    np.testing.assert_allclose(got, want, atol=F32)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_bad_logits_raise_or_propagate(bad: float) -> None:
    logits = jnp.array([bad, 0.0, 0.0])
    with pytest.raises(ValueError, match=r"logits must be free of NaN and \+inf"):
        entropy(logits)
    assert jnp.isnan(jax.jit(entropy)(logits))
    assert jnp.isnan(jax.vmap(entropy)(logits[None])).all()
    with pytest.raises(ValueError, match="logits"):
        partial_statistics(logits)


def test_what_is_masked_is_never_looked_at() -> None:
    logits = jnp.array([1.0, 2.0, jnp.nan])
    where = jnp.array([True, True, False])
    assert entropy(logits, where=where) == entropy(logits[:2])
    gradient = jax.jit(jax.grad(lambda e: entropy(e, where=where)))(logits)
    assert jnp.isfinite(gradient).all()


def test_mask_broadcasts_and_is_checked() -> None:
    logits = np.zeros((2, 3, 4))
    where = np.array([True, True, False, False])
    np.testing.assert_allclose(entropy(logits, where=where), np.log(2), atol=F32)
    with pytest.raises(ValueError, match=r"where must broadcast to \(2, 3, 4\)"):
        entropy(logits, where=np.ones(5, bool))
    with pytest.raises(TypeError, match="where must be boolean"):
        entropy(logits, where=np.ones(4))
    with pytest.raises(ValueError, match="logits must be an array with a last axis"):
        entropy(1.0)
    with pytest.raises(TypeError, match="logits must be real"):
        entropy(np.zeros(3, complex))
