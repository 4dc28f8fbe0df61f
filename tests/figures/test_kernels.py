"""Pictures of the kernels, and the tables behind them."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from sharp_attention.figures import kernels


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def texts(figure):
    (axes,) = figure.axes
    return [text.get_text() for text in axes.texts]


def test_memory_is_quadratic_and_linear():
    table = kernels.memory([512, 1024])
    sizes = table.pivot(index="length", columns="implementation", values="mebibytes")
    growth = sizes.loc[1024] / sizes.loc[512]
    assert growth["dense"] == pytest.approx(4, rel=0.05)
    assert growth["rowblock"] == pytest.approx(2, rel=0.05)
    assert texts(kernels.draw_memory(table)) == [
        "whole matrix, ∝ n²",
        "row blocks, ∝ n",
    ]


def test_roofline_is_limited_by_the_slower_unit():
    table = kernels.roofline([16, 64, 128, 256]).set_index("dim")
    assert table.loc[16, "ratio"] == pytest.approx(2)  # exponentials only
    np.testing.assert_allclose(table.loc[[128, 256], "ratio"], 1.5)  # products only
    assert 1.5 < table.loc[64, "ratio"] < 2
    np.testing.assert_allclose(table["adaptive_matrix"] / table["plain_matrix"], 1.5)
    assert len(texts(kernels.draw_roofline(table.reset_index()))) == 4


def test_ratios_are_drawn_with_their_spread():
    table = pd.DataFrame(
        [
            {"length": n, "baseline": name, "ratio": r, "spread": 0.05}
            for name, r in (("plain", 1.2), ("torch", 1.7), ("xla", 0.4))
            for n in (1024, 4096)
        ]
    )
    figure = kernels.draw_ratios(table)
    (axes,) = figure.axes
    assert len(axes.containers) == 3
    assert axes.get_ylim()[0] == 0
    assert any("PyTorch" in text for text in texts(figure))
