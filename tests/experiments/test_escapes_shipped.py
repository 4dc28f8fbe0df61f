"""The shipped runs of the ways out: complete, and what weights and recipe give."""

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file

from sharp_attention.experiments import (
    artefacts,
    escape_table,
    escapes,
    places,
    training,
)
from sharp_attention.models.set_attention import SetAttention

FOLDER = places.shipped_folder("escapes")


@pytest.fixture(scope="module")
def shipped() -> pd.DataFrame:
    return escape_table.read()


def test_files_are_those_of_the_manifest() -> None:
    assert artefacts.damaged_files(FOLDER) == []


def test_the_table_is_the_full_grid(shipped) -> None:
    seeds = artefacts.read_manifest("escapes")["seeds"]
    cells = pd.DataFrame(escapes.grid("full", seeds))[["trained", "seed"]]
    groups = shipped[shipped["trained"] == shipped["tested"]]
    counts = groups.groupby(["trained", "seed"]).size()
    assert set(counts.index) == set(cells.itertuples(index=False, name=None))
    assert (counts == len(escapes.NUM_ITEMS["full"])).all()


@pytest.mark.medium
@pytest.mark.parametrize("name", escapes.SHIPPED_WEIGHTS)
def test_weights_are_evaluated_again(shipped, name: str) -> None:
    path = FOLDER / "weights" / f"{name}.safetensors"
    assert path.stat().st_size <= 500_000
    model = SetAttention.from_arrays(load_file(path))
    (row,) = escapes.evaluate(model, (name,), 16, 2048, seed=0)
    chosen = (shipped["trained"] == name) & (shipped["seed"] == 0)
    (expected,) = shipped[chosen & (shipped["num_items"] == 16)].to_dict("records")
    # What is left is how another processor rounds a tie.
    assert abs(row["correct"] - expected["correct"]) <= 4
    for field in ("maximum_weight", "maximum_share"):
        assert row[field] == pytest.approx(expected[field], rel=1e-3)


@pytest.mark.medium
@pytest.mark.parametrize(
    "name", ["sigmoid", pytest.param("sparsemax", marks=pytest.mark.slow)]
)
def test_first_steps_are_taken_again(monkeypatch, name: str) -> None:
    monkeypatch.setattr(training, "_STEPS_PER_CALL", 100)
    recipe = training.TrainingRecipe(seed=0, num_steps=100)
    _, losses = training.train(recipe, weights=escapes.MAPS[name])
    table = artefacts.read_table("escapes", "losses.csv")
    first = table[(table["trained"] == name) & (table["seed"] == 0)].iloc[:1]
    np.testing.assert_allclose(losses, first["loss"], rtol=1e-3)
