"""The experiment on the ways out: its grid, absorbed and plain form, its measures."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

from sharp_attention.experiments import escape_table, escapes, training
from sharp_attention.experiments.files import csv_bytes
from sharp_attention.experiments.records import CellResult
from sharp_attention.experiments.workspace import Workspace
from sharp_attention.models.set_attention import SetAttention
from sharp_attention.tasks import max_retrieval as task


@pytest.fixture(scope="module")
def model() -> SetAttention:
    """Draw a small model whose logits rise with priority, and steeply."""
    drawn = SetAttention.initialise(jax.random.key(1), dim=16)
    return jax.tree.map(lambda leaf: 3 * leaf, drawn)


@pytest.fixture(scope="module")
def sets() -> task.Sets:
    sets = task.sample(jax.random.key(0), 8, 12, smallest_size=7)
    sizes = np.array([1, 2, 5, 7, 9, 10, 11, 12])
    return sets._replace(where=jnp.asarray(np.arange(12) < sizes[:, None]))


@pytest.mark.medium
@pytest.mark.parametrize("name", escapes.MAPS)
def test_absorbed_form_equals_the_plain_one(model, sets, name: str) -> None:
    """Also where the weights do not add up to 1 and count levels, not gaps."""
    items = task.item_features(sets)
    options = {"weights": escapes.MAPS[name], "where": sets.where}
    absorbed, plain = jax.jit(
        lambda m: (
            m(items, sets.query, **options),
            m.plain(items, sets.query, **options),
        )
    )(model)
    for ours, theirs in zip(absorbed, plain, strict=True):
        scale = max(1.0, float(jnp.abs(theirs).max()))
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5 * scale)
    if name in ("sigmoid", "linear", "stick-breaking"):
        mass = np.asarray(absorbed.weights.sum(-1))
        assert np.abs(mass - 1).max() > 0.05  # the case that is tested


def test_maps_are_softmax_where_they_should_be() -> None:
    row = np.random.default_rng(0).standard_normal(escapes.LARGEST_TRAINED)
    got = escapes.MAPS["log-n"](row)
    np.testing.assert_allclose(got, escapes.MAPS["softmax"](row), rtol=1e-5)


def test_full_grid_has_each_map_with_each_seed() -> None:
    cells = pd.DataFrame(escapes.grid("full", range(3)))
    assert len(cells) == 3 * len(escapes.MAPS)
    assert (cells.groupby("trained")["seed"].nunique() == 3).all()


@pytest.mark.medium
def test_measures_are_what_they_say(model) -> None:
    (row,) = escapes.evaluate(model, ("softmax",), 16, 2048, seed=3)
    key = jax.random.fold_in(jax.random.key(escapes._TEST_SEED + 3), 16)
    drawn = task.sample(jax.random.split(key, 1)[0], 2048, 16)
    output = model(task.item_features(drawn), drawn.query)
    winner = np.asarray(drawn.winner)
    weights = np.asarray(output.weights)
    of_maximum = weights[np.arange(2048), winner].mean()
    assert row["maximum_weight"] == pytest.approx(of_maximum, rel=1e-4)
    assert row["maximum_share"] == pytest.approx(of_maximum, rel=1e-4)
    right = int((np.argmax(output.class_logits, -1) == drawn.target).sum())
    assert abs(row["correct"] - right) <= 2  # a tie in float32 may go either way
    first = int((np.argmax(output.attention_logits, -1) == winner).sum())
    assert abs(row["top_is_maximum"] - first) <= 2


@pytest.mark.medium
def test_cells_become_tables(model, monkeypatch, tmp_path) -> None:
    losses = np.array([2.0, 1.0], np.float32)
    monkeypatch.setattr(escapes, "train", lambda *_, **__: (model, losses))
    monkeypatch.setattr(escapes, "NUM_ITEMS", {"full": (16,)})
    results = []
    for cell in escapes.grid("full", range(2))[:4]:
        outcome = escapes.compute(cell, Workspace(tmp_path))
        files = {name: tmp_path / f"{cell['trained']}-{name}" for name in outcome.files}
        for name, path in files.items():
            path.write_bytes(outcome.files[name])
        results.append(CellResult(cell, outcome.rows, files, 1.0, ""))
    found = escapes.collect(results)
    assert set(found) == {
        "accuracy.csv",
        "losses.csv",
        "weights/log-n.safetensors",
        "weights/entmax-1.5.safetensors",
    }
    (tmp_path / "accuracy.csv").write_bytes(found["accuracy.csv"])
    table = escape_table.read(tmp_path)
    assert table.groupby("trained").size()["softmax"] == 1 + len(escapes.SWAPPED)
    assert len(found["losses.csv"].splitlines()) == 1 + 2 * 4


def made_up(tmp_path, seeds: int) -> pd.DataFrame:
    rows = [
        {
            "trained": trained,
            "seed": seed,
            "num_steps": 1,
            "tested": tested,
            "num_items": 16,
            "num_sets": 1000,
            "correct": 500 + 10 * seed + (100 + seed) * (tested == "log-n"),
            "top_is_maximum": 900,
            "maximum_weight": 0.5,
            "maximum_share": 0.5,
        }
        for seed in range(seeds)
        for trained, tested in (
            ("softmax", "softmax"),
            ("softmax", "log-n"),
            ("log-n", "log-n"),
        )
    ]
    (tmp_path / "accuracy.csv").write_bytes(csv_bytes(rows))
    return escape_table.read(tmp_path)


def test_gains_are_paired(tmp_path) -> None:
    table = escape_table.retrained(made_up(tmp_path, 3)).set_index("name")
    assert table.loc["softmax", "accuracy"] == pytest.approx(51.0)
    assert table.loc["log-n", "gain"] == pytest.approx(10.1)
    # Student's quantile for three: 4.303 standard errors of 0.1 / sqrt 3.
    assert table.loc["log-n", "gain_error"] == pytest.approx(0.2484, rel=1e-3)
    assert table.loc["log-n", "error"] > 2.0
    swapped = escape_table.swapped(made_up(tmp_path, 3))
    assert set(swapped["name"]) == {"softmax", "log-n"}


def test_one_seed_is_not_enough(tmp_path) -> None:
    with pytest.raises(ValueError, match="table must be of two seeds at least"):
        escape_table.retrained(made_up(tmp_path, 1))


@pytest.mark.medium
def test_training_takes_the_map_that_it_is_given(monkeypatch) -> None:
    monkeypatch.setattr(training, "_STEPS_PER_CALL", 100)
    recipe = training.TrainingRecipe(seed=0, num_steps=100)
    (_, plain), (_, other) = (
        training.train(recipe, weights=escapes.MAPS[name])
        for name in ("softmax", "hard")
    )
    assert other[0] > plain[0] + 0.1  # no gradient for the logits
