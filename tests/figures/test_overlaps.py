"""Tables of heads with given overlaps hold what they say; pictures show them."""

import jax
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from sharp_attention.figures import overlaps as pictures
from sharp_attention.tasks.single_location import Overlaps, SpikedSLR
from sharp_attention.theory.single_location import population

TASK = SpikedSLR(3.0, 5)
MIXED = Overlaps(1.1, 1.8, 0.8, 1.0, m_kv=0.3, m_vk=-0.2, q_kv=0.25)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def heads() -> pd.DataFrame:
    return pictures.heads_table(
        jax.random.key(0), TASK, MIXED, dims=(6,), num_heads=3, num_texts=4_000
    )


@pytest.fixture(scope="module")
def recipe() -> pd.DataFrame:
    return pictures.recipe_table(
        jax.random.key(1), TASK, dims=(10, 1_000), num_heads=30
    )


def test_heads_have_the_risk_of_their_overlaps(heads: pd.DataFrame) -> None:
    exact = population.risk(TASK, "softmax", MIXED)
    assert (np.abs(heads["risk"] - exact) < 5 * heads["error"]).all()
    # The three cross overlaps matter: the manifold has another risk.
    manifold = population.risk(TASK, "softmax", Overlaps(1.1, 1.8, 0.8, 1.0))
    pooled = heads["risk"].mean()
    error = np.sqrt(np.mean(heads["error"] ** 2) / 3)
    assert abs(pooled - manifold) > 5 * error


def test_heads_differ_from_each_other(heads: pd.DataFrame) -> None:
    assert heads["risk"].nunique() == 3
    assert heads["head"].tolist() == [0, 1, 2]


def test_heads_are_drawn_around_the_exact_risk(heads: pd.DataFrame) -> None:
    (axes,) = pictures.draw_heads(heads, exact=0.75).axes
    assert [text.get_text() for text in axes.texts] == ["exact"]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["D = 6"]
    assert len(axes.containers) == 1  # dots with their errors


def test_recipe_concentrates(recipe: pd.DataFrame) -> None:
    scatter = recipe.groupby("dim")[["m_k", "q_k", "risk"]].std()
    # Ten times smaller in theory; thirty heads fix a ratio to 18 %.
    assert (scatter.loc[10] > 5 * scatter.loc[1_000]).all()
    typical = recipe[recipe["dim"] == 1_000].mean()
    assert typical["m_k"] == pytest.approx(0.5, abs=5 / np.sqrt(30_000))
    assert typical["q_k"] == pytest.approx(1.25, abs=5 * np.sqrt(3 / 30_000))


def test_recipe_is_drawn_with_its_limit(recipe: pd.DataFrame) -> None:
    (axes,) = pictures.draw_recipe(recipe, limit=0.8).axes
    dots, line = axes.lines
    assert len(dots.get_xdata()) == len(recipe)
    assert set(line.get_ydata()) == {0.8}
    assert [text.get_text() for text in axes.texts] == ["mean overlaps"]
