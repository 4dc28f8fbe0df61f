from pathlib import Path

import jax
import numpy as np
import pandas as pd
import pytest

from sharp_attention.attention import temperature
from sharp_attention.experiments import artefacts, dispersion_sweep
from sharp_attention.experiments.records import Plan
from sharp_attention.experiments.workspace import Workspace
from sharp_attention.theory import dispersion

SLICE = [
    {"num_items": 16, "temperature": 0.5, "seed": 0},
    {"num_items": 256, "temperature": 0.25, "seed": 3},
    {"num_items": 16384, "temperature": 2.0, "seed": 1},
]


@pytest.fixture(scope="module")
def shipped() -> pd.DataFrame:
    return artefacts.read_table("dispersion-sweep", "dispersion.csv")


def compute(cell: dict[str, object]) -> pd.DataFrame:
    never_used = Workspace(Path("workspace"))
    return pd.DataFrame(dispersion_sweep.compute(cell, never_used).rows)


def test_the_shipped_table_is_the_full_grid(shipped: pd.DataFrame) -> None:
    cells = dispersion_sweep.grid("full", range(5))
    keys = ["num_items", "temperature", "seed"]
    expected = pd.DataFrame(cells).loc[np.repeat(range(len(cells)), 2), keys]
    pd.testing.assert_frame_equal(
        shipped[keys], expected.reset_index(drop=True), check_dtype=False
    )
    assert shipped["rule"].tolist() == ["softmax", "adaptive"] * len(cells)


@pytest.mark.parametrize("cell", SLICE, ids=lambda cell: f"{cell['num_items']} items")
def test_a_slice_of_the_shipped_table_is_recomputed(
    shipped: pd.DataFrame, cell: dict[str, float]
) -> None:
    same = np.logical_and.reduce([shipped[name] == cell[name] for name in cell])
    expected = shipped[same].reset_index(drop=True)
    # Another processor may round an exponential differently in the last digits.
    pd.testing.assert_frame_equal(compute(cell), expected, rtol=1e-10, atol=0)


def test_measurements_lie_within_the_bounds(shipped: pd.DataFrame) -> None:
    slack = 1 + 1e-12
    top, lowest = shipped["top_weight"], shipped["lowest_weight"]
    assert (top <= shipped["sharp_upper_bound"] * slack).all()
    assert (lowest >= shipped["sharp_lower_bound"] / slack).all()
    assert (shipped["sharp_upper_bound"] <= shipped["upper_bound"] * slack).all()
    assert (shipped["sharp_lower_bound"] >= shipped["lower_bound"] / slack).all()
    assert (shipped["entropy"] >= shipped["entropy_floor"] - 1e-12).all()


def test_adaptive_temperature_sharpens_within_its_cap(shipped: pd.DataFrame) -> None:
    keys = ["num_items", "temperature", "seed"]
    plain, adaptive = (
        shipped[shipped["rule"] == rule].set_index(keys)
        for rule in ("softmax", "adaptive")
    )
    factor = adaptive["inverse_temperature"] / plain["inverse_temperature"]
    assert factor.between(1.0, 2.4213878).all()
    assert (factor > 1.0).any()
    assert (adaptive["entropy"] <= plain["entropy"] + 1e-12).all()


def test_adaptive_rule_is_the_one_of_the_library() -> None:
    cell = {"num_items": 64, "temperature": 1.0, "seed": 0}
    table = compute(cell).set_index("rule")
    logits = dispersion_sweep.draw_logits(64, 0)
    with jax.enable_x64(True):
        top_weight = float(temperature.adaptive_softmax(logits).max())
    measured = table.loc["adaptive", "top_weight"]
    assert measured == pytest.approx(top_weight, rel=1e-12)


def test_logits_are_those_of_seed_and_size_and_nothing_else() -> None:
    row = dispersion_sweep.draw_logits(16, 0)
    assert np.array_equal(row, dispersion_sweep.draw_logits(16, 0))
    assert not np.array_equal(row[:16], dispersion_sweep.draw_logits(16, 1)[:16])
    assert np.isfinite(row).sum() == 16
    assert row[:16].min() >= 0.0
    assert dispersion.spread(row) <= dispersion_sweep.SPREAD


def test_cells_of_the_quick_grid(tmp_path: Path) -> None:
    plan = Plan(dispersion_sweep.EXPERIMENT, "quick", None, "cpu", tmp_path)
    assert len(plan.jobs) == 44
    assert {job.parameters["temperature"] for job in plan.jobs} == {0.5, 1.0}
