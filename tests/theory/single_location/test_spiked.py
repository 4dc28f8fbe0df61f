"""Normalised weights in the spiked task: identities that hold for any head."""

import math

import numpy as np
import pytest
from scipy import special

from sharp_attention.theory.single_location import spiked
from sharp_attention.theory.single_location.heads import Head

ACTIVATIONS = ["softmax", "softplus"]


def two_token_average(activation, head, function, num=801):
    """E f(alpha_e, g_e, g) for L = 2, by plain sums over both scores."""
    g = np.linspace(-11, 11, num)
    density = np.exp(-(g**2) / 2) * (g[1] - g[0]) / math.sqrt(2 * math.pi)
    own = head.slope * (head.drift + g[:, None])
    other = head.slope * g
    if activation == "softmax":
        alpha = special.expit(own - other)
    else:
        weights = np.logaddexp(0, own), np.logaddexp(0, other)
        alpha = weights[0] / (weights[0] + weights[1])
    return density @ function(alpha, g[:, None], g) @ density


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_two_tokens(activation):
    head = Head(1.5, 2, 0.8, 1.1, 0.5, 0.9, m_kv=0.3, m_vk=-0.4, q_kv=0.25)
    found = spiked.moments(activation, [head])

    def average(function):
        return two_token_average(activation, head, function)

    assert found.kept[0] == pytest.approx(average(lambda a, *_: a), rel=1e-10)
    assert found.lost[0] == pytest.approx(average(lambda a, *_: 1 - a), rel=1e-10)
    squares = average(lambda a, *_: a**2 + (1 - a) ** 2)
    assert found.squares[0] == pytest.approx(squares, rel=1e-10)
    misplaced = average(lambda a, *_: 2 * (1 - a) ** 2)
    assert found.misplaced[0] == pytest.approx(misplaced, rel=1e-10)

    h, w = 0.3 / head.slope, 0.25 / head.slope
    lean = math.sqrt(1.5) * -0.4

    def square(alpha, own, other):
        prediction = alpha * (lean + w * own) + (1 - alpha) * w * other
        return (h * own - prediction) ** 2

    assert found.crossed[0] == pytest.approx(average(square), rel=1e-10)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_weights_sum_to_one(activation):
    """B and 1 - B are different integrals, for any slope and any length."""
    heads = [
        Head(2.0, length, m_k, q_k)
        for length in (3, 10**4, 10**20, 10**60)
        for m_k, q_k in ((0.1, 0.02), (1.0, 1.5), (3.0, 9.0), (-1.0, 4.0))
    ]
    prepared = [spiked._prepare(activation, head, 1.0) for head in heads]
    raw = spiked.rows.evaluate(
        spiked._INTEGRALS[activation],
        [row for row, _ in prepared],
        [sizes for _, sizes in prepared],
        num_outputs=5,
    )
    kept, lost, squares, misplaced, _ = raw.T
    np.testing.assert_allclose(kept + lost, 1, rtol=1e-12)
    np.testing.assert_allclose(misplaced, 1 - 2 * kept + squares, atol=1e-12)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_a_single_token_and_a_key_of_zero(activation):
    alone = spiked.moments(activation, [Head(2.0, 1, 0.8, 1.1)])
    assert (alone.kept[0], alone.lost[0], alone.squares[0]) == (1, 0, 1)
    blind = spiked.moments(activation, [Head(2.0, 5, 0.0, 0.0)])
    assert blind.kept[0] == pytest.approx(0.2, rel=1e-12)
    assert blind.squares[0] == pytest.approx(0.2, rel=1e-12)


def test_the_posterior_is_calibrated():
    """A = B where softmax is the posterior (Nishimori)."""
    heads = [Head(nu, length, nu**0.5, nu) for nu in (0.5, 9.0) for length in (2, 50)]
    found = spiked.moments("softmax", heads)
    np.testing.assert_allclose(found.squares, found.kept, rtol=1e-12)
    np.testing.assert_allclose(found.misplaced, found.lost, rtol=1e-11)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_a_finer_grid_changes_nothing(activation):
    head = Head(4.0, 30, 1.3, 2.0, 0.7, 0.9, 0.2, 0.3, 0.1)
    for coarse, fine in zip(
        spiked.moments(activation, [head]),
        spiked.moments(activation, [head], refinement=1.9),
        strict=True,
    ):
        np.testing.assert_allclose(coarse, fine, rtol=1e-12)
