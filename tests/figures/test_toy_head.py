"""The toy of max retrieval, simulated and drawn."""

import numpy as np
import pytest
from matplotlib import pyplot as plt

from sharp_attention.figures import toy_head


@pytest.fixture(scope="module")
def votes():
    return toy_head.simulated_votes(0, sizes=(64, 512), num_sets=400)


def test_gaps_are_distances_from_the_top() -> None:
    gaps = toy_head.gaps(0, 5, 40, slope=7.0)
    assert (gaps.min(axis=-1) == 0).all()
    assert gaps.max() < 7
    np.testing.assert_array_equal(gaps, toy_head.gaps(0, 5, 40, slope=7.0))


def test_softmax_votes_are_those_of_the_closed_form(votes) -> None:
    rows = votes[votes["rule"] == "softmax"]
    assert (np.abs(rows["accuracy"] - rows["theory"]) < 5 * rows["error"] + 0.1).all()


def test_adaptive_votes_are_better_where_softmax_disperses(votes) -> None:
    wide = votes.pivot(index="num_items", columns="rule", values="accuracy")
    assert wide["adaptive"][512] > wide["softmax"][512] + 10


def test_picture_shows_both_rules(votes) -> None:
    figure = toy_head.draw_votes(votes)
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.texts] == ["softmax", "adaptive"]
    assert axes.get_xlabel()
    plt.close(figure)
