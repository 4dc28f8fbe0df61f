import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from sharp_attention.attention import temperature
from sharp_attention.figures import temperature_fit

EXAMPLE = [3.0, 2.8, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]


@pytest.fixture(scope="module")
def optima():
    return temperature_fit.optima(0, sizes=(8, 64), rows_per_size=800)


def test_target_weighs_most_where_the_mean_logit_meets_its_own() -> None:
    table = temperature_fit.target_by_temperature(EXAMPLE, 1)
    best = temperature.optimal_inverse_temperature(EXAMPLE, 1)
    at = table["inverse_temperature"][table["target_weight"].argmax()]
    assert at == pytest.approx(best, abs=0.025)  # the grid's step
    mean = np.interp(best, table["inverse_temperature"], table["mean_logit"])
    assert mean == pytest.approx(2.8, abs=1e-3)


def test_optima_repeat_with_their_seed() -> None:
    settings = {"sizes": (8, 64), "rows_per_size": 800}
    one, two = (temperature_fit.optima(3, **settings) for _ in range(2))
    assert one.equals(two)
    assert not one.equals(temperature_fit.optima(4, **settings))


def test_optima_are_finite_and_few_enough(optima) -> None:
    assert np.isfinite(optima["best"]).all()
    kept = optima.groupby(["noise", "num_keys"]).size()
    assert (kept < 800).all()  # rows whose winner is in front have no optimum
    # Less noise misplaces the winner less often.
    assert kept[0.25, 64] < kept[0.5, 64]


def test_bins_hold_means_between_their_deciles(optima) -> None:
    bins = temperature_fit.optima_in_bins(optima, fewest=50)
    assert (bins["low"] < bins["best"]).all()
    assert (bins["best"] < bins["high"]).all()
    for row in bins.itertuples():
        rows = optima[optima["noise"] == row.noise]
        inside = rows[(rows["entropy"] * 2).round() == round(row.entropy * 2)]
        assert row.best == pytest.approx(inside["best"].mean())
        assert row.error == pytest.approx(inside["best"].sem())
        fitted = np.polyfit(rows["entropy"], rows["best"], 4)
        assert row.fitted == pytest.approx(np.polyval(fitted, row.entropy), abs=1e-6)


def test_pictures_say_their_message(optima) -> None:
    target = temperature_fit.target_by_temperature(EXAMPLE, 1)
    bins = temperature_fit.optima_in_bins(optima, fewest=50)
    figures = {
        "meets the target's": temperature_fit.draw_target(target, 2.8, 1.5775),
        "about twice": temperature_fit.draw_optima(bins),
    }
    for words, figure in figures.items():
        assert words in figure.axes[0].get_title(loc="left")
        assert figure.axes[-1].get_xlabel()
        assert all(axes.get_ylabel() for axes in figure.axes)
        plt.close(figure)


@pytest.fixture
def pairs() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    entropy = rng.uniform(0.5, 4.0, 500)
    return pd.DataFrame({"entropy": entropy, "best": 2 * entropy + rng.random(500)})


def test_pairs_are_summed_up_by_medians_and_deciles(pairs) -> None:
    bins = temperature_fit.pairs_in_bins(pairs)
    assert bins["rows"].sum() <= 500
    for row in bins.itertuples():
        inside = (pairs["entropy"] * 2).round() == round(row.entropy * 2)
        best = pairs["best"][inside]
        assert row.best == pytest.approx(np.median(best))
        assert row.low < row.best < row.high
        assert row.rows == len(best)
    assert temperature_fit.pairs_in_bins(pairs, fewest=501).empty


def test_fit_to_trained_models_is_drawn_where_it_was_seen(pairs) -> None:
    bins = temperature_fit.pairs_in_bins(pairs)
    figure = temperature_fit.draw_trained(bins, [0.0, 0.0, 0.0, 2.0, 0.5])
    (axes,) = figure.axes
    fitted = axes.lines[1]
    assert fitted.get_xdata().max() == bins["entropy"].max()
    np.testing.assert_allclose(fitted.get_ydata(), 2 * fitted.get_xdata() + 0.5)
    assert [text.get_text() for text in axes.texts] == ["our fit", "the paper's"]
    plt.close(figure)
