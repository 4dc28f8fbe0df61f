"""The shipped runs of max retrieval: complete, small, and what the weights give."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

from sharp_attention.experiments import (
    artefacts,
    max_retrieval,
    places,
    retrieval_table,
    temperature_fit,
    training,
)
from sharp_attention.models.set_attention import SetAttention
from sharp_attention.tasks import max_retrieval as task

FOLDER = places.shipped_folder("max-retrieval")
CELL = ["num_steps", "smallest_size", "activation", "seed"]


@pytest.fixture(scope="module")
def shipped() -> pd.DataFrame:
    return retrieval_table.read()


def test_files_are_those_of_the_manifest() -> None:
    assert artefacts.damaged_files(FOLDER) == []


def test_the_table_is_the_full_grid(shipped) -> None:
    cells = pd.DataFrame(max_retrieval.grid("full", range(10)))[CELL]
    groups = shipped.groupby(CELL).size()
    assert set(groups.index) == set(cells.itertuples(index=False, name=None))
    assert (groups == 2 * len(max_retrieval.NUM_ITEMS["full"])).all()


def test_there_are_enough_sets(shipped) -> None:
    small = shipped["num_items"] <= 1024
    assert (shipped["num_sets"][small] >= 2048).all()
    assert (shipped["num_sets"][~small] >= 1024).all()


def test_weights_take_half_a_megabyte_each() -> None:
    files = sorted((FOLDER / "weights").iterdir())
    assert len(files) == 10
    assert all(file.stat().st_size <= 500_000 for file in files)


@pytest.mark.medium
@pytest.mark.parametrize(
    ("seed", "num_items"),
    [(0, 16), (7, 16), (0, 1024), pytest.param(7, 1024, marks=pytest.mark.slow)],
)
def test_two_seeds_are_evaluated_again(shipped, seed: int, num_items: int) -> None:
    num_sets = 2048
    rows = max_retrieval.evaluate(temperature_fit.load_model(seed), num_items, num_sets)
    main = retrieval_table.main_arm(shipped)
    for row in rows:
        is_same = (main["seed"] == seed) & (main["num_items"] == num_items)
        (expected,) = main[is_same & (main["rule"] == row["rule"])].to_dict("records")
        # The sets are the same, so this is far inside the interval of the accuracy;
        # what is left is how another processor rounds a tie.
        share = expected["correct"] / num_sets
        error = np.sqrt(share * (1 - share) * num_sets)
        assert abs(row["correct"] - expected["correct"]) <= 0.5 + error / 2
        for name in ("top_weight", "maximum_weight", "entropy", "spread"):
            assert row[name] == pytest.approx(expected[name], rel=1e-3), name


def test_absorbed_form_equals_the_plain_one_on_trained_weights() -> None:
    """In double precision: trained logits reach 700, where float32 settles no tie."""
    sets = task.sample(jax.random.key(0), 64, 16)
    items, query = np.asarray(task.item_features(sets)), np.asarray(sets.query)
    arrays = temperature_fit.load_model(0).to_arrays()
    with jax.enable_x64(True):
        wide = {name: array.astype(np.float64) for name, array in arrays.items()}
        model = SetAttention.from_arrays(wide)
        inputs = jnp.asarray(items, jnp.float64), jnp.asarray(query, jnp.float64)
        absorbed, plain = jax.jit(lambda m: (m(*inputs), m.plain(*inputs)))(model)
    for ours, theirs in zip(absorbed, plain, strict=True):
        assert theirs.dtype == np.float64
        scale = float(np.abs(theirs).max())
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9 * scale)


@pytest.mark.medium
def test_shipped_heat_maps_are_those_of_seed_zero() -> None:
    panels = np.load(FOLDER / "heat-map.npz")
    image = max_retrieval.heat_map(temperature_fit.load_model(0), 16, "adaptive")
    # They are kept in half precision.
    np.testing.assert_allclose(panels["adaptive-16"], image, atol=2e-3)
    assert len(panels.files) == 16


@pytest.mark.medium
def test_losses_of_the_first_steps_are_computed_again(monkeypatch) -> None:
    """The first 300 of the 100,000 steps of seed 0."""
    # As the tests of training have it, so that XLA compiles once for both.
    monkeypatch.setattr(training, "_STEPS_PER_CALL", 100)
    _, losses = training.train(training.TrainingRecipe(seed=0, num_steps=300))
    shipped = artefacts.read_table("max-retrieval", "losses.csv")
    expected = shipped[shipped["seed"] == 0].sort_values("step")["loss"][:3]
    np.testing.assert_allclose(losses, expected, rtol=1e-3)


def test_losses_are_complete_and_fall() -> None:
    table = artefacts.read_table("max-retrieval", "losses.csv")
    assert (table.groupby("seed").size() == 1000).all()
    first, last = (table[table["step"] == step] for step in (100, 100_000))
    assert last["loss"].max() < 0.1 * first["loss"].min()
