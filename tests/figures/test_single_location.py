"""Tables of the needle task hold what they say; pictures draw what they are given."""

import jax
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from sharp_attention.figures import single_location
from sharp_attention.tasks.single_location import MaxSLR, Samples, sample
from sharp_attention.theory.single_location import readers


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def samples() -> Samples:
    return sample(jax.random.key(0), MaxSLR(np.inf, 5), 8, 20)


def words(figure) -> set[str]:
    return {text.get_text() for axes in figure.axes for text in axes.texts}


def test_needles_have_the_scores_of_the_first_texts(samples: Samples) -> None:
    table = single_location.needle_table({"max": samples}, num_texts=3)
    assert len(table) == 3 * 5
    scores = np.asarray(samples.tokens[:3] @ samples.key) / np.sqrt(8)
    np.testing.assert_allclose(table["score"], scores.ravel(), rtol=1e-4, atol=1e-5)
    # In the max task without doubt the needle is the highest of its text.
    highest = table.loc[table.groupby("text")["score"].idxmax()]
    assert highest["is_needle"].all()
    assert table["is_needle"].sum() == 3


def test_needles_are_drawn_for_each_task(samples: Samples) -> None:
    table = single_location.needle_table({"one": samples, "two": samples})
    figure = single_location.draw_needles(table)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["one", "two"]
    assert words(figure) == {"answer"}
    hay, needle = figure.axes[0].lines
    assert len(hay.get_xdata()) == 4 * 4
    assert len(needle.get_xdata()) == 4


def test_calibration_counts_every_token_once() -> None:
    posterior = np.array([[0.75, 0.25], [0.25, 0.75], [0.8, 0.2], [0.1, 0.9]])
    position = np.array([0, 1, 1, 1])
    table = single_location.calibration_table(posterior, position, num_bins=2)
    assert table["count"].tolist() == [4, 4]
    np.testing.assert_allclose(table["probability"], [0.2, 0.8])
    np.testing.assert_allclose(table["frequency"], [0.25, 0.75])
    variance = 2 * 0.75 * 0.25 + 0.8 * 0.2 + 0.1 * 0.9
    np.testing.assert_allclose(table["error"], np.sqrt(variance) / 4)


def test_calibration_shows_an_overconfident_reader() -> None:
    rng = np.random.default_rng(0)
    truth = np.full((4_000, 2), 0.5)
    position = rng.integers(0, 2, 4_000)
    boasting = np.where(truth, [0.9, 0.1], 0)
    table = single_location.calibration_table(boasting, position, num_bins=2)
    gap = np.abs(table["frequency"] - table["probability"])
    assert (gap > 5 * table["error"]).all()


def test_calibration_leaves_out_empty_bins() -> None:
    posterior = np.array([[0.95, 0.05], [0.05, 0.95]])
    table = single_location.calibration_table(posterior, np.array([0, 1]))
    assert table["count"].tolist() == [2, 2]
    assert table.notna().all().all()
    axes = single_location.draw_calibration(table).axes[0]
    assert len(axes.containers) == 1  # dots with their errors


def test_risks_are_mean_squares_with_their_errors() -> None:
    target = np.array([1.0, -1.0, 2.0, 0.0])
    table = single_location.risk_table({"zero": 0 * target, "all": target}, target)
    assert table["reader"].tolist() == ["zero", "all"]
    np.testing.assert_allclose(table["risk"], [1.5, 0.0])
    squares = target**2
    np.testing.assert_allclose(table["error"], [squares.std(ddof=1) / 2, 0.0])


def test_reader_curves_meet_where_there_is_no_signal() -> None:
    table = single_location.reader_curves(length=3, signals=[0.0, 30.0])
    risks = table.pivot(index="signal", columns="reader", values="risk")
    none = risks.loc[0.0]
    assert none["posterior mean"] == pytest.approx(readers.even_risk(3))
    assert none["bets on the highest"] == pytest.approx(2 * 2 / 3)
    much = risks.loc[30.0]
    assert much["posterior mean"] < much["bets on the highest"] < 0.01


def test_readers_are_labelled_and_measured() -> None:
    curves = pd.DataFrame(
        {"reader": name, "signal": [0.0, 20.0], "risk": [1.0, 0.5]}
        for name in single_location.READERS
    ).explode(["signal", "risk"])
    measured = pd.DataFrame(
        {"reader": list(single_location.READERS), "risk": 0.9, "error": 0.01}
    )
    figure = single_location.draw_readers(curves.astype({"risk": float}), measured, 4.0)
    assert words(figure) == set(single_location.READERS)
    assert len(figure.axes[0].containers) == 3
