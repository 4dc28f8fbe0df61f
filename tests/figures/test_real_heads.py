"""Pictures of trained transformers, and the tables behind them."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from sharp_attention.experiments import spread_table
from sharp_attention.figures import real_heads


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def heads() -> pd.DataFrame:
    return spread_table.heads()


@pytest.fixture(scope="module")
def statistics(heads) -> pd.DataFrame:
    parts = [
        spread_table.over_heads(spread_table.averaged(heads, model))
        .reset_index()
        .assign(model=model)
        for model in real_heads.MODELS
    ]
    return pd.concat(parts, ignore_index=True)


def line(axes, index: int) -> np.ndarray:
    return np.asarray(axes.lines[index].get_ydata(), dtype=float)


def texts(axes) -> set[str]:
    return {text.get_text() for text in axes.texts}


def test_spreads_show_both_models_and_the_logarithm(statistics) -> None:
    (axes,) = real_heads.draw_spreads(statistics).axes
    for index, model in enumerate(real_heads.MODELS):
        means = statistics[statistics["model"] == model]["mean"]
        np.testing.assert_allclose(line(axes, index), means)
    np.testing.assert_allclose(line(axes, 2)[0], np.log(16))
    assert texts(axes) == {*real_heads.MODELS.values(), "ln n"}


def test_dilution_shows_weights_and_entropies_twice(statistics) -> None:
    left, right = real_heads.draw_dilution(statistics).axes
    decoder = statistics[statistics["model"] == "smollm2"]
    for axes, column in ((left, "max_weight"), (right, "entropy")):
        np.testing.assert_allclose(line(axes, 0), decoder[column])
        np.testing.assert_allclose(line(axes, 1), decoder[f"{column}_rest"])
        assert len(axes.lines) == 5
    assert left.get_yscale() == "log"


def test_needles_show_weight_and_probability() -> None:
    lookups = spread_table.lookups(spread_table.needles())
    left, right = real_heads.draw_needles(lookups, spread_table.answers()).axes
    facts = lookups[lookups["distractors"] == "facts"]
    np.testing.assert_allclose(line(left, 0), facts["target_weight"])
    assert len(line(right, 0)) == len(facts)
    assert texts(right) == set(real_heads.DISTRACTORS.values())


def test_ranges_hold_measured_quoted_and_limits_apart(heads) -> None:
    table = real_heads.measured_ranges(heads)
    assert table["kind"].value_counts().to_dict() == {
        "measured": 4,
        "quoted": 2,
        "exponential vanishes": 3,
        "largest difference": 3,
    }
    gemma = table[table["name"] == "Gemma 7B, as quoted"].iloc[0]
    assert (gemma["smallest"], gemma["mean"], gemma["largest"]) == (0.09, 5.82, 32.74)
    code = heads[(heads["model"] == "smollm2") & (heads["text"] == "code")]
    code = code[code["length"] == 4000]["spread_all"]
    ours = table.iloc[0]
    assert ours["largest"] == pytest.approx(code.max())
    assert ours["mean"] == pytest.approx(code.mean())
    (axes,) = real_heads.draw_ranges(table).axes
    assert len(axes.texts) == len(table)


def test_maps_are_drawn_and_tabulated() -> None:
    diagonal = {f"{kind}-1-2": np.eye(5) for kind in real_heads.KINDS}
    figure = real_heads.draw_maps([diagonal, diagonal], ["one", "other"])
    images = [axes for axes in figure.axes if axes.images]
    assert len(images) == 2 * len(real_heads.KINDS)
    table = real_heads.map_table(diagonal)
    assert len(table) == 5 * len(real_heads.KINDS)
    assert (table["query"] == table["key"]).all()
    assert (table["weight"] == 1).all()
    assert set(table["head"]) == {2}
