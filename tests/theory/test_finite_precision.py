"""Thresholds of rounding, checked against the formats just at their edge."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import softmax

from sharp_attention.theory import finite_precision
from sharp_attention.theory.finite_precision import (
    running_sum_weights,
    spread_limit,
    swallowing_gap,
    vanishing_logit,
)

FORMATS = ["float32", "bfloat16", "float16"]


class TestThresholds:
    @pytest.mark.parametrize(
        ("name", "want"),
        [("float32", -103.97), ("bfloat16", -92.88), ("float16", -17.33)],
    )
    def test_vanishing_logit(self, name, want):
        assert vanishing_logit(name) == pytest.approx(want, abs=5e-3)

    def test_flushing_comes_earlier(self):
        flushed = vanishing_logit("float32", flush_to_zero=True)
        assert flushed == pytest.approx(-87.34, abs=5e-3)
        assert flushed > vanishing_logit("float32")

    @pytest.mark.parametrize("name", FORMATS)
    def test_exponential_vanishes_just_there(self, name):
        # A cast to bfloat16 rounds to float32 on the way, hence the wide margin.
        edge = vanishing_logit(name)
        with np.errstate(under="ignore"):
            assert np.exp(edge - 1e-3).astype(jnp.dtype(name)) == 0
            assert np.exp(edge + 1e-3).astype(jnp.dtype(name)) > 0

    @pytest.mark.parametrize("name", FORMATS)
    def test_term_is_swallowed_just_there(self, name):
        one, gap = np.ones((), jnp.dtype(name)), swallowing_gap(name)
        # The term itself is rounded: stay a relative eps away from the edge.
        eps = float(jnp.finfo(jnp.dtype(name)).eps)
        below = np.exp(-gap - 2 * eps).astype(one.dtype)
        above = np.exp(-gap + 2 * eps).astype(one.dtype)
        assert one + below == one
        assert one + above > one

    @pytest.mark.parametrize(
        ("name", "want"), [("float32", 16.64), ("float16", 7.62), ("bfloat16", 5.55)]
    )
    def test_swallowing_gap(self, name, want):
        assert swallowing_gap(name) == pytest.approx(want, abs=5e-3)

    def test_limits_of_spread(self):
        assert spread_limit("float32") == pytest.approx(6.8e38, rel=1e-2)
        assert spread_limit("float16") == 131_008


class TestRunningSum:
    @pytest.mark.parametrize(
        ("name", "gap", "others", "reported", "truth"),
        [
            pytest.param("bfloat16", 6.0, 999, 1.0, 0.288, id="bfloat16"),
            pytest.param("float16", 8.0, 10_000, 1.0, 0.230, id="float16"),
        ],
    )
    def test_fakes_sharpness(self, name, gap, others, reported, truth):
        row = np.array([gap] + [0.0] * others)
        assert running_sum_weights(row, name)[0] == reported
        assert softmax(row)[0] == pytest.approx(truth, abs=5e-4)

    def test_order_matters(self):
        """The same items with the leader last: now most of the crowd is counted."""
        row = np.array([0.0] * 999 + [6.0])
        assert running_sum_weights(row, "bfloat16")[-1] < 0.6

    def test_float32_is_good_enough_here(self):
        row = np.array([6.0] + [0.0] * 999)
        weights = running_sum_weights(row, "float32")
        # A thousand additions, each within half a unit in the last place.
        np.testing.assert_allclose(weights, softmax(row), rtol=1e-4)

    def test_float32_fails_later(self):
        row = np.array([16.7] + [0.0] * 9_999)
        assert running_sum_weights(row, "float32")[0] == 1.0
        assert softmax(row)[0] < 0.9995

    def test_sums_to_one_where_nothing_is_lost(self):
        assert running_sum_weights([3.0] * 8, "bfloat16").tolist() == [0.125] * 8


@pytest.mark.parametrize(
    ("call", "text"),
    [
        pytest.param(lambda m: m.vanishing_logit("float8"), "one of", id="format"),
        pytest.param(lambda m: m.swallowing_gap("float8"), "one of", id="gap-format"),
        pytest.param(lambda m: m.spread_limit("float8"), "one of", id="limit-format"),
        pytest.param(
            lambda m: m.running_sum_weights([[1.0]], "float16"), "one row", id="axes"
        ),
        pytest.param(
            lambda m: m.running_sum_weights([], "float16"), "one row", id="empty"
        ),
        pytest.param(
            lambda m: m.running_sum_weights([1e6], "float16"), "finite", id="overflow"
        ),
        pytest.param(
            lambda m: m.running_sum_weights([np.nan], "float32"), "finite", id="nan"
        ),
    ],
)
def test_bad_input(call, text):
    # The type checker of the test suite would refuse an unknown name first.
    with pytest.raises(Exception, match=rf"{text}|Literal"):
        call(finite_precision)
