"""Normalised weights in the max task: identities, two tokens, both selectors."""

import math

import numpy as np
import pytest
from scipy import special

from sharp_attention.theory.single_location import max_grids, maximum
from sharp_attention.theory.single_location.heads import Head


def two_token_moments(activation, head, num=41):
    """B, A and T for L = 2, by plain sums over both scores of both tokens."""
    g = np.linspace(-7, 7, num)
    density = np.exp(-(g**2) / 2) * (g[1] - g[0]) / math.sqrt(2 * math.pi)
    x, y = g[:, None], g
    # Scores of the teacher (x) and what is left of the head's (y): token 1 by token 2.
    score = (head.m_k * x + head.stray * y).ravel()
    weight = np.outer(density, density).ravel()
    log_omega = score
    if activation == "softplus":
        log_omega = np.log(np.logaddexp(0, score))
    alpha = special.expit(log_omega[:, None] - log_omega)
    teacher = np.broadcast_to(x, (num, num)).ravel()
    chosen = special.expit(head.signal * (teacher[:, None] - teacher))
    kept = weight @ (chosen * alpha + (1 - chosen) * (1 - alpha)) @ weight
    squares = weight @ (alpha**2 + (1 - alpha) ** 2) @ weight
    return kept, squares


@pytest.mark.parametrize("activation", ["softmax", "softplus"])
def test_two_tokens(activation):
    head = Head(1.5, 2, 0.8, 1.1)
    found = maximum.moments(activation, [head])
    kept, squares = two_token_moments(activation, head)
    assert found.kept[0] == pytest.approx(kept, rel=1e-9)
    assert found.squares[0] == pytest.approx(squares, rel=1e-9)


def test_the_posterior_is_calibrated():
    """A = B where softmax is the posterior (Nishimori)."""
    found = maximum.moments("softmax", [Head(2.0, 5, 2.0, 4.0)])
    assert found.squares[0] == pytest.approx(found.kept[0], rel=1e-12)
    assert found.crossed[0] == 0


def test_a_single_token_and_a_key_of_zero():
    heads = [Head(2.0, 1, 0.8, 0.64), Head(2.0, 5, 0.0, 0.0)]
    found = maximum.moments("softmax", heads)
    np.testing.assert_allclose(found.kept, [1.0, 0.2], rtol=1e-12)
    np.testing.assert_allclose(found.squares, [1.0, 0.2], rtol=1e-12)
    np.testing.assert_allclose(found.lost, [0.0, 0.8], atol=1e-12)


def test_both_selectors():
    """Just below and just above the signal at which the method changes."""
    border = max_grids.SHARP
    signals = border * (1 + 1e-3 * np.array([-1.5, -0.5, 0.5, 1.5]))
    heads = [Head(float(signal), 3, 1.2, 1.44) for signal in signals]
    kept = maximum.moments("softmax", heads).kept
    # A third difference sees a jump, but hardly a smooth function.
    assert abs(np.diff(kept, 3)[0]) < 1e-9
    assert np.ptp(kept) > 1e-8


def test_a_token_that_always_wins():
    """At infinite signal less is lost the longer the key is."""
    heads = [Head(math.inf, 3, m, m**2) for m in (0.5, 1.0, 2.0)]
    found = maximum.moments("softmax", heads)
    assert (np.diff(found.lost) < 0).all()
    assert 0 < found.lost[2] < 0.4


def test_texts_that_are_too_long():
    with pytest.raises(ValueError, match=r"lengths must be at most 10\*\*100"):
        maximum.moments("softmax", [Head(2.0, 10**101, 1.0, 1.0)])
