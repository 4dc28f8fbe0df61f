import numpy as np
import pytest
from matplotlib import pyplot as plt

from sharp_attention.figures import primer


def test_overlaps_have_the_spread_of_theory() -> None:
    table = primer.random_overlaps(3, (10, 1_000), num_pairs=4_000)
    scatter = table.groupby("dim")["overlap"].std() * np.sqrt([10, 1_000])
    # 4,000 draws fix a standard deviation to 1.1 %; five of these. The tails at
    # D = 10 are heavier than Gaussian, which makes it 1.5 %.
    np.testing.assert_allclose(scatter, 1.0, atol=0.08)
    assert abs(table["overlap"].mean()) < 0.05


def test_overlaps_repeat_with_their_seed() -> None:
    one, two = (primer.random_overlaps(1, (10,)) for _ in range(2))
    assert one.equals(two)
    assert not one.equals(primer.random_overlaps(2, (10,)))


def test_trapezoid_wins_in_the_end() -> None:
    errors = primer.quadrature_errors(rng_seed=0)
    last = errors[errors["evaluations"] == 128].set_index("rule")["error"]
    assert last["trapezoid"] < 1e-14  # all digits
    assert 1e-14 < last["Gauss–Hermite"] < 1e-7
    carlo = errors[errors["rule"] == "Monte Carlo"]
    slope = np.polyfit(np.log(carlo["evaluations"]), np.log(carlo["error"]), 1)[0]
    assert abs(slope + 0.5) < 0.15  # root mean squares of 50 runs are good to 10 %


@pytest.mark.parametrize(
    ("loss", "start", "expected"),
    [
        ("square loss, (x − 1)²/2", 2.0, 1.5),
        ("absolute value, |x|", 2.0, 1.0),
        ("absolute value, |x|", 0.5, 0.0),
        ("two valleys, 2 (|x| − 1)²", 2.0, 1.2),
        ("two valleys, 2 (|x| − 1)²", -2.0, -1.2),
    ],
)
def test_proximal_maps_match_their_formulas(
    loss: str, start: float, expected: float
) -> None:
    rows = primer.proximal_maps().query("loss == @loss")
    found = np.interp(start, rows["start"], rows["prox"])
    assert found == pytest.approx(expected, abs=0.002)  # the grid's step is 0.001


def test_only_the_loss_with_two_valleys_jumps() -> None:
    jumps = primer.proximal_maps().groupby("loss")["prox"].agg(lambda p: p.diff().max())
    assert jumps.idxmax().startswith("two valleys")
    assert (jumps > 0.5).sum() == 1


@pytest.mark.parametrize(
    ("draw", "table", "words"),
    [
        (primer.draw_concentration, primer.random_overlaps(0, (10, 100)), "shrinks"),
        (primer.draw_quadrature, primer.quadrature_errors(0), "all digits"),
        (primer.draw_proximal, primer.proximal_maps(), "jumps"),
    ],
)
def test_pictures_say_their_message(draw, table, words: str) -> None:
    figure = draw(table)
    title = figure.axes[0].get_title(loc="left")
    assert words in title
    assert figure.axes[0].get_xlabel()
    assert figure.axes[0].get_ylabel()
    plt.close(figure)
