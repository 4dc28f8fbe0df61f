"""Means, deviations and gaps of figure 3; the shipped table is complete and right."""

import numpy as np
import pandas as pd
import pytest

from sharp_attention.experiments import artefacts, finite_samples, places
from sharp_attention.experiments import finite_sample_tables as tables
from sharp_attention.experiments.workspace import Workspace

FOLDER = places.shipped_folder("finite-samples")


def simulation() -> pd.DataFrame:
    place = {"task": "max", "ridge": "1", "sample_ratio": 2.0, "dim": 10}
    rows = [
        {"activation": name, "start": start, "instance": n, "test_risk": risk + n}
        for name, risk in (("softmax", 1.0), ("linear", 3.0))
        for start in ("informed", "random")
        for n in range(3)
    ]
    predicted = {"predicted_test_risk": 2.5, "predicted_training_loss": 1.0}
    table = pd.DataFrame(rows).assign(**place, **predicted, training_loss=0.5)
    return table.assign(is_trusted=table["activation"] == "softmax")


def test_dots_are_means_with_their_errors():
    dots = tables.dots(simulation())
    assert len(dots) == 4
    assert (dots["count"] == 3).all()
    np.testing.assert_allclose(dots["test_risk"], [2, 2, 4, 4])
    np.testing.assert_allclose(dots["error"], 1 / np.sqrt(3))
    assert dots["is_trusted"].tolist() == [True, True, False, False]


def test_comparison_leaves_out_what_is_not_trusted():
    (row,) = tables.compare(tables.dots(simulation())).to_dict("records")
    assert (row["activation"], row["start"]) == ("softmax", "informed")
    assert row["deviation"] == pytest.approx(2 / 2.5 - 1)


def test_gaps_are_taken_at_equal_places():
    dots = tables.dots(simulation())
    informed = dots[dots["start"] == "informed"]
    (row,) = tables.gaps(informed, "activation", "linear", "softmax").to_dict("records")
    assert row["gap"] == pytest.approx(2.0)
    assert row["sample_ratio"] == 2.0


def test_descents_are_held_against_the_minimiser():
    rows = [
        {"task": "max", "sample_ratio": 2.0, "instance": n, "algorithm": name}
        for n in range(2)
        for name in ("quasi-Newton", "gradient descent")
    ]
    table = pd.DataFrame(rows).assign(test_risk=[1.0, 1.5, 2.0, 2.25])
    found = tables.descents(table).sort_values("instance")
    assert found["algorithm"].tolist() == ["gradient descent"] * 2
    np.testing.assert_allclose(found["difference"], [0.5, 0.25])


def test_unknown_part_is_named():
    with pytest.raises(ValueError, match="part must be"):
        tables.read("practice")


def test_shipped_files_are_those_of_the_manifest():
    assert artefacts.damaged_files(FOLDER) == []


@pytest.mark.parametrize(
    ("part", "rows"), [("theory", 1), ("simulation", 1), ("descent", 3)]
)
def test_the_shipped_tables_are_the_full_grid(part, rows):
    seeds = range(finite_samples.EXPERIMENT.num_seeds["full"])
    cells = [c for c in finite_samples.grid("full", seeds) if c["part"] == part]
    shipped = tables.read(part)
    names = [n for n in (*tables.PLACE, "instance", "start") if n in cells[0]]
    expected = pd.DataFrame(cells)[names].loc[np.repeat(range(len(cells)), rows)]
    pd.testing.assert_frame_equal(
        shipped[names], expected.reset_index(drop=True), check_dtype=False
    )


@pytest.mark.medium
@pytest.mark.parametrize(
    "activation", [pytest.param("softmax", marks=pytest.mark.slow), "linear"]
)
def test_a_point_of_the_theory_is_computed_again(activation):
    found = finite_samples.predict("spiked 2", activation, "1", 8.0, 2**14)
    theory = tables.read("theory")
    for name in tables.PLACE:
        theory = theory[theory[name] == found[name]]
    (shipped,) = theory.to_dict("records")
    for name in ("test_risk", "training_loss", "energy", "m_k", "q_v", "replicon"):
        # The iteration stops at a residual of 1e-8.
        assert shipped[name] == pytest.approx(found[name], rel=1e-6)


@pytest.mark.slow
def test_a_trained_head_is_computed_again(tmp_path):
    seeds = range(finite_samples.EXPERIMENT.num_seeds["full"])
    cells = finite_samples.grid("full", seeds)
    (cell, *_) = [c for c in cells if c.get("size") == 1_000 and c["sample_ratio"] == 8]
    row = finite_samples.compute(cell, Workspace(tmp_path)).rows[0]
    table = tables.read("simulation")
    for name in (*tables.PLACE, "instance", "start"):
        table = table[table[name] == row[name]]
    (shipped,) = table.to_dict("records")
    # The optimiser stops at a gradient of 1e-3 on each coordinate.
    assert shipped["test_risk"] == pytest.approx(row["test_risk"], abs=1e-3)
