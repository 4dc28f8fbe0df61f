"""Training is repeatable, goes on where it was stopped, and learns."""

from pathlib import Path

import jax
import numpy as np
import pytest

from sharp_attention.experiments import training
from sharp_attention.experiments.training import TrainingRecipe
from sharp_attention.experiments.workspace import Workspace
from sharp_attention.models.set_attention import SetAttention
from sharp_attention.tasks import max_retrieval

# One length of run and of call for all tests: XLA compiles once.
RECIPE = TrainingRecipe(seed=0, num_steps=300)


class Stopped(Exception):
    """Stands for a kill."""


@pytest.fixture(autouse=True, scope="module")
def short_calls():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "_STEPS_PER_CALL", 100)
        patch.setattr(training, "_STEPS_PER_SAVE", 100)
        yield


@pytest.fixture(scope="module")
def undisturbed(short_calls) -> tuple[SetAttention, np.ndarray]:
    return training.train(RECIPE)


@pytest.mark.medium
def test_losses_are_means_over_a_hundred_steps_and_fall(undisturbed) -> None:
    _, losses = undisturbed
    assert losses.shape == (3,)
    # Ten classes: ln 10 = 2.30 without any knowledge.
    assert 2.31 > losses[0] > losses[1] > losses[2] > 0


@pytest.mark.medium
def test_stopped_and_resumed_equals_undisturbed(tmp_path: Path, undisturbed) -> None:
    steps: list[int] = []

    def stop_at_200(step: int) -> None:
        steps.append(step)
        if step == 200:  # what follows step 100 was not saved
            raise Stopped

    workspace = Workspace(tmp_path)
    with pytest.raises(Stopped):
        training.train(RECIPE, workspace=workspace, report=stop_at_200)
    model, losses = training.train(RECIPE, workspace=workspace, report=steps.append)
    assert steps == [100, 200, 200, 300]
    expected_model, expected_losses = undisturbed
    np.testing.assert_array_equal(losses, expected_losses)
    for name, array in expected_model.to_arrays().items():
        np.testing.assert_array_equal(model.to_arrays()[name], array, err_msg=name)


@pytest.mark.medium
def test_another_seed_starts_and_learns_from_other_numbers(undisturbed) -> None:
    model, losses = training.train(TrainingRecipe(seed=1, num_steps=300))
    assert not np.array_equal(losses, undisturbed[1])
    assert not np.array_equal(model.key_map, undisturbed[0].key_map)


def test_loss_knows_ignorance_and_does_not_see_masked_places() -> None:
    model = SetAttention.initialise(jax.random.key(0), dim=8)
    sets = max_retrieval.sample(jax.random.key(1), 4, 6)
    sets = sets._replace(where=sets.where.at[:, 4:].set(False))
    other = sets._replace(item_class=sets.item_class.at[:, 4:].add(1) % 10)
    silent = jax.tree.map(lambda leaf: 0 * leaf, model)
    loss = jax.jit(training.loss)
    assert float(loss(silent, sets)) == pytest.approx(np.log(10), rel=1e-6)
    assert float(loss(model, sets)) == float(loss(model, other))


@pytest.mark.parametrize(
    ("num_steps", "words"),
    [(0, "num_steps must be >= 100"), (150, "num_steps must be a multiple of 100")],
)
def test_bad_length(num_steps: int, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        TrainingRecipe(seed=0, num_steps=num_steps)
