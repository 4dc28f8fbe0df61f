"""Bounds that hold for every row, are attained, and are violated one step beyond."""

import inspect
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.special import softmax

from sharp_attention.theory import dispersion
from sharp_attention.theory.spread_bounds import spread_bound

# Weights are products and sums of positive terms: a few units in the last place,
# times log n and x, which are below 100 in the comparisons that use it.
ROUNDING = 1e-12

logits = hnp.arrays(
    np.float64, st.integers(1, 12), elements=st.floats(-20, 20, width=32)
)
temperatures = st.floats(0.1, 10)
property_test = settings(derandomize=True, deadline=None, max_examples=100)


def two_level(spread: float, num_items: int, num_top: int = 1) -> np.ndarray:
    """The extremal row: some logits at the top, the others at the bottom."""
    return np.where(np.arange(num_items) < num_top, spread, 0.0)


def brute_entropy(row: np.ndarray) -> float:
    """−Σ p log p, written independently of the library."""
    weights = softmax(row)
    weights = weights[weights > 0]
    return float(-(weights * np.log(weights)).sum())


class TestSpread:
    @pytest.mark.parametrize(
        ("row", "where", "want"),
        [
            pytest.param([3.0], None, 0.0, id="one-item"),
            pytest.param([1, 5, 2], None, 4.0, id="integers"),
            pytest.param([1.0, -np.inf, 2.0], None, 1.0, id="removed-by-infinity"),
            pytest.param([1.0, 9.0, 2.0], [True, False, True], 1.0, id="masked"),
            pytest.param([1.0, np.nan, 2.0], [True, False, True], 1.0, id="masked-nan"),
            pytest.param([-np.inf, -np.inf], None, 0.0, id="no-item"),
            pytest.param([], None, 0.0, id="empty"),
            pytest.param([1e308, -1e308], None, np.inf, id="overflow"),
        ],
    )
    def test_value(self, row, where, want):
        assert dispersion.spread(row, where) == want

    def test_is_one_number_per_row(self):
        result = dispersion.spread(np.arange(12.0).reshape(2, 2, 3))
        np.testing.assert_array_equal(result, np.full((2, 2), 2.0))

    def test_is_python_float_for_one_row(self):
        assert type(dispersion.spread([1.0, 2.0])) is float

    @pytest.mark.parametrize(
        ("row", "where", "error", "text"),
        [
            pytest.param([1, np.nan], None, ValueError, "logits must be", id="nan"),
            pytest.param([1, np.inf], None, ValueError, "logits must be", id="inf"),
            pytest.param(3.0, None, ValueError, "a last axis of items", id="scalar"),
            pytest.param([1, 2], [1, 0], TypeError, "where must be bool", id="numbers"),
            pytest.param(
                [1, 2], [True] * 3, ValueError, r"broadcast to \(2,\)", id="shape"
            ),
        ],
    )
    def test_bad_input(self, row, where, error, text):
        with pytest.raises(error, match=text):
            dispersion.spread(row, where)


class TestWeightBounds:
    @property_test
    @given(row=logits, temperature=temperatures)
    @pytest.mark.parametrize("name", ["weight_bounds", "sharp_weight_bounds"])
    def test_hold_for_any_row(self, name, row, temperature):
        bounds = getattr(dispersion, name)
        lower, upper = bounds(dispersion.spread(row), len(row), temperature)
        weights = softmax(row / temperature)
        assert weights.max() <= upper * (1 + ROUNDING)
        assert weights.min() >= lower * (1 - ROUNDING)

    @property_test
    @given(
        spread=st.floats(0, 30), num_items=st.integers(1, 60), temperature=temperatures
    )
    def test_sharp_ones_are_attained(self, spread, num_items, temperature):
        lower, upper = dispersion.sharp_weight_bounds(spread, num_items, temperature)
        leader = softmax(two_level(spread, num_items) / temperature)[0]
        straggler = softmax(-two_level(spread, num_items) / temperature)[0]
        assert leader == pytest.approx(upper, rel=ROUNDING)
        assert straggler == pytest.approx(lower, rel=ROUNDING)

    @pytest.mark.parametrize("num_items", [2, 16, 1000])
    def test_sharp_ones_are_violated_one_step_beyond(self, num_items):
        lower, upper = dispersion.sharp_weight_bounds(3.0, num_items)
        beyond = two_level(3.0 + 1e-6, num_items)
        assert softmax(beyond)[0] > upper
        assert softmax(-beyond)[0] < lower

    @pytest.mark.parametrize("num_items", [2, 16, 1000])
    def test_lemma_is_not_attained_unless_all_are_equal(self, num_items):
        lower, upper = dispersion.weight_bounds(3.0, num_items)
        sharp_lower, sharp_upper = dispersion.sharp_weight_bounds(3.0, num_items)
        assert lower < sharp_lower < 1 / num_items < sharp_upper < upper
        equal = dispersion.weight_bounds(0.0, num_items)
        assert equal == pytest.approx((1 / num_items, 1 / num_items), rel=ROUNDING)

    def test_lemma_is_the_formula(self):
        lower, upper = dispersion.weight_bounds(5.0, 16, 2.0)
        assert lower == pytest.approx(math.exp(-2.5) / 16, rel=ROUNDING)
        assert upper == pytest.approx(math.exp(2.5) / 16, rel=ROUNDING)

    def test_chapter_numbers(self):
        _, few = dispersion.sharp_weight_bounds(5.0, 16)
        _, many = dispersion.sharp_weight_bounds(5.0, 16_384)
        assert few == pytest.approx(0.908, abs=5e-4)
        assert many == pytest.approx(0.00898, abs=5e-6)

    @pytest.mark.parametrize("name", ["weight_bounds", "sharp_weight_bounds"])
    def test_rate_is_one_over_n(self, name):
        million, trillion = np.transpose(
            getattr(dispersion, name)(4.0, [10**6, 10**12])
        )
        np.testing.assert_allclose(million / trillion, 1e6, rtol=1e-4)

    @pytest.mark.parametrize(
        ("spread", "num_items", "want"),
        [
            pytest.param(1e4, 2, (0.0, 1.0), id="huge-spread"),
            pytest.param(1e4, 10**60, (0.0, 1.0), id="huge-both"),
            pytest.param(0.0, 10**400, (0.0, 0.0), id="beyond-floats"),
            pytest.param(7.0, 1, (1.0, 1.0), id="alone"),
        ],
    )
    def test_sharp_limits(self, spread, num_items, want):
        assert dispersion.sharp_weight_bounds(spread, num_items) == want

    def test_lemma_beyond_floats(self):
        assert dispersion.weight_bounds(1e4, 16) == (0.0, np.inf)
        lower, upper = dispersion.weight_bounds(1.0, 10**60)
        assert (lower, upper) == pytest.approx((math.exp(-1) / 1e60, math.e / 1e60))

    def test_arrays_broadcast(self):
        spreads, sizes = np.linspace(0, 5, 3)[:, None], [16, 10**60, 2**63, 5]
        for bounds in (dispersion.weight_bounds, dispersion.sharp_weight_bounds):
            lower, upper = bounds(spreads, sizes)
            assert lower.shape == upper.shape == (3, 4)
            assert lower.dtype == np.float64
            assert upper[2, 1] == bounds(5.0, 10**60)[1]


class TestEntropyFloor:
    @pytest.mark.parametrize(
        ("num_items", "want"), [(16, 0.324), (512, 3.271), (16_384, 6.737)]
    )
    def test_golden_values(self, num_items, want):
        floor = dispersion.entropy_floor(5.69, num_items)
        assert floor == pytest.approx(want, abs=5e-4)

    @pytest.mark.parametrize("num_items", [1, 2, 3, 7, 16, 100, 1000])
    @pytest.mark.parametrize("spread", [0.0, 1e-9, 1e-3, 0.5, 3.0, 5.69, 20.0, 700.0])
    def test_equals_brute_force_over_rows(self, num_items, spread):
        entropies = [
            brute_entropy(two_level(spread, num_items, k))
            for k in range(1, num_items + 1)
        ]
        floor = dispersion.entropy_floor(spread, num_items)
        assert floor == pytest.approx(min(entropies), abs=1e-11)

    @property_test
    @given(row=logits, temperature=temperatures)
    def test_holds_for_any_row(self, row, temperature):
        floor = dispersion.entropy_floor(dispersion.spread(row), len(row), temperature)
        assert brute_entropy(row / temperature) >= floor - 1e-11

    @pytest.mark.parametrize("spread", [0.3, 2.0, 6.0])
    def test_no_row_on_a_grid_is_below(self, spread):
        """All rows of five logits on a grid of seven levels, ends included."""
        levels = np.linspace(0, spread, 7)
        rows = itertools.combinations_with_replacement(levels, 5)
        lowest = min(brute_entropy(np.array(row)) for row in rows)
        assert lowest == pytest.approx(dispersion.entropy_floor(spread, 5), abs=1e-12)

    @property_test
    @given(spread=st.floats(0, 50), num_items=st.integers(2, 500))
    def test_two_level_entropy_has_one_valley(self, spread, num_items):
        """Why it is enough to look at the two integers next to k*."""
        entropies = dispersion.two_level_entropy(
            spread, num_items, np.arange(1, num_items + 1)
        )
        signs = np.sign(np.round(np.diff(entropies), 11))
        signs = signs[signs != 0]
        assert (np.diff(signs) >= 0).all()

    @pytest.mark.parametrize("spread", [1e-4, 1.0, 5.69, 40.0])
    def test_deficit_depends_on_spread_alone(self, spread):
        c = spread / math.expm1(spread)
        deficit = c - 1 - math.log(c)
        for num_items in (10**30, 10**60, 10**400):
            floor = dispersion.entropy_floor(spread, num_items)
            assert math.log(num_items) - floor == pytest.approx(deficit, abs=1e-9)

    def test_large_spread_allows_certainty(self):
        assert dispersion.entropy_floor(1e4, [2, 10**60, 10**400]).tolist() == [0] * 3

    @property_test
    @given(spread=st.floats(0, 50), num_items=st.integers(1, 10**70))
    def test_lies_between_bounds(self, spread, num_items):
        floor = dispersion.entropy_floor(spread, num_items)
        assert math.log(num_items) - spread <= floor + 1e-11
        assert 0 <= floor <= math.log(num_items) + 1e-11

    def test_falls_with_spread_and_with_cold(self):
        assert (np.diff(dispersion.entropy_floor(np.linspace(0, 30), 1000)) < 0).all()
        cold, warm = dispersion.entropy_floor(3.0, 64, [0.5, 2.0])
        assert cold == dispersion.entropy_floor(6.0, 64) < warm

    def test_two_level_entropy_is_that_of_the_row(self):
        entropies = dispersion.two_level_entropy(2.5, 9, np.arange(1, 10), 0.7)
        want = [brute_entropy(two_level(2.5, 9, k) / 0.7) for k in range(1, 10)]
        np.testing.assert_allclose(entropies, want, atol=1e-12)

    @pytest.mark.parametrize("num_top", [0, 10, 2.0])
    def test_two_level_bad_input(self, num_top):
        with pytest.raises((ValueError, TypeError), match="num_top must be"):
            dispersion.two_level_entropy(1.0, 9, num_top)


class TestMinItemsToDisperse:
    @pytest.mark.parametrize(
        ("spread", "weight", "want"),
        [
            pytest.param(5.69, 0.5, 297, id="gemma-2b-mean-half"),
            pytest.param(5.69, 0.9, 34, id="gemma-2b-mean-nine-tenths"),
            pytest.param(0.0, 0.5, 3, id="two-equal-items-still-reach-it"),
            pytest.param(0.0, 1.0, 2, id="certainty"),
            pytest.param(1e4, 1.0, 2, id="certainty-at-any-spread"),
        ],
    )
    def test_golden_values(self, spread, weight, want):
        assert dispersion.min_items_to_disperse(spread, weight) == want

    @property_test
    @given(
        spread=st.floats(0, 25), weight=st.floats(0.01, 0.99), temperature=temperatures
    )
    def test_is_the_first_size_without_the_weight(self, spread, weight, temperature):
        first = dispersion.min_items_to_disperse(spread, weight, temperature)
        scaled = spread / temperature
        if scaled > 25:  # n then has more digits than a float
            return
        _, without = dispersion.sharp_weight_bounds(spread, first, temperature)
        _, with_it = dispersion.sharp_weight_bounds(spread, first - 1, temperature)
        assert without < weight * (1 + ROUNDING)
        assert with_it > weight * (1 - ROUNDING)

    def test_is_exact_where_floats_are_not(self):
        n = dispersion.min_items_to_disperse(100.0, 0.5)
        assert n == 26881171418161354484126255515800135873611118 + 2

    @pytest.mark.parametrize(
        ("spread", "digits"), [(1e4, 4343), (1e5, 43_430)], ids=["1e4", "1e5"]
    )
    def test_large_answers(self, spread, digits):
        n = dispersion.min_items_to_disperse(spread, 0.5)
        assert 10 ** (digits - 1) <= n < 10**digits

    def test_too_large_an_answer_is_refused(self):
        with pytest.raises(ValueError, match=r"spread / temperature must be <= 100000"):
            dispersion.min_items_to_disperse(1e7, 0.5)

    @pytest.mark.parametrize("weight", [0, -0.5, 1.1, np.nan])
    def test_bad_weight(self, weight):
        with pytest.raises(ValueError, match="weight must be"):
            dispersion.min_items_to_disperse(1.0, weight)

    @pytest.mark.parametrize("name", ["spread", "weight", "temperature"])
    def test_takes_one_number_at_a_time(self, name):
        # Without the type checker of the tests, whose error would come first.
        unchecked = inspect.unwrap(dispersion.min_items_to_disperse)
        arguments = {"spread": 1.0, "weight": 0.5, name: [0.5, 1.0]}
        with pytest.raises(ValueError, match=rf"^{name} must be a single .*\[0.5, 1"):
            unchecked(**arguments)


class TestOutputGapBound:
    @property_test
    @given(seed=st.integers(0, 10**6), num_items=st.integers(1, 20))
    def test_holds_when_one_item_changes(self, seed, num_items):
        rng = np.random.default_rng(seed)
        rows = np.tile(rng.uniform(0, 4, num_items), (2, 1))
        values = np.tile(rng.normal(size=(num_items, 3)), (2, 1, 1))
        rows[1, 0], values[1, 0] = rng.uniform(0, 4), rng.normal(size=3)
        first, second = np.einsum("in,ind->id", softmax(rows, axis=-1), values)
        union = values.reshape(-1, 3)
        diameter = np.linalg.norm(union[:, None] - union, axis=-1).max()
        bound = dispersion.output_gap_bound(4.0, num_items, diameter)
        assert np.linalg.norm(first - second) <= bound * (1 + ROUNDING)

    def test_is_attained(self):
        """The leader's value flips while its logit stays at the top."""
        weights = softmax(two_level(4.0, 50))
        gap = weights[0] * 2.0
        assert dispersion.output_gap_bound(4.0, 50, 2.0) == pytest.approx(gap)

    def test_bad_diameter(self):
        with pytest.raises(ValueError, match="diameter must be >= 0"):
            dispersion.output_gap_bound(1.0, 5, -1.0)


FUNCTIONS = [
    dispersion.weight_bounds,
    dispersion.sharp_weight_bounds,
    dispersion.entropy_floor,
    lambda *arguments: dispersion.output_gap_bound(*arguments[:2], 1.0, *arguments[2:]),
]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        pytest.param((-1.0, 5), ValueError, "spread must be >= 0", id="negative"),
        pytest.param((np.nan, 5), ValueError, "spread must be a number", id="nan"),
        pytest.param((np.inf, 5), ValueError, "spread must be finite", id="infinite"),
        pytest.param(([1, -1], 5), ValueError, "spread must be >= 0", id="one-of-two"),
        pytest.param((1.0, 0), ValueError, "num_items must be >= 1", id="no-item"),
        pytest.param((1.0, 5.0), TypeError, "num_items must be an int", id="float"),
        pytest.param((1.0, True), TypeError, "num_items must be an int", id="bool"),
        pytest.param((1.0, 5, 0.0), ValueError, "temperature must be > 0", id="frozen"),
        pytest.param((1.0, 5, -1.0), ValueError, "temperature must be > 0", id="below"),
        pytest.param((1.0, 5, np.nan), ValueError, "temperature must be a", id="t-nan"),
        pytest.param(
            (1e300, 5, 1e-300), ValueError, "spread / temperature must", id="overflow"
        ),
    ],
)
def test_bad_input(function, arguments, error, text):
    with pytest.raises(error, match=text):
        function(*arguments)


def test_proposition_is_offered_here():
    assert dispersion.spread_bound is spread_bound
