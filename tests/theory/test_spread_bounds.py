"""Proposition 3.1: holds on random matrices, attained at the tight construction."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sharp_attention.theory import dispersion, spread_bounds

property_test = settings(derandomize=True, deadline=None, max_examples=50)
# A dozen sums of products in float64.
ROUNDING = 1e-12

QUERY = np.ones(3)
ITEMS = np.eye(3)
MATRIX = np.ones((2, 3))


def random_head(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    head_dim, dim, num_items = rng.integers(1, 8, size=3)
    matrices = rng.normal(size=(2, head_dim, dim))
    return *matrices, rng.normal(size=dim), rng.normal(size=(num_items, dim))


def measured_spread(queries, keys, query, items, scale=1.0):
    return dispersion.spread(scale * (items @ keys.T) @ (queries @ query))


def tight_head(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Q and K share their top left singular vector; y, x lie along the right ones."""
    rng = np.random.default_rng(seed)
    left = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    right_q, right_k = (np.linalg.qr(rng.normal(size=(6, 6)))[0][:4] for _ in range(2))
    queries = left @ np.diag([3.0, 1, 0.5, 0.1]) @ right_q
    keys = left @ np.diag([2.0, 0.7, 0.3, 0.2]) @ right_k
    items = np.array([1.5, -1.5, 0.2, 0.0])[:, None] * right_k[0]
    return queries, keys, 0.8 * right_q[0], items


class TestSpreadBound:
    @property_test
    @given(seed=st.integers(0, 10**6), scale=st.floats(0.01, 10))
    def test_both_bounds_hold_in_order(self, seed, scale):
        head = random_head(seed)
        measured = measured_spread(*head, scale)
        diameter = spread_bounds.diameter_spread_bound(*head, scale=scale)
        proposition = spread_bounds.spread_bound(*head, scale=scale)
        assert measured <= diameter * (1 + ROUNDING) + 1e-13
        assert diameter <= proposition * (1 + ROUNDING)

    def test_is_attained(self):
        head = tight_head()
        bound = spread_bounds.spread_bound(*head)
        assert bound == pytest.approx(2 * 3 * 2 * 0.8 * 1.5, rel=ROUNDING)
        assert measured_spread(*head) == pytest.approx(bound, rel=ROUNDING)

    def test_half_of_it_would_be_too_little(self):
        head = tight_head()
        assert measured_spread(*head) > 0.99 * spread_bounds.spread_bound(*head)

    @pytest.mark.parametrize("changed", ["query", "items", "left"])
    def test_each_condition_of_tightness_is_needed(self, changed):
        queries, keys, query, items = tight_head()
        if changed == "query":
            query = query + 0.1 * np.linalg.svd(queries)[2][1]
        elif changed == "items":
            items = np.abs(items[:, :1]) * np.ones(6)
        else:
            keys = np.roll(np.eye(4), 1, axis=0) @ keys
        bound = spread_bounds.spread_bound(queries, keys, query, items)
        assert measured_spread(queries, keys, query, items) < 0.999 * bound

    def test_scales_linearly_in_each_factor(self):
        queries, keys, query, items = random_head(3)
        bound = spread_bounds.spread_bound(queries, keys, query, items)
        scaled = spread_bounds.spread_bound(
            2 * queries, 3 * keys, 5 * query, 7 * items, scale=0.5
        )
        assert scaled == pytest.approx(2 * 3 * 5 * 7 * 0.5 * bound)

    def test_diameter_bound_ignores_a_common_shift(self):
        queries, keys, query, items = random_head(5)
        shifted = (queries, keys, query, items + 100.0)
        tight = spread_bounds.diameter_spread_bound(queries, keys, query, items)
        assert spread_bounds.diameter_spread_bound(*shifted) == pytest.approx(tight)
        assert spread_bounds.spread_bound(*shifted) > 10 * tight

    @pytest.mark.parametrize(
        "bound", [spread_bounds.spread_bound, spread_bounds.diameter_spread_bound]
    )
    @pytest.mark.parametrize(
        ("arguments", "text"),
        [
            pytest.param((np.ones(3), MATRIX, QUERY, ITEMS), "query_matrix", id="axes"),
            pytest.param((MATRIX, np.ones((2, 4)), QUERY, ITEMS), "key_matrix", id="k"),
            pytest.param((MATRIX, MATRIX, np.ones(4), ITEMS), "query must", id="query"),
            pytest.param((MATRIX, MATRIX, QUERY, np.ones((2, 4))), "items", id="dim"),
            pytest.param((MATRIX, MATRIX, QUERY, np.ones((0, 3))), "items", id="none"),
            pytest.param((MATRIX, np.nan * MATRIX, QUERY, ITEMS), "key_ma", id="nan"),
        ],
    )
    def test_bad_input(self, bound, arguments, text):
        with pytest.raises(ValueError, match=text):
            bound(*arguments)

    def test_bad_scale(self):
        with pytest.raises(ValueError, match="scale must be > 0"):
            spread_bounds.spread_bound(MATRIX, MATRIX, QUERY, ITEMS, scale=0.0)


class TestPinnedNorms:
    @property_test
    @given(seed=st.integers(0, 10**6), size=st.floats(0.1, 1e6))
    def test_norm_before_attention_makes_the_input_irrelevant(self, seed, size):
        queries, keys, query, items = random_head(seed)
        points = size * np.vstack([query, items])
        points = points / np.sqrt((points**2).mean(axis=-1, keepdims=True))
        spread = measured_spread(
            queries, keys, points[0], points[1:], len(queries) ** -0.5
        )
        bound = spread_bounds.normalised_spread_bound(queries, keys)
        assert spread <= bound * (1 + ROUNDING)

    def test_norm_bound_is_attained(self):
        queries, keys, query, items = tight_head()
        query = query * 6**0.5 / np.linalg.norm(query)
        items = items[:2] * 6**0.5 / np.linalg.norm(items[:2], axis=-1, keepdims=True)
        spread = measured_spread(queries, keys, query, items, 0.5)
        bound = spread_bounds.normalised_spread_bound(queries, keys)
        assert spread == pytest.approx(bound, rel=ROUNDING)

    def test_product_of_matrices_does_not_do_with_rotations(self):
        """Q = e1 e1ᵀ, K = e2 e2ᵀ: QᵀK = 0, but a quarter turn between them is not."""
        queries, keys = np.diag([1.0, 0.0]), np.diag([0.0, 1.0])
        assert not (queries.T @ keys).any()
        quarter_turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
        query, items = np.array([2**0.5, 0]), np.array([[0, 2**0.5], [0, -(2**0.5)]])
        logits = (items @ keys.T @ quarter_turn.T) @ (queries @ query) / 2**0.5
        np.testing.assert_allclose(logits, [2**0.5, -(2**0.5)])
        bound = spread_bounds.normalised_spread_bound(queries, keys)
        assert dispersion.spread(logits) == pytest.approx(bound)

    @property_test
    @given(seed=st.integers(0, 10**6), gains=st.tuples(*[st.floats(0.1, 5)] * 2))
    def test_qk_norm(self, seed, gains):
        rng = np.random.default_rng(seed)
        query, *keys = rng.normal(size=(9, 4))
        keys = np.array([*keys, query, -query])
        unit = [v / np.sqrt((v**2).mean(-1, keepdims=True)) for v in (query, keys)]
        logits = gains[0] * gains[1] * unit[1] @ unit[0] / 4**0.5
        bound = spread_bounds.qk_norm_spread_bound(*gains, 4)
        assert dispersion.spread(logits) == pytest.approx(bound)

    def test_soft_cap(self):
        capped = 50 * np.tanh(np.array([-1e9, -60.0, 0.0, 60.0, 1e9]) / 50)
        assert (
            dispersion.spread(capped) == spread_bounds.soft_cap_spread_bound(50) == 100
        )

    @pytest.mark.parametrize(
        ("call", "text"),
        [
            pytest.param(lambda b: b.soft_cap_spread_bound(0), "cap must", id="cap"),
            pytest.param(
                lambda b: b.qk_norm_spread_bound(-1, 1, 4), "query_gain", id="query"
            ),
            pytest.param(
                lambda b: b.qk_norm_spread_bound(1, -1, 4), "key_gain", id="key"
            ),
            pytest.param(
                lambda b: b.qk_norm_spread_bound(1, 1, 0), "head_dim", id="head-dim"
            ),
            pytest.param(
                lambda b: b.normalised_spread_bound(MATRIX, ITEMS), "key_m", id="shapes"
            ),
        ],
    )
    def test_bad_input(self, call, text):
        with pytest.raises(ValueError, match=text):
            call(spread_bounds)
