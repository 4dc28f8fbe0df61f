import numpy as np
import pytest
from matplotlib import pyplot as plt

from sharp_attention.attention import temperature as rule
from sharp_attention.figures import temperature


@pytest.fixture(scope="module")
def sizes():
    return temperature.leader_by_size(gap=5.0)


def test_rule_is_the_polynomial_where_it_exceeds_one() -> None:
    table = temperature.rule()
    want = table["polynomial"].clip(lower=1.0)
    np.testing.assert_allclose(table["inverse_temperature"], want, atol=2e-5)
    assert table["polynomial"].min() < 0


def test_leader_by_gap_follows_the_formula() -> None:
    table = temperature.leader_by_gap(num_keys=16)
    for name, beta in (("softmax", 1.0), ("adaptive", table["inverse_temperature"])):
        want = 1 / (1 + 15 * np.exp(-beta * table["gap"]))
        np.testing.assert_allclose(table[name], want, rtol=1e-5)
    assert (np.diff(table["softmax"]) > 0).all()
    assert (table["adaptive"].cummax() - table["adaptive"]).max() > 0.12


def test_leader_by_size_halves_where_the_ledger_says(sizes) -> None:
    halves = {name: sizes["num_keys"][sizes[name] >= 0.5].max() for name in sizes[1:]}
    assert (halves["softmax"], halves["adaptive"]) == (149, 676)
    assert (sizes["softmax"] <= np.exp(5) / sizes["num_keys"]).all()


def test_leader_by_size_is_plain_softmax_at_both_ends(sizes) -> None:
    off = sizes["inverse_temperature"] == 1
    np.testing.assert_array_equal(sizes["softmax"][off], sizes["adaptive"][off])
    assert off.iloc[0]
    assert off.iloc[-1]
    assert sizes["inverse_temperature"].max() <= rule.maximum()[1] + 1e-5


@pytest.mark.parametrize(
    ("draw", "table", "words"),
    [
        (temperature.draw_rule, temperature.rule, "between 2.3 and 382"),
        (temperature.draw_gap, temperature.leader_by_gap, "can lower"),
        (temperature.draw_size, temperature.leader_by_size, "delays dispersion"),
    ],
)
def test_pictures_say_their_message(draw, table, words: str) -> None:
    figure = draw(table())
    assert words in figure.axes[0].get_title(loc="left")
    assert figure.axes[-1].get_xlabel()
    assert all(axes.get_ylabel() for axes in figure.axes)
    plt.close(figure)
