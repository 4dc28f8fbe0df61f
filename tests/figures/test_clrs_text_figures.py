"""Pictures of the CLRS-Text runs."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from sharp_attention.figures import clrs_text

SIZES = np.array([4, 8, 16])


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture
def by_size() -> pd.DataFrame:
    rows = []
    for place, task in enumerate(("minimum", "binary_search", "bfs")):
        for arm in clrs_text.ARMS:
            shares = np.linspace(0.9, 0.1, 3) / (1 + place)
            part = pd.DataFrame({"size": SIZES, "accuracy": shares})
            part["low"], part["high"] = shares - 0.05, shares + 0.05
            part["chance"], part["reachable"] = 0.1, 8 / np.maximum(8, SIZES)
            rows.append(part.assign(algorithm=task, arm=arm, seeds=5))
    return pd.concat(rows, ignore_index=True)


def test_accuracy_has_a_panel_for_each_task_and_five_lines_in_it(by_size) -> None:
    axes = clrs_text.draw_accuracy(by_size).axes
    titles = [panel.get_title(loc="left") for panel in axes]
    assert titles == ["minimum, 5 seeds", "binary search, 5 seeds", "bfs, 5 seeds", ""]
    for place, panel in enumerate(axes[:3]):
        lines = {line.get_label(): line.get_ydata() for line in panel.lines}
        assert list(lines) == [
            *clrs_text.ARMS,
            "one answer always",
            "answers of training",
        ]
        expected = np.linspace(0.9, 0.1, 3) / (1 + place)
        np.testing.assert_allclose(lines["softmax"], expected)
        np.testing.assert_allclose(lines["answers of training"], [1, 1, 0.5])
    legend = axes[3].get_legend()
    assert [text.get_text() for text in legend.get_texts()] == list(lines)


def test_heads_show_the_last_layer_alone() -> None:
    columns = {"entropy": 1.0, "spread": 5.0, "top_weight": 0.4, "highest_weight": 0.8}
    heads = pd.DataFrame(
        [
            {"arm": arm, "size": size, "layer": layer}
            | {name: value + layer for name, value in columns.items()}
            for arm in clrs_text.ARMS
            for size in SIZES
            for layer in range(2)
        ]
    )
    axes = clrs_text.draw_heads(heads).axes
    for panel, name in zip(axes, ("entropy", "spread", "highest_weight"), strict=True):
        assert len(panel.lines) == 3
        for line in panel.lines:
            np.testing.assert_allclose(line.get_ydata(), columns[name] + 1)
