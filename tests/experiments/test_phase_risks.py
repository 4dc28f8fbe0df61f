import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sharp_attention.experiments import artefacts, phase_risks
from sharp_attention.experiments.workspace import Workspace
from sharp_attention.tasks.single_location import Overlaps, SpikedSLR
from sharp_attention.theory.single_location import population


@pytest.fixture(scope="module")
def shipped() -> dict[str, pd.DataFrame]:
    names = ("risks", "midpoints")
    return {n: artefacts.read_table("phase-risks", f"{n}.csv") for n in names}


def test_the_shipped_tables_are_the_full_grid(shipped: dict[str, pd.DataFrame]) -> None:
    keys = ["exponent", "root_signal"]
    cells = pd.DataFrame(phase_risks.grid("full", [0]))[keys]
    found = pd.concat([table[keys].drop_duplicates() for table in shipped.values()])
    expected = {tuple(row) for row in cells.to_numpy()}
    assert {tuple(row) for row in found.to_numpy()} == expected
    assert len(shipped["risks"]) == 3 * 46 * 61
    assert len(shipped["midpoints"]) == 3 * 45 * 60


@pytest.mark.medium
@pytest.mark.parametrize(
    ("part", "exponent", "root"), [("risks", 3, 1.5), ("midpoints", 6, 0.975)]
)
def test_a_slice_of_the_shipped_tables_is_recomputed(
    shipped: dict[str, pd.DataFrame], part: str, exponent: int, root: float
) -> None:
    table = shipped[part]
    same = (table["exponent"] == exponent) & (table["root_signal"] == root)
    expected = table[same].reset_index(drop=True)
    cell = {"exponent": exponent, "root_signal": root}
    found = pd.DataFrame(phase_risks.compute(cell, Workspace(Path("unused"))).rows)
    pd.testing.assert_frame_equal(found, expected, rtol=1e-9, atol=1e-12)


def test_both_risks_are_those_of_heads() -> None:
    fixed, best = phase_risks.measure(3, 1.3, [0.9])[0]
    log_length = 3 * math.log(10)
    task, beta = SpikedSLR(1.3 * log_length, 1000), 0.9 * math.sqrt(log_length)
    scales = np.linspace(0, 1.5, 301)
    ones = np.ones_like(scales)
    heads = Overlaps(beta * ones, beta**2 * ones, scales, scales**2)
    risks = np.asarray(population.risk(task, "softmax", heads))
    assert risks[200] == pytest.approx(fixed, abs=1e-10)
    assert risks.min() == pytest.approx(best, abs=1e-4)
    assert best <= risks.min() + 1e-12
