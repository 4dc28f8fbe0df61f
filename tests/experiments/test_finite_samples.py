"""Cells of figure 3: what is asked for, what comes out, and that stops cost nothing."""

import jax
import numpy as np
import pytest

from sharp_attention.algorithms import erm
from sharp_attention.experiments import finite_samples as experiment
from sharp_attention.experiments.workspace import Workspace

PLACE = {"task": "spiked 1", "activation": "softmax", "ridge": "1", "num_points": 2**10}
HEAD = {**PLACE, "sample_ratio": 4.0, "size": 100, "instance": 1}
SIMULATION = {"part": "simulation", **HEAD, "start": "informed"}


def shares(cells, **wanted):
    return [c for c in cells if all(c.get(k) == v for k, v in wanted.items())]


def test_grid_has_every_part_once():
    cells = experiment.grid("full", range(4))
    assert len({tuple(sorted(cell.items())) for cell in cells}) == len(cells)
    order = [experiment.PARTS.index(cell["part"]) for cell in cells]
    assert order == sorted(order)


def test_grid_has_both_activations_on_all_tasks():
    cells = shares(experiment.grid("full", range(4)), part="theory", sample_ratio=8.0)
    for ridge in ("1", "best"):
        here = shares(cells, ridge=ridge)
        assert {(c["task"], c["activation"]) for c in here} == {
            (task, name) for task in experiment.TASKS for name in experiment.ACTIVATIONS
        }


def test_simulations_and_descents_have_a_prediction():
    cells = experiment.grid("full", range(4))
    names = ("task", "activation", "ridge", "sample_ratio", "num_points")
    known = {tuple(c[n] for n in names) for c in shares(cells, part="theory")}
    for cell in cells:
        assert tuple(cell[n] for n in names) in known


def test_fewer_seeds_are_fewer_instances():
    one, four = (experiment.grid("full", range(n)) for n in (1, 4))
    assert {c["instance"] for c in one if "instance" in c} == {0}
    assert len(shares(one, part="theory")) == len(shares(four, part="theory"))


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    workspace = Workspace(tmp_path_factory.mktemp("cell"))
    return experiment.compute(SIMULATION, workspace).rows[0]


@pytest.mark.medium
def test_a_head_is_set_beside_its_prediction(simulated):
    theory = experiment.predict("spiked 1", "softmax", "1", 4.0, 2**10)
    assert simulated["predicted_test_risk"] == theory["test_risk"]
    assert simulated["dim"] == 50
    assert simulated["is_converged"]
    assert abs(simulated["test_risk"] - theory["test_risk"]) < 0.15  # D = 50


@pytest.mark.medium
def test_a_cell_goes_on_from_what_it_saved(simulated, tmp_path, monkeypatch):
    workspace = Workspace(tmp_path)
    fit = erm.fit

    def stop_early(*setup, **settings):
        return fit(*setup, **{**settings, "max_steps": 5, "progress_steps": 5})

    with monkeypatch.context() as patch:
        patch.setattr(erm, "fit", stop_early)
        assert not experiment.compute(SIMULATION, workspace).rows[0]["is_converged"]
    with jax.enable_x64(True):
        saved = workspace.load(erm.blank_state(50))
    assert int(saved.num_steps[0]) == 5
    again = experiment.compute(SIMULATION, workspace).rows[0]
    # How many steps are compiled into one call changes the last bits.
    assert again["num_steps"] == simulated["num_steps"]
    assert again["test_risk"] == pytest.approx(simulated["test_risk"], rel=1e-6)


@pytest.mark.medium
def test_descents_end_at_the_minimiser(tmp_path, monkeypatch):
    settings = {
        "gradient descent": {"rate": 0.2, "num_steps": 500},
        "stochastic gradient descent": {
            "rate": 0.1,
            "num_steps": 2000,
            "batch_size": 32,
        },
    }
    monkeypatch.setattr(experiment, "_DESCENTS", settings)
    rows = experiment.compute({"part": "descent", **HEAD}, Workspace(tmp_path)).rows
    assert [row["algorithm"] for row in rows] == ["quasi-Newton", *settings]
    risks = [row["test_risk"] for row in rows]
    np.testing.assert_allclose(risks, risks[0], atol=0.03)
    assert risks[1] == pytest.approx(risks[0], abs=1e-3)


def test_best_ridges_are_those_of_the_search(monkeypatch):
    called = []

    def record(task, activation, sample_ratio, **settings):
        called.append((task, activation, sample_ratio, settings))
        raise RuntimeError("enough")

    monkeypatch.setattr(experiment, "optimal_ridge", record)
    with pytest.raises(RuntimeError, match="enough"):
        experiment.predict("max", "linear", "best", 3.0, 2**10)
    task = experiment.TASKS["max"]
    assert called == [(task, "linear", 3.0, {"num_points": 2**10})]
