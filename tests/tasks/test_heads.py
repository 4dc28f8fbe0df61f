import math

import jax
import numpy as np
import pytest

from sharp_attention.tasks.heads import head_with
from sharp_attention.tasks.overlaps import Overlaps, measure_overlaps
from sharp_attention.tasks.single_location import draw_teachers

GENERAL = Overlaps(1.1, 1.8, 0.8, 1.0, m_kv=0.3, m_vk=-0.2, q_kv=0.25)
PROBLEMS = [
    pytest.param(GENERAL, id="general"),
    pytest.param(Overlaps(0.5, 1.25, 1.0, 1.25), id="on the manifold"),
    pytest.param(Overlaps(2.0, 4.0, 1.0, 1.0), id="no room left: k along k*"),
    pytest.param(Overlaps(0.0, 1.0, 0.0, 1.0, q_kv=1.0), id="k equal to v"),
    pytest.param(Overlaps(0.0, 0.0, 0.0, 0.0), id="zero head"),
    pytest.param(Overlaps(0.0, 1.0, 0.0, 4.0, m_kv=1.0, m_vk=-2.0), id="swapped"),
]


@pytest.mark.parametrize("dim", [4, 50])
@pytest.mark.parametrize("overlaps", PROBLEMS)
def test_head_has_its_overlaps(overlaps: Overlaps, dim: int) -> None:
    teachers = draw_teachers(jax.random.key(0), dim)
    head = head_with(jax.random.key(1), overlaps, *teachers)
    # Single precision: seven digits of vectors of norm about two.
    measured = measure_overlaps(*head, *teachers).gram()
    np.testing.assert_allclose(measured, overlaps.gram(), atol=3e-6)


def test_free_directions_are_random() -> None:
    teachers = draw_teachers(jax.random.key(0), 50)
    one, two = (head_with(jax.random.key(i), GENERAL, *teachers)[0] for i in (1, 2))
    assert not np.allclose(one, two)
    again = head_with(jax.random.key(1), GENERAL, *teachers)[0]
    np.testing.assert_array_equal(one, again)


@pytest.mark.parametrize(
    ("overlaps", "dim", "words"),
    [
        (Overlaps(np.ones(2), 1.0, 1.0, 1.0), 10, "those of one head"),
        (Overlaps(math.inf, math.inf, 1.0, 1.0), 10, "finite"),
        (GENERAL, 3, "dim must be >= 4"),
    ],
)
def test_bad_input(overlaps: Overlaps, dim: int, words: str) -> None:
    teachers = draw_teachers(jax.random.key(0), dim)
    with pytest.raises(ValueError, match=words):
        head_with(jax.random.key(1), overlaps, *teachers)
