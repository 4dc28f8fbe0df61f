"""Tables of trained heads hold what they say; pictures draw what they are given."""

import math

import jax
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from sharp_attention.figures import finite_samples as pictures
from sharp_attention.figures import style
from sharp_attention.tasks.single_location import SpikedSLR

RATIOS = (1.0, 4.0, 20.0)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def theory(ridges=("1", "best")) -> pd.DataFrame:
    rows = [
        {"task": task, "activation": name, "ridge": ridge, "sample_ratio": ratio}
        for task in ("spiked 1", "max")
        for name in pictures.ACTIVATIONS
        for ridge in ridges
        for ratio in RATIOS
    ]
    numbers = {"test_risk": 0.7, "training_loss": 0.3, "replicon": 0.5}
    table = pd.DataFrame(rows).assign(**numbers)
    return table.assign(is_trusted=table["sample_ratio"] > 1)


def dots(**columns) -> pd.DataFrame:
    table = theory().assign(start="informed", error=0.01, **columns)
    return table[table["sample_ratio"] == 4.0]


def words(figure) -> list[str]:
    return [text.get_text() for axes in figure.axes for text in axes.texts]


@pytest.mark.slow
def test_live_table_has_heads_where_they_were_asked_for():
    task = SpikedSLR(2.0, 2, math.sqrt(0.1))
    table = pictures.live_table(
        jax.random.key(0), task, (2.0, 4.0), (4.0,), dim=30, num_instances=4
    )
    assert table["predicted"].notna().all()
    trained = table.dropna()
    assert trained["sample_ratio"].tolist() == [4.0, 4.0]
    distance = (trained["test_risk"] - trained["predicted"]).abs()
    assert (distance < 5 * trained["error"] + 1 / 30).all()


def test_risks_have_a_panel_and_a_floor_for_each_task():
    floors = {"spiked 1": 0.5, "max": 0.1}
    figure = pictures.draw_risks(theory(), dots(), floors)
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        pictures.TITLES[task] for task in floors
    ]
    for axes, floor in zip(figure.axes, floors.values(), strict=True):
        levels = [set(line.get_ydata()) for line in axes.lines]
        assert {floor} in levels
    assert set(words(figure)) == {"softmax", "linear", "no risk below"}


def test_what_is_not_trusted_is_faint():
    figure = pictures.draw_risks(theory(), dots(), {"max": 0.1})
    full = [line for line in figure.axes[0].lines if line.get_alpha() is None]
    curves = [line for line in full if len(line.get_xdata()) == len(RATIOS)]
    assert len(curves) == 4
    for line in curves:
        assert np.isnan(line.get_ydata()[0])
        assert not np.isnan(line.get_ydata()[1:]).any()


def test_failure_shows_losses_and_replicon():
    rows = theory(("0.1",))
    both = [dots(ridge="0.1").assign(start=name) for name in ("informed", "random")]
    is_max = rows["task"] == "max"
    here = pd.concat(both)
    figure = pictures.draw_failure(rows[is_max], here[here["task"] == "max"])
    upper, lower = figure.axes
    assert upper.get_yscale() == lower.get_yscale() == "log"
    faces = {line.get_markerfacecolor() for line in upper.lines}
    assert {"none", style.COLOURS["softmax"]} <= faces
    assert "unstable above" in words(figure)


def test_live_picture_labels_both_activations():
    table = theory(("1",)).rename(columns={"training_loss": "predicted"})
    table = table[table["task"] == "max"].assign(error=0.01)
    assert words(pictures.draw_live(table)) == ["softmax", "linear"]
