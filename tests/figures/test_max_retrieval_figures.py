"""Pictures of max retrieval, and the tables behind them."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from sharp_attention.figures import max_retrieval

SIZES = [16, 64, 256, 1024, 4096, 16384]


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def texts(axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def line(axes, index: int) -> np.ndarray:
    return np.asarray(axes.lines[index].get_ydata(), dtype=float)


@pytest.fixture
def by_size() -> pd.DataFrame:
    table = pd.DataFrame(index=pd.Index(SIZES, name="num_items"))
    # 2048 is a size of the experiment that the paper's six leave out.
    table = table.reindex(sorted([*SIZES, 2048]))
    table["softmax"] = np.linspace(99, 20, len(table))
    table["adaptive"] = table["softmax"] + 1
    table["softmax_error"] = table["adaptive_error"] = 0.5
    return table


def test_accuracy_shows_both_rules_and_the_paper(by_size) -> None:
    (axes,) = max_retrieval.draw_accuracy(by_size).axes
    np.testing.assert_allclose(line(axes, 0), by_size["softmax"])
    assert line(axes, 1).tolist() == [98.6, 94.3, 81.3, 53.8, 22.6, 12.4]
    np.testing.assert_allclose(line(axes, 2), by_size["adaptive"])
    assert set(texts(axes)) == {"softmax", "adaptive", "the paper's"}
    assert axes.get_ylabel() == "accuracy (%)"


@pytest.fixture
def panels() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {
        f"{rule}-{size}": rng.dirichlet(np.ones(16), size=32).astype(np.float16)
        for rule in ("softmax", "adaptive")
        for size in (16, 64)
    }


def test_heat_table_has_the_mean_of_each_rank(panels) -> None:
    table = max_retrieval.heat_table(panels)
    assert len(table) == 4 * 16
    first = table[(table["rule"] == "adaptive") & (table["num_items"] == 64)]
    by_rank = first.set_index("rank")["mean_weight"]
    expected = panels["adaptive-64"].astype(np.float64).mean(axis=0)
    np.testing.assert_allclose(by_rank.loc[1], expected[-1])
    np.testing.assert_allclose(by_rank.loc[16], expected[0])


def test_heat_maps_share_one_scale(panels) -> None:
    figure = max_retrieval.draw_heat_maps(panels)
    images = [axes.images[0] for axes in figure.axes if axes.images]
    assert len(images) == 4
    assert all(image.get_clim() == (0, 1) for image in images)
    np.testing.assert_array_equal(
        images[3].get_array(), panels["adaptive-64"].astype(np.float32)
    )


def test_limits_show_order_and_answers(by_size) -> None:
    diagnosis = by_size[["softmax"]].assign(ranked=99.0, toy=50.0, both=49.5)
    (axes,) = max_retrieval.draw_limits(diagnosis).axes
    np.testing.assert_allclose(line(axes, 0), by_size["softmax"])
    assert (line(axes, 3) == 99).all()
    heights = [text.xy[1] for text in axes.texts]
    assert np.diff(heights).min() > 6  # labels keep clear of each other


def test_arms_are_drawn_by_length() -> None:
    rows = [
        {"num_steps": steps, "num_items": n, "softmax": 60.0, "difference": steps / 1e4}
        for steps in (5_000, 100_000)
        for n in SIZES
    ]
    above, below = max_retrieval.draw_arms(pd.DataFrame(rows)).axes
    assert above.get_ylabel() == "softmax accuracy (%)"
    assert line(below, 0).max() == 0.5
    assert line(below, 1).max() == 10
    assert {"5k steps", "100k steps"} <= set(texts(above))


def test_live_run_shows_loss_and_accuracy() -> None:
    rows = [
        {"num_items": n, "rule": rule, "accuracy": 90.0}
        for n in (16, 64, 256)
        for rule in ("softmax", "adaptive")
    ]
    losses = np.array([2.0, 1.0, 0.5])
    left, right = max_retrieval.draw_live(losses, pd.DataFrame(rows)).axes
    np.testing.assert_allclose(line(left, 0), losses)
    assert left.lines[0].get_xdata().tolist() == [100, 200, 300]
    assert set(texts(right)) == {"softmax", "adaptive"}


def test_judged_rules_are_labelled() -> None:
    rows = [
        {"num_items": n, "rule": rule, "mean": 50.0, "error": 1.0}
        for n in (64, 1024)
        for rule in ("softmax", "published", "fitted")
    ]
    (axes,) = max_retrieval.draw_judged(pd.DataFrame(rows)).axes
    assert set(texts(axes)) == {"softmax", "the paper's rule", "our rule"}
