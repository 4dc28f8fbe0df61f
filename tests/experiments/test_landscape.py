"""The cells, their tables, and the shipped artefact."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sharp_attention.experiments import artefacts, landscape, landscape_table, places
from sharp_attention.experiments.records import CellResult
from sharp_attention.experiments.workspace import Workspace
from sharp_attention.tasks.single_location import MaxSLR, SpikedSLR

TINY = {"dim": 20, "starts": 4, "instances": 2}


def tiny(part: str) -> dict:
    """Return the first quick cell of a kind, made smaller still."""
    cells = landscape.grid("quick", [0])
    cell = next(cell for cell in cells if cell["part"] == part)
    return cell | {name: TINY[name] for name in TINY if name in cell}


@pytest.fixture(scope="module")
def results() -> list[CellResult]:
    workspace = Workspace(Path("never-used"))
    cells = [tiny(part) for part in ("minima", "dimension", "paths")]
    return [
        CellResult(cell, landscape.compute(cell, workspace).rows, {}, 0.0, "")
        for cell in cells
    ]


@pytest.fixture
def tables(results, tmp_path) -> dict[str, pd.DataFrame]:
    found = {}
    for name, content in landscape.collect(results).items():
        (tmp_path / name).write_bytes(content)
        found[name] = artefacts.read_table("landscape", name, tmp_path)
    return found


@pytest.mark.medium
def test_minima_count_every_start(tables):
    table = tables["minima.csv"]
    assert table[["random", "informed", "swapped"]].sum().tolist() == [2, 1, 1]
    assert (table["curvature"] > 0).all()
    summary = landscape_table.summary(table)
    assert len(summary) == 1
    assert summary["minima"].iloc[0] == len(table)
    assert summary["lowest"].iloc[0] == "matched"


@pytest.mark.medium
def test_each_instance_has_its_row(tables):
    assert tables["dimension.csv"]["instance"].tolist() == [0, 1]
    assert (tables["dimension.csv"]["m_k"] > 0).all()


@pytest.mark.medium
def test_paths_begin_at_their_starts_and_go_downhill(tables):
    table = tables["paths.csv"]
    assert table.groupby(["start", "path"]).ngroups == 9
    first = table[table["step"] == 0].groupby("start")[["m_k", "m_kv"]].mean()
    assert first.loc["informed", "m_k"] > 0.5 > first.loc["swapped", "m_k"]
    assert first.loc["swapped", "m_kv"] > 0.5
    groups = table.groupby(["start", "path"])["risk"]
    assert (groups.last() < groups.first()).all()


def test_descents_without_an_end_are_counted(monkeypatch):
    monkeypatch.setattr(landscape, "MAX_STEPS", 1)
    rows = landscape.compute(tiny("minima"), Workspace(Path("never-used"))).rows
    assert len(rows) == 1
    assert rows[0]["family"] == "not converged"
    assert [rows[0][kind] for kind in ("random", "informed", "swapped")] == [2, 1, 1]
    assert rows[0]["energy"] is None


def test_tasks_and_offsets_of_cells():
    cell = tiny("minima")
    assert landscape.task_of(cell) == SpikedSLR(10.0, 2, landscape.NOISE)
    widest = landscape.task_of(cell | {"task": "max", "signal": math.inf})
    assert widest == MaxSLR(math.inf, 2, landscape.NOISE)
    assert landscape.offset_of(cell) == 0.0
    erf = cell | {"activation": "erf"}
    assert landscape.offset_of(erf) < -1.5


def planted() -> pd.DataFrame:
    """Draw cross overlaps that fall like 3 / sqrt(D)."""
    rng = np.random.default_rng(0)
    dims = np.repeat([50, 100, 200, 400], 400)
    columns = 3 * rng.normal(size=(3, dims.size)) / np.sqrt(dims)
    names = dict(zip(landscape_table.CROSS, columns, strict=True))
    return pd.DataFrame({"activation": "softmax", "dim": dims} | names)


def test_the_exponent_of_planted_overlaps_is_found():
    table = landscape_table.cross_overlaps(planted())
    np.testing.assert_allclose(table["size"] * np.sqrt(table["dim"]), 3, rtol=0.1)
    slope, error = landscape_table.exponent(table)
    assert abs(slope + 0.5) < 5 * error
    assert error < 0.02


def test_another_exponent_is_told_apart():
    data = planted()
    data[landscape_table.CROSS] *= np.sqrt(data["dim"].to_numpy())[:, None]
    slope, error = landscape_table.exponent(landscape_table.cross_overlaps(data))
    assert abs(slope) < 5 * error


class TestShipped:
    def test_files_are_those_of_the_manifest(self):
        assert artefacts.damaged_files(places.shipped_folder("landscape")) == []

    def test_every_cell_of_the_full_grid_is_there(self):
        cells = pd.DataFrame(landscape.grid("full", [0]))
        cells = cells[cells["part"] == "minima"]
        keys = [*landscape_table.SETTING, "dim"]
        table = landscape_table.read()
        pd.testing.assert_frame_equal(
            table[keys].drop_duplicates().reset_index(drop=True),
            cells[keys].reset_index(drop=True),
            check_dtype=False,
        )
        counted = table.groupby(landscape_table.SETTING, sort=False)
        counts = counted[["random", "informed", "swapped"]].sum().sum(axis=1)
        assert counts.tolist() == cells["starts"].astype(int).tolist()

    @pytest.mark.medium
    def test_a_slice_is_recomputed(self):
        cell = next(
            cell
            for cell in landscape.grid("full", [0])
            if cell["part"] == "dimension" and cell["dim"] == 50
        )
        fewer = cell | {"instances": 2}
        rows = landscape.compute(fewer, Workspace(Path("never-used"))).rows
        table = artefacts.read_table("landscape", "dimension.csv")
        here = table[(table["dim"] == 50) & (table["activation"] == "softmax")][:2]
        names = ["m_k", "q_k", "m_v", "q_v", *landscape_table.CROSS]
        # Descents in single precision stop at a gradient of 1e-4 a coordinate.
        np.testing.assert_allclose(pd.DataFrame(rows)[names], here[names], atol=1e-3)
