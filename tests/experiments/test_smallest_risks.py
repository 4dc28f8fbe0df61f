from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sharp_attention.experiments import artefacts, smallest_risks
from sharp_attention.experiments.workspace import Workspace
from sharp_attention.tasks.single_location import MaxSLR, SpikedSLR
from sharp_attention.theory.single_location import population

KEYS = ["task", "signal", "shortest", "longest"]


@pytest.fixture(scope="module")
def shipped() -> pd.DataFrame:
    return artefacts.read_table("smallest-risks", "risks.csv")


def test_the_shipped_table_is_the_full_grid(shipped: pd.DataFrame) -> None:
    cells = pd.DataFrame(smallest_risks.grid("full", [0]))
    expected = cells.loc[np.repeat(range(len(cells)), 6), KEYS]
    pd.testing.assert_frame_equal(
        shipped[KEYS], expected.reset_index(drop=True), check_dtype=False
    )
    names = ["softmax", "softplus", "erf", "linear", "element-wise", "bayes"]
    assert shipped["activation"].tolist() == names * len(cells)
    assert shipped["risk"].between(0, 1).all()


@pytest.mark.medium
@pytest.mark.parametrize("index", [0, 14, 25, 37, -1])
def test_what_has_no_search_is_recomputed(shipped: pd.DataFrame, index: int) -> None:
    cell = smallest_risks.grid("full", [0])[index]
    task = smallest_risks.task_of(cell)
    same = np.logical_and.reduce([shipped[name] == cell[name] for name in KEYS])
    risks = shipped[same].set_index("activation")["risk"]
    found = {
        "softmax": population.minimise(task, "softmax").risk,
        "linear": population.minimise(task, "linear").risk,
        "element-wise": population.elementwise_bound(task),
        "bayes": population.bayes_risk(task),
    }
    # Quadrature is good to 1e-13.
    np.testing.assert_allclose(risks[list(found)], list(found.values()), rtol=1e-9)


@pytest.mark.slow
def test_a_whole_cell_is_recomputed(shipped: pd.DataFrame) -> None:
    cell = smallest_risks.grid("full", [0])[3]
    rows = smallest_risks.compute(cell, Workspace(Path("never-used"))).rows
    same = np.logical_and.reduce([shipped[name] == cell[name] for name in KEYS])
    expected = shipped[same].reset_index(drop=True)
    # The searches stop at a slope that is good to 1e-5, and the risk is flat there.
    pd.testing.assert_frame_equal(pd.DataFrame(rows), expected, rtol=1e-7)


def test_tasks_have_uniform_lengths() -> None:
    random = {"task": "spiked", "signal": 2.0, "shortest": 1, "longest": 3}
    assert smallest_risks.task_of(random) == SpikedSLR(
        2.0, dict.fromkeys((1, 2, 3), 1 / 3)
    )
    fixed = {"task": "max", "signal": np.inf, "shortest": 5, "longest": 5}
    assert smallest_risks.task_of(fixed) == MaxSLR(np.inf, {5: 1.0})
