"""Tables of the Bayes-optimal reader hold what they say; pictures draw them."""

import math

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from sharp_attention.figures import bayes_optimal as pictures
from sharp_attention.tasks.single_location import SpikedSLR
from sharp_attention.theory.single_location import state_evolution

NOISE = math.sqrt(0.1)
TASK = SpikedSLR(1.0, 2, NOISE)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def distances() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "sample_ratio": [1.0, 1.0, 1.0, 2.0, 2.0, 2.0],
            "reader": 2 * list(pictures.READERS),
            "risk": [0.9, 0.88, 0.79, 0.77, 0.73, 0.57],
            "distance": [0.16, 0.13, 0.0, 0.43, 0.34, 0.0],
        }
    )


def test_branches_are_those_of_state_evolution() -> None:
    quiet = SpikedSLR(0.1, 3, 0.01)
    table = pictures.branch_table(quiet, [1.3, 2.0])
    assert table["start"].tolist() == 2 * ["uninformed", "informed"]
    here = table[table["sample_ratio"] == 1.3].set_index("start")
    found = state_evolution.solve(quiet, 1.3)
    for start, branch in found.branches.items():
        assert here.loc[start, "risk"] == branch.test_risk
        assert here.loc[start, "free_entropy"] == branch.free_entropy
    assert table["verdict"].tolist() == 2 * ["hard (informed wins)"] + 2 * ["unique"]
    left, right = pictures.draw_branches(table).axes
    assert len(left.lines) == 2
    assert len(left.patches) == 1  # the hard phase
    gaps = np.asarray(right.lines[0].get_ydata())
    assert gaps[0] > 0
    assert gaps[1] == pytest.approx(0, abs=1e-6)


@pytest.mark.medium
def test_messages_are_drawn_with_their_errors() -> None:
    table = pictures.message_table({"spiked": TASK}, [4.0], dim=40, num_instances=3)
    assert table["quantity"].tolist() == list(pictures.SHOWN)
    theory = state_evolution.solve(TASK, 4.0, init="uninformed")
    assert table["predicted"].tolist() == [
        theory.overlaps.m_k,
        theory.overlaps.m_v,
        theory.test_risk,
    ]
    assert (table["error"] > 0).all()
    line = pictures.message_table({"spiked": TASK}, [], 40, 3, between=[1.0, 2.0])
    assert line["measured"].isna().all()
    assert line["predicted"].notna().all()
    figure = pictures.draw_messages(table)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == list(pictures.SHOWN)


def test_distances_are_drawn_for_all_readers() -> None:
    left, right = pictures.draw_distances(distances(), TASK).axes
    assert len(left.lines) == len(pictures.READERS) + 1  # and the limit
    assert len(right.lines) == len(pictures.READERS) - 1


@pytest.mark.slow
def test_distances_are_relative_to_the_best_reader() -> None:
    table = pictures.distance_table(TASK, [2.0], num_points=2**10)
    risks = table.set_index("reader")["risk"]
    assert risks["Bayes"] < risks["best ridges"] < risks["ridge 1"]
    expected = (risks - 0.1) / (risks["Bayes"] - 0.1) - 1
    np.testing.assert_allclose(table["distance"], expected, rtol=1e-12)
