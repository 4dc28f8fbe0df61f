"""The experiment on max retrieval: its grid, its tests of a model, its files."""

import io
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load as load_safetensors

from sharp_attention.experiments import max_retrieval, training
from sharp_attention.experiments.records import CellResult
from sharp_attention.experiments.training import TrainingRecipe
from sharp_attention.experiments.workspace import Workspace
from sharp_attention.models.set_attention import SetAttention
from sharp_attention.tasks import max_retrieval as task

SIZE, NUM_SETS = 64, 1024


def arms(cells: list[dict]) -> pd.DataFrame:
    return pd.DataFrame(cells).drop(columns=["seed", "scale"])


def test_full_grid_is_ten_seeds_and_eight_side_arms_of_three() -> None:
    cells = max_retrieval.grid("full", range(10))
    main = [cell for cell in cells if cell["num_steps"] == 100_000]
    assert [cell["seed"] for cell in main] == list(range(10))
    assert {(c["smallest_size"], c["activation"]) for c in main} == {(5, "gelu")}
    side = [cell for cell in cells if cell not in main]
    counts = arms(side).value_counts()
    assert set(counts) == {3}
    lengths = {(n, s, "gelu") for n in (5_000, 10_000, 20_000) for s in (5, 16)}
    assert set(counts.index) == lengths | {(10_000, s, "relu") for s in (5, 16)}


def test_quick_grid_is_a_short_main_arm() -> None:
    (cell,) = max_retrieval.grid("quick", range(1))
    assert cell == max_retrieval.MAIN | {"scale": "quick", "seed": 0, "num_steps": 1500}


@pytest.mark.parametrize("scale", ["quick", "full"])
def test_every_cell_is_a_recipe(scale: str) -> None:
    for cell in max_retrieval.grid(scale, range(4)):
        TrainingRecipe(**{k: v for k, v in cell.items() if k != "scale"})


def test_number_of_sets() -> None:
    for num_items in max_retrieval.NUM_ITEMS["full"]:
        num_sets = max_retrieval._num_sets({"scale": "full"}, num_items)
        assert num_sets >= (2048 if num_items <= 1024 else 1024)


@pytest.fixture(scope="module")
def model() -> SetAttention:
    """Draw a small model whose logits rise with priority, and steeply."""
    drawn = SetAttention.initialise(jax.random.key(1), dim=16)
    return jax.tree.map(lambda leaf: 3 * leaf, drawn)


@pytest.fixture(scope="module")
def rows(model) -> dict[str, dict]:
    found = max_retrieval.evaluate(model, SIZE, NUM_SETS)
    return {row["rule"]: row for row in found}


@pytest.fixture(scope="module")
def by_hand(model) -> dict[str, dict[str, np.ndarray]]:
    """Measure the model on the same sets, as the docstring says, in NumPy."""
    per_block = max_retrieval._ITEMS_PER_BLOCK // SIZE
    key = jax.random.fold_in(jax.random.key(max_retrieval._TEST_SEED), SIZE)
    blocks = [
        task.sample(key, per_block, SIZE)
        for key in jax.random.split(key, NUM_SETS // per_block)
    ]
    sets = task.Sets(*(jnp.concatenate(c) for c in zip(*blocks, strict=True)))
    table = {}
    for rule, weigh in max_retrieval.RULES.items():
        output = model(task.item_features(sets), sets.query, weights=weigh)
        logits, weights = (
            np.asarray(a, np.float64) for a in (output.attention_logits, output.weights)
        )
        winner = np.asarray(sets.priority).argmax(axis=-1)
        logs = np.log(weights, where=weights > 0, out=np.zeros_like(weights))
        table[rule] = {
            "correct": np.argmax(output.class_logits, axis=-1) == sets.target,
            "top_is_maximum": logits.argmax(axis=-1) == winner,
            "top_weight": weights.max(axis=-1),
            "maximum_weight": weights[np.arange(NUM_SETS), winner],
            "entropy": -(weights * logs).sum(axis=-1),
            "spread": np.ptp(logits, axis=-1),
        }
    return table


@pytest.mark.medium
@pytest.mark.parametrize("rule", max_retrieval.RULES)
def test_rows_are_what_was_measured(rows, by_hand, rule: str) -> None:
    row, columns = rows[rule], by_hand[rule]
    for name in ("correct", "top_is_maximum"):
        # A tie in float32 may go either way once the computation is fused.
        assert abs(row[name] - columns[name].sum()) <= 2
    for name in ("top_weight", "maximum_weight", "entropy", "spread"):
        assert row[name] == pytest.approx(columns[name].mean(), rel=1e-4), name
    assert (row["num_items"], row["num_sets"]) == (SIZE, NUM_SETS)


def test_rules_meet_on_the_same_sets_and_logits(rows) -> None:
    softmax, adaptive = rows["softmax"], rows["adaptive"]
    for name in ("top_is_maximum", "spread"):
        assert softmax[name] == adaptive[name]
    assert adaptive["entropy"] < softmax["entropy"]


def test_sets_depend_on_the_seed(model, rows) -> None:
    again = max_retrieval.evaluate(model, SIZE, NUM_SETS)
    assert {row["rule"]: row for row in again} == rows
    other = max_retrieval.evaluate(model, SIZE, NUM_SETS, seed=1)
    assert other[0]["spread"] != again[0]["spread"]


def test_no_training_run_meets_the_test_sets() -> None:
    assert max_retrieval._TEST_SEED > 1000


def test_sets_come_in_whole_blocks(model) -> None:
    with pytest.raises(ValueError, match="num_sets must be a multiple of 2"):
        max_retrieval.evaluate(model, 16384, 3)


def test_heat_map_is_ordered_by_priority(model) -> None:
    image = max_retrieval.heat_map(model, 16, "softmax")
    assert image.shape == (32, 16)
    np.testing.assert_allclose(image.sum(axis=-1), 1, rtol=1e-5)  # all of the items
    key = jax.random.fold_in(jax.random.key(max_retrieval._TEST_SEED), 16)
    sets = task.sample(key, 32, 16)
    weights = np.asarray(model(task.item_features(sets), sets.query).weights)
    of_maximum = weights[np.arange(32), np.asarray(sets.winner)]
    np.testing.assert_allclose(image[:, -1], of_maximum, rtol=1e-5)


def test_weights_come_back(model) -> None:
    again = load_safetensors(max_retrieval.weights_bytes(model))
    for name, array in model.to_arrays().items():
        np.testing.assert_array_equal(again[name], array)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, model) -> None:
    """Let cells take no time: a model that is there already, two small sizes."""
    trained = (model, np.array([2.0, 1.0], np.float32))
    monkeypatch.setattr(max_retrieval, "train", lambda recipe, workspace: trained)
    monkeypatch.setattr(max_retrieval, "NUM_ITEMS", {"full": (SIZE,)})
    monkeypatch.setattr(max_retrieval, "_num_sets", lambda parameters, n: NUM_SETS)
    monkeypatch.setattr(max_retrieval, "heat_map", lambda *_: np.ones((32, 16)))


def finished(cell: dict, folder: Path) -> CellResult:
    """Compute a cell and put its files where a sweep would."""
    outcome = max_retrieval.compute(cell, Workspace(folder))
    files = {}
    for name, content in outcome.files.items():
        files[name] = folder / f"{cell['seed']}-{name}"
        files[name].write_bytes(content)
    return CellResult(cell, outcome.rows, files, 1.0, "")


def test_cells_become_tables_weights_and_heat_maps(small, tmp_path: Path) -> None:
    cells = [
        {"scale": "full", "seed": seed, **max_retrieval.MAIN, "num_steps": steps}
        for seed, steps in ((0, 100_000), (1, 100_000), (0, 5_000))
    ]
    results = [finished(cell, tmp_path) for cell in cells]
    assert set(results[0].files) == {"model.safetensors", "losses.csv", "heat-map.npz"}
    assert set(results[1].files) == {"model.safetensors", "losses.csv"}
    assert results[2].files == {}
    files = max_retrieval.collect(results)
    weights = [f"weights/seed-{seed}.safetensors" for seed in range(2)]
    assert set(files) == {"accuracy.csv", "losses.csv", "heat-map.npz", *weights}
    accuracy = pd.read_csv(io.BytesIO(files["accuracy.csv"]))
    assert accuracy.groupby(["num_steps", "seed"]).size().to_dict() == {
        (5_000, 0): 2,
        (100_000, 0): 2,
        (100_000, 1): 2,
    }
    losses = pd.read_csv(io.BytesIO(files["losses.csv"]))
    assert losses["step"].tolist() == [100, 200] * 2
    assert losses["loss"].tolist() == [2.0, 1.0] * 2
    assert losses["step"][0] == training.STEPS_PER_LOSS
    panels = np.load(io.BytesIO(files["heat-map.npz"]))
    assert panels["adaptive-64"].shape == (32, 16)


def test_short_runs_alone_have_a_table_only(small, tmp_path: Path) -> None:
    cell = {"scale": "full", "seed": 0, **max_retrieval.MAIN, "num_steps": 1500}
    files = max_retrieval.collect([finished(cell, tmp_path)])
    assert set(files) == {"accuracy.csv"}
