"""Where activations meet: random lengths, infinite keys, arrays of keys."""

import math

import numpy as np
import pytest

from sharp_attention.tasks.single_location import SpikedSLR
from sharp_attention.theory.single_location import averages, hard_limit
from sharp_attention.theory.single_location.heads import Head


@pytest.mark.parametrize("activation", ["softmax", "softplus", "erf", "sigmoid"])
def test_random_lengths_average_each_moment(activation):
    mixed = averages.over_lengths(SpikedSLR(2.0, {2: 0.25, 5: 0.75}), activation, 0.8)
    two = averages.over_lengths(SpikedSLR(2.0, 2), activation, 0.8)
    five = averages.over_lengths(SpikedSLR(2.0, 5), activation, 0.8)
    for found, one, other in zip(mixed, two, five, strict=True):
        assert found == pytest.approx(0.25 * one + 0.75 * other, rel=1e-13)


def test_finite_and_infinite_keys_together():
    slopes = np.array([[0.5, math.inf], [2.0, math.inf]])
    found = averages.over_lengths(SpikedSLR(2.0, 3), "softplus", slopes)
    assert found.kept.shape == (2, 2)
    limit = hard_limit.spiked_moments("softplus", 2.0, 3)
    np.testing.assert_allclose(found.kept[:, 1], limit.kept)
    alone = averages.over_lengths(SpikedSLR(2.0, 3), "softplus", 2.0)
    assert found.squares[1, 0] == pytest.approx(alone.squares, rel=1e-13)


def test_q_k_beyond_m_k_squared_is_noise():
    task = SpikedSLR(2.0, 3)
    clean = averages.over_lengths(task, "softmax", 1.0)
    noisy = averages.over_lengths(task, "softmax", 1.0, 1.5)
    assert noisy.kept < clean.kept


def test_offsets_reach_the_element_wise_weights():
    heads = [Head(2.0, 3, 0.8, 0.7)]
    low = averages.head_moments(True, "sigmoid", heads, offset=-2.0)
    high = averages.head_moments(True, "sigmoid", heads, offset=1.0)
    assert low.kept[0] < high.kept[0]


def test_erf_has_no_infinite_key():
    with pytest.raises(ValueError, match="m_k must be finite for erf"):
        averages.over_lengths(SpikedSLR(2.0, 3), "erf", math.inf)
