"""The pictures of the ways out say what their tables hold."""

import pandas as pd
import pytest
from matplotlib import pyplot as plt

from sharp_attention.experiments import two_level
from sharp_attention.figures import escapes
from sharp_attention.tasks.single_location import SpikedSLR
from sharp_attention.theory.single_location import population


@pytest.mark.parametrize("field", ["weight", "signal_to_noise"])
def test_leader_has_a_panel_for_each_family(field: str) -> None:
    names = ["softmax", "log-n", "top-4", "sigmoid"]
    table = two_level.table(1.5, (16, 256), names)
    figure = escapes.draw_leader(table, field, "A title")
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == list(escapes.FAMILIES)
    for axes, name in zip(figure.axes, names, strict=True):
        line, dots = axes.get_lines()
        assert dots.get_label() == name
        rows = table[table["name"] == name]
        assert list(dots.get_ydata()) == list(rows[field])
        assert list(line.get_ydata()) == list(rows[f"{field}_theory"])
    plt.close(figure)


def test_retrained_draws_every_map() -> None:
    names = ["softmax", "log-n", "sigmoid", "hard"]
    table = pd.DataFrame(
        [
            {"name": name, "num_items": n, "accuracy": 50.0, "error": 5.0}
            for name in names
            for n in (16, 64)
        ]
    )
    figure = escapes.draw_retrained(table)
    labels = [axes.get_legend_handles_labels()[1] for axes in figure.axes]
    assert labels == [["softmax", "log-n"], ["softmax", "sigmoid", "hard"]]
    plt.close(figure)


@pytest.mark.slow
def test_risks_are_above_bayes_and_softmax_on_it() -> None:
    table = escapes.risk_table(signal=4.0, length=5, width=3)
    assert list(dict.fromkeys(table["tokens"])) == ["2", "5", "2 or 5"]
    softmax = table[table["name"] == "softmax"]
    assert (softmax["excess"] < 1e-12).all()
    others = table[~table["name"].isin(["softmax", "log-n"])]
    assert (others["excess"] > 1e-5).all()
    bayes = population.bayes_risk(SpikedSLR(4.0, 5))
    assert set(table[table["tokens"] == "5"]["bayes"]) == {bayes}
    figure = escapes.draw_risks(table)
    assert len(figure.axes) == 3
    plt.close(figure)
