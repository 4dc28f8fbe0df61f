"""Pictures of long texts: tables with the right numbers, drawn without complaint."""

import math

import pytest
from matplotlib import pyplot as plt
from scipy import special

from sharp_attention.figures import phases as pictures
from sharp_attention.theory.single_location import phases


@pytest.mark.medium
def test_steps_cross_at_the_critical_ratio():
    table = pictures.risk_steps((6, 60), ratios=(1.0, 4.0))
    risk = table.set_index(["exponent", "ratio"])["risk"]
    assert risk[60, 1.0] > risk[6, 1.0] > 0.9
    assert risk[60, 4.0] < risk[6, 4.0] < 0.1
    figure = pictures.draw_steps(table)
    assert len(figure.axes[0].lines) == 3
    plt.close(figure)


def test_boundaries_separate_the_phases():
    table = pictures.boundaries()
    edge = table[(table["line"] == "retrieval") & (table["b"] < 1.4)]
    for b, c in zip(edge["b"], edge["c"], strict=True):
        assert phases.phase(b, c * 1.001) == "retrieval"
        assert phases.phase(b, c * 0.999) == "dispersed"
    optimal = table[table["line"] == "optimal"]
    assert optimal["c"].to_numpy() == pytest.approx(optimal["b"].to_numpy() ** 2)
    figure = pictures.draw_diagram(table)
    texts = " ".join(text.get_text() for text in figure.axes[0].texts)
    assert all(name in texts for name in ("retrieval", "dispersed", "glass"))
    plt.close(figure)


def test_glass_curves_have_their_limit():
    table = pictures.glass_curves(1.0, (6,), sharpnesses=(0.5, 3.0))
    limit = table[table["exponent"] == 0]["risk"].to_list()
    assert limit == pytest.approx([1.0, 2 - math.sqrt(2) / 3])
    exact = table[table["exponent"] == 6]["risk"].to_list()
    assert exact[1] > 1 > exact[0]
    figure = pictures.draw_glass(table)
    assert figure.axes[0].get_legend() is not None
    plt.close(figure)


def test_window_curves_have_their_limit():
    table = pictures.window_curves((60,), offsets=(-1.0, 1.0))
    limit = table[table["exponent"] == 0]["risk"].to_list()
    assert limit == pytest.approx([special.ndtr(1.0), special.ndtr(-1.0)])
    exact = table[table["exponent"] == 60]["risk"].to_list()
    assert exact == pytest.approx(limit, abs=0.03)
    plt.close(pictures.draw_window(table))
