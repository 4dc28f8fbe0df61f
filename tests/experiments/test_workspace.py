from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sharp_attention.experiments.workspace import Workspace


class State(NamedTuple):
    weights: jax.Array
    total: np.ndarray
    step: int


START = State(jnp.zeros(3), np.zeros(2), 0)


def test_what_was_saved_comes_back_bit_by_bit(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "new")
    saved = State(jnp.array([0.1, -0.0, 1e-30]), np.array([1 / 3, 2.0**60]), 7)
    workspace.save(saved)
    loaded = workspace.load(START)
    assert loaded is not None
    assert loaded.weights.tobytes() == saved.weights.tobytes()
    assert loaded.total.tobytes() == saved.total.tobytes()
    assert loaded.total.dtype == np.float64
    assert loaded.step == 7


def test_nothing_saved_is_none_and_makes_no_folder(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "new")
    assert workspace.load(START) is None
    assert not workspace.folder.exists()


def test_the_last_state_counts_and_names_are_apart(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    workspace.save(START._replace(step=1))
    workspace.save(START._replace(step=2))
    workspace.save(START._replace(step=9), name="best")
    assert workspace.load(START).step == 2
    assert workspace.load(START, name="best").step == 9


def test_another_shape_is_refused(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    workspace.save(START)
    with pytest.raises(RuntimeError):
        workspace.load(START._replace(weights=jnp.zeros(4)))
