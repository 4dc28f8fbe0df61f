"""Pictures of the landscape, on small tables."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from sharp_attention.experiments import landscape_table
from sharp_attention.figures import landscape as pictures
from sharp_attention.tasks.single_location import SpikedSLR

TASK = SpikedSLR(10.0, 2)


def minima() -> pd.DataFrame:
    """Two matched minima and a swapped one; a descent without an end."""
    setting = ("spiked", 10.0, 2, 4.0, 1.0, "linear", "best")
    table = pd.DataFrame([setting] * 4, columns=landscape_table.SETTING)
    return table.assign(
        minimum=[0, 1, 2, -1],
        family=["matched", "matched", "swapped", "not converged"],
        random=[4, 3, 2, 1],
        informed=[2, 0, 0, 0],
        swapped=[0, 0, 2, 0],
        m_kv=[0.1, 0, 1, np.nan],
        m_vk=[-0.2, 0, 1, np.nan],
        q_kv=[0.0, 0, 0, np.nan],
    )


def test_summary_counts_what_ended_where():
    (row,) = landscape_table.summary(minima()).to_dict("records")
    assert row["minima"] == 3
    assert row["lowest"] == "matched"
    assert row["cross"] == 0.2
    assert row["random"] == 10
    assert row["random_best"] == 0.4
    assert row["random_matched"] == 0.7
    assert row["random_swapped"] == 0.2
    assert row["informed_best"] == 1.0
    assert row["swapped_swapped"] == 1.0


def test_endings_add_up_and_are_drawn():
    table = pictures.endings(minima(), {"all texts": {"signal": 10.0, "ridge": 1.0}})
    assert table["share"].tolist() == pytest.approx([0.4, 0.3, 0.2, 0.1])
    figure = pictures.draw_endings(table)
    assert figure.axes[0].get_title(loc="left") == "all texts"
    plt.close(figure)


def test_cross_overlaps_are_drawn():
    table = pd.DataFrame(
        {"activation": "softmax", "dim": [50, 200], "size": [0.2, 0.1], "error": 0.01}
    )
    figure = pictures.draw_cross_overlaps(table)
    assert figure.axes[0].texts[0].get_text() == "softmax"
    plt.close(figure)


def test_maps_are_symmetric_and_lowest_where_the_best_head_is():
    table = pictures.key_map(TASK, "linear", num_points=9)
    assert len(table) == 81
    wide = table.pivot(index="m_kv", columns="m_k", values="risk")
    np.testing.assert_allclose(wide, wide[::-1])
    lowest = table.loc[table["risk"].idxmin()]
    assert lowest["m_k"] > 1
    assert lowest["m_kv"] == 0


def test_maps_and_risks_are_drawn_with_their_paths():
    paths = pd.DataFrame(
        {
            "activation": "linear",
            "start": ["random", "random", "swapped", "swapped"],
            "path": 0,
            "step": [0, 1, 0, 1],
            "m_k": [0.0, 1.0, 0.0, 0.1],
            "m_kv": [0.0, 0.1, 1.0, 2.0],
            "risk": [1.0, 0.3, 1.0, 0.5],
        }
    )
    figure = pictures.draw_map(pictures.key_map(TASK, "linear", num_points=9), paths)
    assert len(figure.axes) == 1
    plt.close(figure)
    figure = pictures.draw_risks(paths, {"linear": 0.2})
    assert len(figure.axes[0].lines) == 3
    plt.close(figure)
