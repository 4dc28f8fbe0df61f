import numpy as np
import pytest
from matplotlib import pyplot as plt

from sharp_attention.experiments import artefacts
from sharp_attention.figures import lab

ALL = [
    (lab.leader, lab.draw_leader),
    (lab.adaptive_row, lab.draw_adaptive),
    (lab.phase_risks_table, lab.draw_phases),
    (lab.finite_samples, lab.draw_finite_samples),
]


@pytest.mark.parametrize(("tabulate", "draw"), ALL, ids=lambda f: f.__name__)
def test_picture_without_scripts_says_its_message(tabulate, draw) -> None:
    figure = draw(tabulate())
    title = figure.axes[0].get_title(loc="left")
    plt.close(figure)
    assert len(title) > 10


def test_row_of_the_adaptive_figure_is_sharpened() -> None:
    table = lab.adaptive_row()
    assert table.attrs["inverse_temperature"] > 2
    assert table["adaptive"].iloc[0] > table["softmax"].iloc[0]
    assert (table["adaptive"].iloc[1:] < table["softmax"].iloc[1:]).all()


def test_interpolation_is_exact_for_cubics() -> None:
    x, y = 0.5 * np.arange(7), 0.5 * np.arange(5)
    table = (x**3 - x)[:, None] + (1 - y**3)[None, :] + np.outer(x**2, y**2)
    rng = np.random.default_rng(0)
    a, b = rng.uniform(0, 3, 50), rng.uniform(0, 2, 50)
    expected = a**3 - a + 1 - b**3 + a**2 * b**2
    np.testing.assert_allclose(lab.interpolate(table, a, b, 0.5), expected, atol=1e-12)


def test_stated_error_covers_every_midpoint() -> None:
    table = lab.phase_risks_table()
    errors = table.attrs["interpolation_error"]
    assert max(errors.values()) < 0.05
    midpoints = artefacts.read_table("phase-risks", "midpoints.csv")
    for exponent, nodes in table.groupby("exponent"):
        here = midpoints[midpoints["exponent"] == exponent]
        plane = nodes.pivot(index="root_signal", columns="sharpness", values="risk")
        found = lab.interpolate(
            plane.to_numpy(),
            here["root_signal"].to_numpy(),
            here["sharpness"].to_numpy(),
            table.attrs["step"],
        )
        error = np.abs(found - here["risk"].to_numpy()).max()
        assert error <= errors[str(exponent)]


def test_finite_samples_hold_every_curve() -> None:
    table = lab.finite_samples()
    theory = table[table["kind"] == "theory"]
    curves = theory.groupby(["task", "ridge", "activation"]).size()
    assert len(curves) == 14
    assert (curves >= 10).all()
    assert theory.notna().all().all()
    assert set(table["kind"]) == {"theory", "trained"}
