"""End points that are the same minimum are put together, others are not."""

import numpy as np
import pytest

from sharp_attention.algorithms.clusters import cluster

RNG = np.random.default_rng(0)
CENTRES = np.array([[3.0, 0, 0, 0], [0, 2.0, 0, 0], [0, 0, 0, 1.0]])
members = RNG.permutation(np.repeat([0, 1, 2], 5))
HEADS = CENTRES[members] + 1e-3 * RNG.normal(size=(15, 4))
ENERGIES = np.array([2.0, 1.0, 2.0])[members] + 1e-5 * RNG.random(15)


def test_planted_minima_are_found_in_rising_order():
    found = cluster(ENERGIES, HEADS)
    for number in range(3):
        assert len({*found[members == number]}) == 1
    assert set(found[members == 1]) == {0}  # the lowest energy
    assert set(found) == {0, 1, 2}


def test_mirror_images_of_equal_energy_are_two_minima():
    heads = np.array([[1.0, 0.5], [1.0, -0.5]])
    assert cluster(np.array([1.0, 1.0]), heads).tolist() == [0, 1]


def test_the_same_head_at_another_energy_is_another_end():
    heads = np.ones((2, 3))
    assert cluster(np.array([1.1, 1.0]), heads).tolist() == [1, 0]


def test_tolerances_decide():
    wide = cluster(ENERGIES, HEADS, energy_tolerance=2.0, head_tolerance=2.0)
    assert set(wide) == {0}
    strict = cluster(ENERGIES, HEADS, energy_tolerance=0.0, head_tolerance=0.0)
    assert sorted(strict) == list(range(15))


def test_no_ends_have_no_minima():
    assert cluster(np.empty(0), np.empty((0, 4))).size == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"energies": np.full(15, np.nan)}, "energies must be a number"),
        ({"heads": HEADS[:3]}, "heads must be one head for each energy"),
        ({"energy_tolerance": -1.0}, "energy_tolerance must be >= 0"),
        ({"head_tolerance": -1.0}, "head_tolerance must be >= 0"),
    ],
    ids=lambda case: "-".join(case) if isinstance(case, dict) else None,
)
def test_bad_input_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        cluster(**({"energies": ENERGIES, "heads": HEADS} | change))
