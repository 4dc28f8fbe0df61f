"""Starts know what their kind says, and heads are told apart up to a reflection."""

import jax
import numpy as np
import pytest

from sharp_attention.algorithms import starts
from sharp_attention.algorithms.instances import check_problem, draw_instance
from sharp_attention.algorithms.trained import measure_head
from sharp_attention.tasks.single_location import Overlaps, SpikedSLR

KEY = jax.random.key(3)
PROBLEM = check_problem(SpikedSLR(1.0, 2), "linear", 100, 0.5, 1.0, 1.0, 0.0, "float32")


@pytest.fixture(scope="module")
def drawn():
    return draw_instance(KEY, 0, PROBLEM, "informed")


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("random", (0, 1, 0, 1, 0, 0, 0)),
        ("informed", (1, 2, 1, 2, 0, 0, 0)),
        ("swapped", (0, 2, 0, 2, 1, 1, 0)),
    ],
)
def test_overlaps_of_starts(drawn, kind, expected):
    heads = starts.draw_starts(KEY, drawn, kind, 400)
    assert heads.key.shape == (400, 100)
    for found, right in zip(measure_head(drawn, heads).values(), expected, strict=True):
        error = np.std(found) / 20
        assert abs(np.mean(found) - right) < 5 * error


def test_the_spread_scales_the_noise_alone(drawn):
    sharp = starts.draw_starts(KEY, drawn, "informed", 3, spread=0.0)
    for start in np.asarray(sharp.key):
        np.testing.assert_allclose(start, drawn.samples.key, rtol=1e-6)


@pytest.mark.parametrize(
    ("overlaps", "expected"),
    [
        (Overlaps(1.0, 2.0, 1.0, 2.0), "matched"),
        (Overlaps(-1.0, 2.0, -0.5, 2.0), "reversed"),
        (Overlaps(0.0, 1.0, 0.0, 1.0, m_kv=0.9, m_vk=0.3), "swapped"),
        (Overlaps(0.0, 1.0, 0.0, 1.0, m_kv=-0.9, m_vk=-0.3), "swapped"),
        (Overlaps(0.1, 1.0, 0.1, 1.0, m_kv=0.1), "lost"),
        (Overlaps(0.0, 0.0, 0.0, 0.0), "lost"),
    ],
)
def test_families(overlaps, expected):
    assert starts.family(overlaps) == expected


def test_families_of_many_heads_have_their_shape():
    many = Overlaps(np.array([1.0, -1.0, 0.0]), 1.0, np.array([1.0, -1.0, 0.0]), 1.0)
    assert starts.family(many).tolist() == ["matched", "reversed", "lost"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("cold", 3), "kind must be one of"),
        (("random", 0), "num_starts must be >= 1"),
        (("random", 3, -1.0), "spread must be >= 0"),
    ],
)
def test_bad_input_is_named(drawn, arguments, message):
    with pytest.raises(ValueError, match=message):
        starts.draw_starts(KEY, drawn, *arguments)
