"""The CLRS-Text experiment: its grids, its scores, its files."""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sharp_attention.experiments import (
    catalogue,
    clrs_decoding,
    clrs_scoring,
    clrs_text,
    clrs_training,
)
from sharp_attention.experiments.clrs_training import Recipe
from sharp_attention.experiments.records import CellResult
from sharp_attention.experiments.workspace import Workspace
from sharp_attention.models.decoder import Decoder
from sharp_attention.tasks import clrs_generator
from sharp_attention.tasks import clrs_text as task

SAMPLES = task.recorded()
CELL = {
    "scale": "full",
    "algorithm": "minimum",
    "seed": 0,
    "num_steps": 50,
    "batch": 4,
    "texts_per_size": 2,
    "dim": 16,
    "num_layers": 2,
    "num_heads": 2,
}


def example(seed: int) -> task.Example:
    """Make up a question whose answer a wild guess finds often: one of two digits."""
    rng = np.random.default_rng(seed)
    numbers = " ".join(str(n) for n in rng.integers(10, size=4))
    return task.Example(f"f: {numbers}\nm:\n", f"{rng.integers(2)}")


@pytest.fixture(scope="module")
def texts() -> task.Batch:
    return task.encode([example(seed) for seed in range(64)], 20)


@pytest.fixture(scope="module")
def model(texts) -> Decoder:
    """Draw a model that knows the two answers and nothing else."""
    recipe = Recipe(**{n: v for n, v in CELL.items() if n != "scale"})
    drawn = clrs_training.initial_model(recipe)
    arrays = {name: array.copy() for name, array in drawn.to_arrays().items()}
    # The stream's first direction is large and stays so: it forbids the rest.
    arrays["embedding"][:, 0] = 50
    for block in range(2):
        arrays[f"blocks.{block}.output_map"][:, 0] = 0
        arrays[f"blocks.{block}.outer"][:, 0] = 0
    answers = np.unique(texts.characters[texts.is_answer])
    arrays["readout"][0] = -1e3
    arrays["readout"][0, answers] = 0
    return drawn.from_arrays(arrays)


def test_full_grid_has_five_seeds_of_two_tasks_and_two_of_the_others() -> None:
    cells = pd.DataFrame(clrs_text.grid("full", range(5)))
    seeds = cells.groupby("algorithm")["seed"].nunique()
    assert list(seeds.index.sort_values()) == sorted(clrs_text.TASKS)
    assert seeds["minimum"] == seeds["binary_search"] == 5
    assert (seeds.drop(["minimum", "binary_search"]) == 2).all()


@pytest.mark.parametrize("name", ["clrs-text", "clrs-text-large"])
@pytest.mark.parametrize("scale", ["quick", "full"])
def test_every_cell_is_a_recipe(name: str, scale: str) -> None:
    experiment = catalogue.find(name)
    assert experiment.name == name
    for cell in experiment.grid(scale, range(2)):
        Recipe(**{n: v for n, v in cell.items() if n != "scale"})


def test_large_grid_is_listed_nowhere_and_larger_everywhere() -> None:
    assert "clrs-text-large" not in catalogue.names()
    large = catalogue.find("clrs-text-large").grid("full", range(5))
    assert len(large) == 25
    small = clrs_text.grid("full", range(5))
    for name in ("num_steps", "batch", "dim", "num_layers"):
        assert min(c[name] for c in large) > max(c[name] for c in small)


def test_arms_share_the_weights_that_softmax_trained() -> None:
    assert clrs_text.ARMS == {
        "softmax": ("softmax", "softmax"),
        "adaptive-test": ("softmax", "adaptive"),
        "adaptive": ("adaptive", "adaptive"),
    }


@pytest.mark.medium
@pytest.mark.parametrize("rule", ["softmax", "adaptive"])
def test_one_pass_scores_what_greedy_decoding_writes(model, texts, rule: str) -> None:
    row, heads = clrs_scoring.evaluate(model, texts, span=19, weights=rule)
    written = clrs_decoding.greedy(model, texts, span=19, weights=rule)
    exact = (written == texts.characters).all(axis=1).sum()
    assert row["correct"] == exact
    assert 5 < exact < 60  # neither all nor none, so that a mistake would show
    assert row["num_texts"] == 64
    assert len(heads) == 4
    assert {(line["layer"], line["head"]) for line in heads} == {
        (layer, head) for layer in range(2) for head in range(2)
    }


def test_one_wrong_character_spoils_an_answer(model, monkeypatch) -> None:
    examples = [SAMPLES["insertion_sort"][0]] * 64
    texts = task.encode(examples)
    columns = clrs_scoring._num_columns(texts)
    right = np.ones((1, 64, columns), bool)
    right[0, :10, -3] = False
    seen = {name: np.ones((1, 2, 2)) for name in ("entropy", "spread", "top_weight")}
    monkeypatch.setattr(clrs_scoring, "_measure", lambda *_: (right, seen))
    row, _ = clrs_scoring.evaluate(model, texts, span=9, weights="softmax")
    assert row["correct"] == 54
    assert row["characters"] - row["characters_correct"] == 10


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"weights": "linear"}, "weights must be one of 'softmax', 'adaptive'"),
        ({"span": 0}, "span must be >= 1"),
        ({"rows": 63}, "texts must be a multiple of 64"),
    ],
)
def test_impossible_tests_are_refused(model, texts, changes: dict, words: str) -> None:
    rows = changes.pop("rows", 64)
    fewer = task.Batch(*(array[:rows] for array in texts))
    with pytest.raises(ValueError, match=words):
        clrs_scoring.evaluate(
            model, fewer, **{"span": 19, "weights": "softmax"} | changes
        )


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, texts) -> None:
    """Let cells take no time: no training, the same made-up texts at two sizes."""
    trained = clrs_training.initial_model
    monkeypatch.setattr(clrs_training, "training_texts", lambda *_: texts)
    monkeypatch.setattr(clrs_text, "training_texts", lambda *_: texts)
    monkeypatch.setattr(
        clrs_text,
        "train",
        lambda recipe, weights, workspace: (trained(recipe), np.array([2.0])),
    )
    tests = dict.fromkeys((4, 8, 12), texts)
    monkeypatch.setattr(clrs_text, "test_texts", lambda *_: tests)


def finished(cell: dict, folder: Path) -> CellResult:
    """Compute a cell and put its files where a sweep would."""
    outcome = clrs_text.compute(cell, Workspace(folder))
    files = {}
    for name, content in outcome.files.items():
        files[name] = folder / f"{cell['seed']}-{name}"
        files[name].write_bytes(content)
    return CellResult(cell, outcome.rows, files, 1.0, "")


@pytest.mark.medium
def test_cells_become_tables_and_weights(small, tmp_path: Path) -> None:
    results = [finished(CELL | {"seed": seed}, tmp_path) for seed in (0, 1)]
    files = clrs_text.collect(results)
    weights = {f"weights/{rule}.safetensors" for rule in ("softmax", "adaptive")}
    tables = {"accuracy.csv", "heads.csv", "losses.csv"}
    assert set(files) == tables | weights | {"texts.npz"}
    accuracy = pd.read_csv(io.BytesIO(files["accuracy.csv"]))
    assert (accuracy.groupby(["seed", "arm"]).size() == 3).all()
    # The arms of a seed have read the same strings in the same order.
    assert (accuracy.groupby("seed")["data"].nunique() == 1).all()
    assert accuracy["data"].nunique() == 2
    assert (accuracy["answer_known"] == 64).all()
    answers = pd.Series([example(seed).answer for seed in range(64)])
    assert (accuracy["majority"] == answers.value_counts().max()).all()
    heads = pd.read_csv(io.BytesIO(files["heads.csv"]))
    assert len(heads) == len(accuracy) * 4
    assert len(pd.read_csv(io.BytesIO(files["losses.csv"]))) == 4


@pytest.mark.skipif(not clrs_generator.is_installed(), reason="needs dm-clrs")
def test_tests_share_lengths_and_no_string_with_training() -> None:
    tests = clrs_text.test_texts("minimum", 64)
    assert tuple(tests) == clrs_text.TEST_SIZES
    lengths = {size: texts.characters.shape[1] for size, texts in tests.items()}
    assert lengths[4] == lengths[8] < lengths[10] == lengths[16] < lengths[24]
    training = clrs_training.training_texts("minimum", 200)
    seen = {task.decode(row) for row in training.characters}
    assert len(seen) == 1000
    assert not any(
        task.decode(row) in seen for texts in tests.values() for row in texts.characters
    )
