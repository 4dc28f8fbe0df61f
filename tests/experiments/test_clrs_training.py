"""Training on CLRS-Text: every arm reads the same; it goes on where it stopped."""

from pathlib import Path

import numpy as np
import pytest

from sharp_attention.experiments import clrs_training
from sharp_attention.experiments.clrs_training import Recipe
from sharp_attention.experiments.workspace import Workspace
from sharp_attention.tasks import clrs_text

# Few steps and a tiny model: XLA compiles once for each rule.
RECIPE = Recipe(
    "minimum", 0, 100, batch=4, texts_per_size=2, dim=16, num_layers=2, num_heads=2
)


class Stopped(Exception):
    """Stands for a kill."""


@pytest.fixture(autouse=True, scope="module")
def recorded_texts():
    """Ten recorded questions take the place of the generator's."""
    samples = clrs_text.recorded()
    names = ("minimum", "binary_search", "quickselect", "bubble_sort", "quicksort")
    texts = clrs_text.encode([e for name in names for e in samples[name]])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clrs_training, "training_texts", lambda *_: texts)
        yield


@pytest.fixture(scope="module")
def undisturbed(recorded_texts) -> dict[str, tuple]:
    rules = ("softmax", "adaptive")
    return {rule: clrs_training.train(RECIPE, weights=rule) for rule in rules}


@pytest.mark.medium
def test_losses_are_means_over_fifty_steps_and_fall(undisturbed) -> None:
    for _, losses in undisturbed.values():
        assert losses.shape == (2,)
        assert np.log(69) * 1.5 > losses[0] > losses[1] > 0


@pytest.mark.medium
def test_rules_make_a_difference(undisturbed) -> None:
    (_, softmax), (_, adaptive) = undisturbed.values()
    assert not np.allclose(softmax, adaptive, rtol=1e-4)


@pytest.mark.medium
@pytest.mark.parametrize("rule", ["softmax", "adaptive"])
def test_stopped_and_resumed_equals_undisturbed(
    tmp_path: Path, undisturbed, rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stopping(Workspace):
        def save(self, state: object, name: str = "state") -> None:
            super().save(state, name)
            raise Stopped

    with pytest.raises(Stopped):
        clrs_training.train(RECIPE, weights=rule, workspace=Stopping(tmp_path))
    seen = []
    original = clrs_training.rows_of_steps

    def watched(recipe: Recipe, first: int, last: int):
        seen.append((first, last))
        return original(recipe, first, last)

    monkeypatch.setattr(clrs_training, "rows_of_steps", watched)
    model, losses = clrs_training.train(
        RECIPE, weights=rule, workspace=Workspace(tmp_path)
    )
    assert seen == [(50, 100)]
    expected_model, expected_losses = undisturbed[rule]
    np.testing.assert_array_equal(losses, expected_losses)
    for name, array in expected_model.to_arrays().items():
        np.testing.assert_array_equal(model.to_arrays()[name], array, err_msg=name)


def test_arms_read_the_same_strings_in_the_same_order(monkeypatch) -> None:
    read = {}

    def record(state, batches, recipe, weights, num_answers):
        read.setdefault(weights, []).append(batches[0])
        return state._replace(step=state.step + clrs_training.STEPS_PER_LOSS)

    monkeypatch.setattr(clrs_training, "_advance", record)
    for rule in ("softmax", "adaptive"):
        clrs_training.train(RECIPE, weights=rule)
    np.testing.assert_array_equal(*(np.concatenate(rows) for rows in read.values()))


def test_order_depends_on_seed_and_step_alone() -> None:
    rows = clrs_training.rows_of_steps(RECIPE, 0, 4)
    np.testing.assert_array_equal(rows[2:], clrs_training.rows_of_steps(RECIPE, 2, 4))
    other = Recipe("minimum", 1, 100, batch=4, texts_per_size=2)
    assert (rows != clrs_training.rows_of_steps(other, 0, 4)).any()


def test_an_epoch_shows_no_string_twice() -> None:
    per_epoch = 10 // RECIPE.batch
    for epoch in range(3):
        first = epoch * per_epoch
        rows = clrs_training.rows_of_steps(RECIPE, first, first + per_epoch)
        assert len(np.unique(rows)) == rows.size


def test_checksum_sees_strings_and_order(monkeypatch) -> None:
    found = clrs_training.data_checksum(RECIPE)
    assert found == clrs_training.data_checksum(RECIPE)
    assert found != clrs_training.data_checksum(Recipe(**vars(RECIPE) | {"seed": 1}))
    texts = clrs_training.training_texts("minimum", 2)
    changed = texts._replace(characters=texts.characters + 1)
    monkeypatch.setattr(clrs_training, "training_texts", lambda *_: changed)
    assert found != clrs_training.data_checksum(RECIPE)


def test_initial_weights_depend_on_the_seed() -> None:
    one, same = (clrs_training.initial_model(RECIPE) for _ in range(2))
    other = clrs_training.initial_model(Recipe(**vars(RECIPE) | {"seed": 1}))
    assert (one.embedding == same.embedding).all()
    assert (one.embedding != other.embedding).any()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"algorithm": "maximum"}, "algorithm must be one of"),
        ({"num_steps": 70}, "num_steps must be a multiple of 50"),
        ({"batch": 11}, "batch must be at most all 10 texts"),
        ({"texts_per_size": 0}, "texts_per_size must be >= 1"),
    ],
)
def test_impossible_recipes_are_refused(changes: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Recipe(**vars(RECIPE) | changes)


def test_state_of_another_architecture_is_refused(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    clrs_training.train(RECIPE, weights="softmax", workspace=workspace)
    wider = Recipe(**vars(RECIPE) | {"dim": 32})
    with pytest.raises(RuntimeError):
        clrs_training.train(wider, weights="softmax", workspace=workspace)
