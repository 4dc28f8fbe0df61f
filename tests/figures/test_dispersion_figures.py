"""Tables of the dispersion chapters hold what they say; pictures draw without a word.

The pictures themselves are looked at by people; here each is drawn once.
"""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from sharp_attention.figures import dispersion, logit_spread, sharp_functions
from sharp_attention.theory import dispersion as theory


def heads(num_items: list[int]) -> pd.DataFrame:
    """Four heads whose largest weight is 3/n."""
    return pd.DataFrame(
        {"layer": layer, "head": head, "num_items": n, "max_weight": 3 / n}
        for layer in (1, 2)
        for head in (1, 2)
        for n in num_items
    )


def draw_theorem(table: pd.DataFrame) -> Figure:
    return dispersion.draw_theorem(table, table, table)


PICTURES = [
    pytest.param(
        sharp_functions.draw_lookup,
        lambda: sharp_functions.lookup_weights([16, 64]),
        id="lookup",
    ),
    pytest.param(
        sharp_functions.draw_answers,
        lambda: sharp_functions.answers([2, 8], num_sets=10),
        id="answers",
    ),
    pytest.param(
        sharp_functions.draw_dependence,
        lambda: sharp_functions.number_of_sensitive_items(
            {"maximum": np.max, "average": np.mean}, [4, 8]
        ),
        id="dependence",
    ),
    pytest.param(
        dispersion.draw_largest_weight,
        lambda: dispersion.extremal_weights([2, 5], [1, 16]),
        id="largest-weight",
    ),
    pytest.param(
        dispersion.draw_sampled,
        lambda: dispersion.sampled_weights(seeds=[0]),
        id="sampled",
    ),
    pytest.param(
        dispersion.draw_entropy,
        lambda: dispersion.entropy_by_size([2, 5.69], [1, 16, 256]),
        id="entropy",
    ),
    pytest.param(draw_theorem, lambda: heads([16, 64]), id="theorem"),
    pytest.param(
        dispersion.draw_escapes,
        lambda: heads([16, 64]).assign(case="ALiBi"),
        id="escapes",
    ),
    pytest.param(
        dispersion.draw_distances,
        lambda: pd.DataFrame(
            {"seed": 0, "num_items": [16, 64], "distance": [1.0, 0.3]}
        ),
        id="distances",
    ),
    pytest.param(
        logit_spread.draw_reported,
        lambda: logit_spread.reported_weights(6.0, [1, 64]),
        id="reported",
    ),
    pytest.param(logit_spread.draw_ranges, logit_spread.quoted_ranges, id="ranges"),
    pytest.param(
        logit_spread.draw_price,
        lambda: logit_spread.price_of_sharpness([4, 16], num_draws=50),
        id="price",
    ),
]


@pytest.mark.parametrize(("draw", "table"), PICTURES)
def test_draws_with_a_message(draw, table):
    before = dict(plt.rcParams)
    figure = draw(table())
    assert all(axes.get_title(loc="left") for axes in figure.axes)
    assert dict(plt.rcParams) == before
    plt.close(figure)


class TestTables:
    def test_lookup_shares_add_up(self):
        table = sharp_functions.lookup_weights([1, 16, 1000])
        total = table["item_asked_for"] + table["all_others"]
        np.testing.assert_allclose(total, 1, rtol=1e-5)
        assert table["item_asked_for"].iloc[1] == pytest.approx(0.908, abs=5e-4)

    def test_average_is_exact_and_lookup_is_not(self):
        table = sharp_functions.answers([2, 512], num_sets=100)
        errors = table.set_index(["task", "num_items"])["error"]
        assert errors["average"].max() < 1e-6  # float32 weights
        assert errors["look-up", 2] < 0.02
        assert errors["look-up", 512] > 0.3

    def test_extremal_rows_attain_the_bound(self):
        table = dispersion.extremal_weights([0, 5], [1, 16, 1000])
        np.testing.assert_allclose(table["weight"], table["bound"], rtol=1e-5)

    def test_sampled_rows_lie_within_the_bounds(self):
        table = dispersion.sampled_weights(seeds=[0, 1])
        _, upper = theory.sharp_weight_bounds(5.0, table["num_items"].to_list())
        assert (table["top_weight"] <= upper).all()
        assert len(table) == 22

    def test_entropy_stays_below_that_of_equal_weights(self):
        table = dispersion.entropy_by_size([0, 5.69], [1, 16])
        assert (table["entropy_floor"] <= table["uniform"] + 1e-12).all()

    def test_formats_report_what_they_report(self):
        table = logit_spread.reported_weights(6.0, [1000])
        weights = table.set_index("number_format")["weight"]
        assert weights["bfloat16"] == 1
        assert weights["exact"] == pytest.approx(0.288, abs=5e-4)
        assert weights["float32"] == pytest.approx(weights["exact"], rel=1e-4)

    def test_quoted_spreads_are_those_of_the_paper(self):
        table = logit_spread.quoted_ranges()
        quoted = table[table["kind"] == "quoted"]
        columns = quoted[["smallest", "mean", "largest"]].to_numpy()
        assert columns.tolist() == [[2.28, 5.69, 14.78], [0.09, 5.82, 32.74]]

    def test_price_grows_as_first_order_says(self):
        table = logit_spread.price_of_sharpness([16, 4096], noise=0.01)
        # Five standard errors, and the first order's own relative error of 1 %.
        distance = (table["change"] - table["linear_theory"]).abs()
        allowed = 5 * table["standard_error"] + 0.01 * table["linear_theory"]
        assert (distance < allowed).all()
        # At 16 items the crowd's own noise adds 1/30 to the change.
        assert table["change"].iloc[1] > 2.5 * table["change"].iloc[0]
