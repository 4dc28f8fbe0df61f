"""Moves of fields and valleys of one text."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from sharp_attention.algorithms.left_out import LeftOut
from sharp_attention.channels import proximal
from sharp_attention.figures import cavity


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture
def moves() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    before, values = rng.standard_normal((2, 5, 2))
    target = rng.standard_normal(5)
    predicted = proximal.solve("linear", before, values, target, 0.3, 0.4)
    found = LeftOut(before, values, predicted.logits, predicted.value, target)
    return cavity.left_out_table(found, predicted)


def test_moves_are_counted_from_the_cavity(moves):
    assert moves["field"].value_counts().to_dict() == {"score": 10, "value": 10}
    np.testing.assert_allclose(moves["predicted"], moves["measured"])
    assert moves["measured"].abs().min() > 0


def test_moves_have_a_panel_for_each_field(moves):
    figure = cavity.draw_left_out(moves)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["scores", "values"]


def test_cost_is_that_of_the_proximal_problem():
    """Its minimum is the envelope of the library, on the grid."""
    table = cavity.valley_table(0.4, (0.5, -0.2), 1.5, (0.3, 2.0), 0.7)
    for variance, rows in table.groupby("variance"):
        fields = [0.2, -0.2], [0.5, -0.2]
        exact = proximal.solve("softmax", *fields, 1.5, variance, 0.7)
        assert rows["cost"].min() == pytest.approx(float(exact.envelope), abs=1e-3)


def test_a_soft_spring_has_two_valleys_and_a_stiff_one_has_not():
    table = cavity.valley_table(0.3, (0.5, 0.3), 2.5, (0.3, 30.0), 2.0)
    for variance, wanted in ((0.3, 1), (30.0, 2)):
        cost = table.loc[table["variance"] == variance, "cost"].to_numpy()
        turns = (cost[1:-1] < cost[:-2]) & (cost[1:-1] < cost[2:])
        assert turns.sum() == wanted


def test_valleys_are_labelled_by_their_softness():
    table = cavity.valley_table(0.3, (0.5, 0.3), 2.5, (0.3, 30.0), 2.0)
    texts = [text.get_text() for text in cavity.draw_valleys(table).axes[0].texts]
    assert texts == ["V = 0.3", "V = 30"]
