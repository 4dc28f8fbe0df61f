"""Tables of population risks hold what they say; pictures draw what they are given."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from sharp_attention.figures import population as pictures

ACTIVATIONS = ("softmax", "softplus", "erf", "linear", "element-wise", "bayes")


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def risks(cells: dict[tuple[str, float, int, int], float]) -> pd.DataFrame:
    """Every activation has the same risk in a cell."""
    columns = ["task", "signal", "shortest", "longest"]
    return pd.DataFrame(
        {**dict(zip(columns, cell, strict=True)), "activation": name, "risk": risk}
        for cell, risk in cells.items()
        for name in ACTIVATIONS
    )


@pytest.fixture(scope="module")
def shipped() -> pd.DataFrame:
    return pictures.smallest_risks()


def words(figure) -> list[str]:
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def test_risk_curves_take_the_spiked_task_and_the_law_of_the_panel() -> None:
    table = risks(
        {
            ("spiked", 1.0, 2, 2): 0.5,
            ("spiked", 1.0, 1, 3): 0.4,
            ("max", 1.0, 2, 2): 0.3,
        }
    )
    curves = pictures.risk_curves(table, {"two": (2, 2), "random": (1, 3)})
    assert curves.groupby("panel")["risk"].unique().map(list).to_dict() == {
        "random": [0.4],
        "two": [0.5],
    }


def test_length_curves_take_fixed_lengths_of_one_signal() -> None:
    table = risks(
        {
            ("max", np.inf, 2, 2): 0.5,
            ("max", np.inf, 10, 10): 0.8,
            ("max", np.inf, 1, 3): 0.1,
            ("max", 2.0, 2, 2): 0.2,
            ("spiked", 2.0, 2, 2): 0.3,
        }
    )
    curves = pictures.length_curves(table)
    assert set(curves["risk"]) == {0.5, 0.8}
    assert set(curves["length"]) == {2, 10}


def test_penalty_is_over_the_mean_of_three_lengths() -> None:
    cells = {("spiked", 2.0, 1, 3): 0.4, ("spiked", 2.0, 2, 2): 0.3}
    cells |= {("spiked", 2.0, 3, 3): 0.6, ("spiked", 9.0, 1, 3): 0.1}
    penalties = pictures.length_penalties(risks(cells))
    assert set(penalties["signal"]) == {2.0}  # not where a length is missing
    np.testing.assert_allclose(penalties["mean_of_minima"], 0.3)
    np.testing.assert_allclose(penalties["penalty"], 0.1)


def test_shipped_risks_have_the_orderings_of_figure_2(shipped: pd.DataFrame) -> None:
    places = ["task", "signal", "shortest", "longest"]
    table = shipped.pivot(index=places, columns="activation", values="risk")
    np.testing.assert_allclose(table["softmax"], table["bayes"], rtol=1e-9, atol=1e-12)
    slack = 1e-9
    assert (table["bayes"] <= table["softplus"] + slack).all()
    assert (table["bayes"] <= table["element-wise"] + slack).all()
    assert (table["element-wise"] <= table["erf"] + slack).all()
    assert (table["erf"] <= table["linear"] + slack).all()


def test_shipped_penalties_are_none_for_softmax_only(shipped: pd.DataFrame) -> None:
    penalties = pictures.length_penalties(shipped)
    assert len(penalties.groupby(["task", "signal"])) == 6
    largest = penalties.groupby("activation")["penalty"].max()
    assert abs(largest["softmax"]) < 1e-9
    assert (largest.drop(["softmax", "bayes"]) > 1e-3).all()


def test_risk_curves_are_drawn_in_panels_with_labels_once(
    shipped: pd.DataFrame,
) -> None:
    laws = {"L = 2": (2, 2), "random": (1, 3)}
    figure = pictures.draw_risk_curves(pictures.risk_curves(shipped, laws))
    assert [axes.get_title(loc="left") for axes in figure.axes] == list(laws)
    assert sorted(words(figure)) == ["erf", "linear", "softmax", "softplus"]


def test_rates_are_drawn_with_their_asymptotic_forms(shipped: pd.DataFrame) -> None:
    curves = pictures.risk_curves(shipped, {"L = 3": (3, 3)})
    (axes,) = pictures.draw_rates(curves, length=3).axes
    assert len(axes.lines) == 8
    for exact, form in zip(axes.lines[:4], axes.lines[4:], strict=True):
        last = float(np.asarray(exact.get_ydata())[-1])
        assert float(np.asarray(form.get_ydata())[-1]) == pytest.approx(last, rel=0.3)


def test_length_curves_are_labelled(shipped: pd.DataFrame) -> None:
    figure = pictures.draw_length_curves(pictures.length_curves(shipped))
    assert sorted(words(figure)) == ["erf", "linear", "softmax", "softplus"]


def test_quadrature_is_cheaper_by_what_was_promised() -> None:
    table = pictures.benchmark_table()
    ratios = table["ratio"].str.replace(",", "").astype(float)
    milliseconds = table["quadrature, ms"]
    seconds = table["Monte Carlo, s"].str.replace(",", "").astype(float)
    # Both are rounded for reading: the seconds to 4 % where they are fewest.
    np.testing.assert_allclose(ratios, 1e3 * seconds / milliseconds, rtol=0.05)
    assert (ratios[table["task"] == "spiked"] > 10_000).all()
    assert (ratios[table["task"] == "max"] > 100).all()
    assert (table["quadrature error"].astype(float) < 1e-4).all()
