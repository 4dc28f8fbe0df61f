"""The law of the score of the token that counts, in all of its branches."""

import math

import numpy as np
import pytest
from scipy import special

from sharp_attention.theory.single_location import selection

SHARP = selection.SHARP


@pytest.mark.parametrize(
    ("signal", "length"),
    [
        (0.3, 5),
        (0.9, 10**6),
        (1.1, 5),
        (6.0, 1000),
        (6.0, 10**40),
        (SHARP * 20, 5),
        (SHARP * 20, 10**9),
        (math.inf, 5),
        (math.inf, 10**40),
    ],
)
def test_it_is_a_probability(signal, length):
    scores, weights, chance = selection.select(signal, length)
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    assert (np.diff(chance) >= -1e-13).all()
    assert (chance <= 1 + 1e-12).all()
    np.testing.assert_allclose(np.diff(scores), scores[1] - scores[0], rtol=1e-9)


def test_without_signal_any_token_counts():
    scores, weights, chance = selection.select(0.0, 4)
    np.testing.assert_allclose(chance, 0.25, rtol=1e-12)
    assert weights @ scores == pytest.approx(0, abs=1e-12)
    assert weights @ scores**2 == pytest.approx(1, rel=1e-12)


def test_infinite_signal_picks_the_largest():
    scores, _, chance = selection.select(math.inf, 7)
    right = special.ndtr(scores) ** 6
    np.testing.assert_allclose(chance, right, rtol=1e-11, atol=1e-30)


@pytest.mark.parametrize("signal", [0.8, 3.0])
def test_two_tokens(signal):
    """Given its score x the token is chosen with E sigmoid(nu (x - g))."""
    scores, _, chance = selection.select(signal, 2)
    g = np.linspace(-12, 12, 2001)
    density = np.exp(-(g**2) / 2) / math.sqrt(2 * math.pi) * (g[1] - g[0])
    right = special.expit(signal * (scores[:, None] - g)) @ density
    np.testing.assert_allclose(chance, right, rtol=1e-10, atol=1e-15)


@pytest.mark.parametrize("length", [3, 10**6])
@pytest.mark.parametrize("border", [1.0, "sharp"])
def test_branches_meet(length, border):
    """The mean score is smooth in the signal across the borders of the methods."""
    if border == "sharp":
        border = SHARP * max(1.0, math.sqrt(2 * math.log(length)))
    step = 1e-3 * border
    means = []
    for signal in border + step * np.array([-1.5, -0.5, 0.5, 1.5]):
        scores, weights, _ = selection.select(float(signal), length)
        means.append(scores @ weights)
    # A third difference sees a jump, but hardly a smooth function.
    assert abs(np.diff(means, 3)[0]) < 1e-8


def test_several_lengths_share_their_scores():
    few, many = selection.select_each(2.0, (2, 50))
    np.testing.assert_array_equal(few.scores, many.scores)
    scores, weights, _ = selection.select(2.0, 50)
    assert many.scores @ many.weights == pytest.approx(scores @ weights, rel=1e-12)
    assert few.weights.sum() == pytest.approx(1, abs=1e-12)
