"""The fit: pairs are what they should be, and the fitted rule is judged fairly."""

from pathlib import Path

import jax
import numpy as np
import pytest

from sharp_attention.attention import entropy, temperature
from sharp_attention.experiments import (
    artefacts,
    max_retrieval,
    places,
    temperature_fit,
)
from sharp_attention.experiments.files import csv_bytes
from sharp_attention.experiments.records import CellResult
from sharp_attention.experiments.workspace import Workspace
from sharp_attention.models.set_attention import SetAttention

SIZE = 64


@pytest.fixture(scope="module")
def model() -> SetAttention:
    """Draw a model that was never trained: its order of the items is arbitrary."""
    drawn = SetAttention.initialise(jax.random.key(3), dim=16)
    return jax.tree.map(lambda leaf: 3 * leaf, drawn)


@pytest.fixture(scope="module")
def small() -> pytest.MonkeyPatch:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(temperature_fit, "NUM_ITEMS", {"quick": (SIZE,), "full": (SIZE,)})
        yield patch


@pytest.fixture(scope="module")
def pairs(model) -> list[tuple[float, float]]:
    return temperature_fit.collect_pairs(model, SIZE)


@pytest.mark.medium
def test_pairs_are_as_many_as_asked_and_finite(pairs) -> None:
    assert len(pairs) == temperature_fit.PAIRS_PER_SIZE
    for found, best in pairs:
        assert 0 <= found <= np.log(SIZE)
        # +inf would mean a maximum in front, which is no pair.
        assert best < np.inf


@pytest.mark.medium
def test_pairs_are_those_of_the_first_misranked_sets(model, pairs) -> None:
    keys = temperature_fit._keys(temperature_fit._PAIR_SEED, SIZE, 2**13)
    assert len(keys) == 16
    logits, winner, misranked = temperature_fit._logits(model, keys, 512, SIZE)
    place = int(np.argmax(misranked[0]))
    row, target = np.asarray(logits[0, place]), int(winner[0, place])
    assert row.argmax() != target
    best = temperature.optimal_inverse_temperature(row, target)
    assert pairs[0] == pytest.approx((float(entropy.entropy(row)), best), rel=1e-5)


def test_fit_leaves_out_what_no_temperature_mends() -> None:
    grid = np.linspace(0.5, 4.0, 30)
    truth = np.array([-0.1, 0.2, 0.3, 0.5, 0.4])
    best = np.polyval(truth, grid)
    grid, best = grid[best >= 0], best[best >= 0]
    fitted = temperature_fit.fit([*grid, 2.0, 2.0], [*best, -1.0, -np.inf])
    np.testing.assert_allclose(fitted, truth, atol=1e-9)


def test_judging_puts_all_rules_to_the_same_sets(model) -> None:
    rows = temperature_fit.judge(model, SIZE, temperature.POLYNOMIAL)
    softmax, published, fitted = rows
    assert [row["rule"] for row in rows] == list(temperature_fit.RULES)
    assert {row["num_sets"] for row in rows} == {2048}
    # The printed coefficients under another name are the printed rule.
    for column in ("correct", "maximum_weight"):
        assert fitted[column] == published[column]
    assert softmax["maximum_weight"] != published["maximum_weight"]


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model) -> None:
    """Put the same untrained model under the names of two trained ones."""
    folder = tmp_path / "max-retrieval"
    monkeypatch.setattr(places, "results_folder", lambda name: tmp_path / name)
    (folder / "weights").mkdir(parents=True)
    for seed in range(2):
        path = folder / "weights" / f"seed-{seed}.safetensors"
        path.write_bytes(max_retrieval.weights_bytes(model))


@pytest.mark.medium
def test_one_cell_fits_on_the_first_half_and_judges_the_second(
    tmp_path: Path, small, shipped, pairs
) -> None:
    (cell,) = temperature_fit.grid("quick", range(2))
    outcome = temperature_fit.compute(cell, Workspace(tmp_path))
    assert [row["seed"] for row in outcome.rows] == [1, 1, 1]
    names = ("seed", "num_items", "entropy", "best")
    expected = csv_bytes(
        [dict(zip(names, (0, SIZE, *pair), strict=True)) for pair in pairs]
    )
    assert outcome.files["pairs.csv"] == expected
    files = {}
    for name, content in outcome.files.items():
        files[name] = tmp_path / name
        files[name].write_bytes(content)
    result = CellResult(cell, outcome.rows, files, 0.0, "")
    for name, content in temperature_fit.collect([result]).items():
        (tmp_path / name).write_bytes(content)
    table = artefacts.read_table("temperature-fit", "fit.csv", tmp_path)
    np.testing.assert_allclose(
        table["fitted"], temperature_fit.fit(*zip(*pairs, strict=True))
    )
    assert tuple(table["published"]) == temperature.POLYNOMIAL
    judged = artefacts.read_table("temperature-fit", "judged.csv", tmp_path)
    assert judged["rule"].tolist() == list(temperature_fit.RULES)


def test_other_weights_are_another_cell(shipped, model) -> None:
    (before,) = temperature_fit.grid("quick", range(2))
    path = places.results_folder("max-retrieval") / "weights" / "seed-1.safetensors"
    other = jax.tree.map(lambda leaf: 2 * leaf, model)
    path.write_bytes(max_retrieval.weights_bytes(other))
    (after,) = temperature_fit.grid("quick", range(2))
    assert before != after
    assert before | {"weights": ""} == after | {"weights": ""}


def test_missing_weights_name_the_command(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(places, "results_folder", lambda name: tmp_path / name)
    with pytest.raises(FileNotFoundError, match="reproduce max-retrieval"):
        temperature_fit.load_model(0)


def test_one_seed_is_not_enough(tmp_path: Path) -> None:
    (cell,) = temperature_fit.grid("quick", range(1))
    with pytest.raises(ValueError, match="seeds must be two at least"):
        temperature_fit.compute(cell, Workspace(tmp_path))
