"""Tables of heads against size: what they hold agrees with the model itself."""

import numpy as np
import pytest

from sharp_attention.experiments import dispersing_heads
from sharp_attention.models.random_transformer import Architecture

COLUMNS = [
    "style",
    "layer",
    "head",
    "num_items",
    "max_weight",
    "entropy",
    "spread",
]


@pytest.fixture(scope="module")
def by_row():
    return dispersing_heads.by_row(length=256, num_rows=8)


class TestByRow:
    @pytest.mark.medium
    def test_has_a_line_for_each_head_and_row(self, by_row):
        assert list(by_row.columns) == COLUMNS
        counts = by_row.groupby(["layer", "head"])["num_items"].nunique()
        assert counts.index.tolist() == [(1, 1), (1, 2), (2, 1), (2, 2)]
        assert counts.nunique() == 1
        assert set(by_row["style"]) == {"gpt"}

    def test_first_row_sees_itself_and_last_row_all(self, by_row):
        assert by_row["num_items"].min() == 1
        assert by_row["num_items"].max() == 256
        first = by_row[by_row["num_items"] == 1]
        assert (first["max_weight"] == 1).all()
        assert not first["entropy"].any()

    def test_weights_are_within_the_entropy(self, by_row):
        """−log max α ≤ H ≤ log n."""
        assert (by_row["entropy"] >= -np.log(by_row["max_weight"]) - 1e-5).all()
        assert (by_row["entropy"] <= np.log(by_row["num_items"]) + 1e-5).all()

    @pytest.mark.parametrize("arguments", [{"length": 1}, {"num_rows": 1}])
    def test_bad_input(self, arguments):
        with pytest.raises(ValueError, match=f"{next(iter(arguments))} must be >= 2"):
            dispersing_heads.by_row(**arguments)


class TestBySize:
    def test_equals_item_by_item(self):
        """272 items in the shares 2, 4, … 32 of the sixteen tokens."""
        bags = dispersing_heads.by_size([272])
        items = dispersing_heads.by_item(272)
        for column in ("max_weight", "entropy", "spread"):
            np.testing.assert_allclose(bags[column], items[column], rtol=1e-4)

    @pytest.mark.parametrize("length", [0, 100])
    def test_item_by_item_needs_whole_counts(self, length):
        with pytest.raises(ValueError, match="length must be a multiple of 136"):
            dispersing_heads.by_item(length)

    def test_bags_add_up(self):
        bags = dispersing_heads.bags([10, 1e9])
        np.testing.assert_allclose([bag.sum() for bag in bags], [10, 1e9])

    def test_weight_times_size_is_constant(self):
        table = dispersing_heads.by_size([100, 1e6, 1e10])
        product = table["max_weight"] * table["num_items"]
        spread = product.groupby([table["layer"], table["head"]]).agg(np.ptp)
        assert (spread < 1e-3).all()


@pytest.fixture(scope="module")
def fall():
    """Last over first of each case's geometric means."""
    table = dispersing_heads.escapes(length=512)
    groups = table.groupby("case")["max_weight"]
    return (groups.last() / groups.first()).to_dict()


class TestEscapes:
    @pytest.mark.medium
    def test_has_every_case(self, fall):
        assert set(fall) == set(dispersing_heads.CASES)

    @pytest.mark.medium
    @pytest.mark.parametrize(
        "case", ["no positions", "rotary positions", "growing items, norm"]
    )
    def test_disperses(self, fall, case):
        assert fall[case] < 0.1

    @pytest.mark.parametrize("case", ["ALiBi", "window of 9", "growing items"])
    def test_escapes(self, fall, case):
        assert fall[case] > 0.2

    def test_bad_length(self):
        with pytest.raises(ValueError, match="length must be >= 32"):
            dispersing_heads.escapes(length=31)


def test_window_has_as_many_items_as_its_name_says():
    window = Architecture(**dispersing_heads.CASES["window of 9"]).window
    assert window + 1 == 9  # itself and those before it


def test_label_distances_fall_like_one_over_n():
    table = dispersing_heads.label_distances([10, 1000, 100_000], seeds=[0, 1])
    first, second, third = (group for _, group in table.groupby("num_items"))
    assert (first["distance"] == 1).all()
    # The first size is not yet in the regime of 1/n: within a factor of 3.
    assert second["distance"].between(0.01 / 3, 0.01 * 3).all()
    ratio = third["distance"].to_numpy() / second["distance"].to_numpy()
    np.testing.assert_allclose(ratio, 0.01, rtol=0.1)
