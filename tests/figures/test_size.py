"""Pictures of size generalisation."""

import math

import pytest
from matplotlib import pyplot as plt

from sharp_attention.figures import size as pictures
from sharp_attention.tasks.single_location import SpikedSLR
from sharp_attention.theory.single_location import population
from sharp_attention.theory.single_location import size_generalisation as size

TASK = SpikedSLR(10.0, 16)


def test_verdicts():
    cases = {"best": (TASK, size.train(TASK)), "soft": (TASK, size.train(TASK, 1.5))}
    table = pictures.verdict_table(cases, (16, 64), num_samples=500)
    best = table[table["case"] == "best"]
    bayes = [population.bayes_risk(SpikedSLR(10.0, n)) for n in (16, 64)]
    assert best["bayes"].to_list() == pytest.approx(bayes)
    assert best["plain"].to_list() == pytest.approx(bayes)
    assert (best["adaptive"] > best["plain"]).all()
    assert (table["error"] > 0).all()
    figure = pictures.draw_verdicts(table)
    assert len(figure.axes) == 2
    plt.close(figure)


def test_changes():
    table = pictures.change_table(TASK, (1.5, 3.0), (64,), num_samples=2_000)
    soft, sharp = table["change"]
    assert soft < 0 < sharp
    figure = pictures.draw_changes(table, bayes_sharpness=math.sqrt(10.0))
    assert figure.axes[0].get_ylabel() == "change of the risk"
    plt.close(figure)
