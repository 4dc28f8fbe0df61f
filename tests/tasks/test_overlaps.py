"""Order parameters: which are possible, and how they are measured."""

import math

import numpy as np
import pytest

from sharp_attention.tasks.overlaps import Overlaps, measure_overlaps

NAMES = ("m_k", "q_k", "m_v", "q_v", "m_kv", "m_vk", "q_kv")


def vectors(dim=6, seed=0):
    """Exactly orthogonal teachers of norm sqrt(dim), a key and a value."""
    rng = np.random.default_rng(seed)
    basis, _ = np.linalg.qr(rng.normal(size=(dim, 2)))
    teacher_key, teacher_value = math.sqrt(dim) * basis.T
    key, value = rng.normal(size=(2, dim))
    return key, value, teacher_key, teacher_value


def test_measured_overlaps_are_scalar_products():
    key, value, teacher_key, teacher_value = vectors()
    found = measure_overlaps(key, value, teacher_key, teacher_value)
    assert found.m_k == pytest.approx(key @ teacher_key / 6)
    assert found.q_k == pytest.approx(key @ key / 6)
    assert found.m_v == pytest.approx(value @ teacher_value / 6)
    assert found.q_v == pytest.approx(value @ value / 6)
    assert found.m_kv == pytest.approx(key @ teacher_value / 6)
    assert found.m_vk == pytest.approx(value @ teacher_key / 6)
    assert found.q_kv == pytest.approx(key @ value / 6)
    assert all(isinstance(number, float) for number in found.values())
    assert not found.on_manifold


def test_many_heads_at_once():
    _, _, teacher_key, teacher_value = vectors()
    heads = np.random.default_rng(1).normal(size=(2, 5, 6))
    found = measure_overlaps(*heads, teacher_key, teacher_value)
    assert found.shape == (5,)
    one = measure_overlaps(*heads[:, 3], teacher_key, teacher_value)
    for name in NAMES:
        assert getattr(found, name)[3] == pytest.approx(getattr(one, name))


def test_the_gram_matrix_is_that_of_the_vectors():
    key, value, teacher_key, teacher_value = vectors()
    found = measure_overlaps(key, value, teacher_key, teacher_value)
    rows = np.stack([teacher_key, teacher_value, key, value])
    np.testing.assert_allclose(found.gram(), rows @ rows.T / 6, atol=1e-12)


def test_only_the_directions_of_the_teachers_count():
    """In single precision they are neither orthogonal nor of norm sqrt(dim)."""
    key, value, teacher_key, teacher_value = vectors()
    right = measure_overlaps(key, value, teacher_key, teacher_value)
    tilted = teacher_value + 0.1 * teacher_key
    found = measure_overlaps(key, value, 3 * teacher_key, tilted)
    for one, other in zip(found.values(), right.values(), strict=True):
        assert one == pytest.approx(other, abs=1e-12)


@pytest.mark.parametrize(
    ("overlaps", "eigenvalue"),
    [
        ((1.0, 0.9, 0.0, 0.0), "number 1 is -0.0512"),
        ((0.0, 1.0, 0.0, 1.0, 0.8, 0.0, 0.8), "number 1 is -0.13"),
        ((1.2, 1.0, 1.2, 1.0), "number 1 is -0.2 and number 2 is -0.2"),
    ],
)
def test_impossible_overlaps_name_the_negative_eigenvalues(overlaps, eigenvalue):
    with pytest.raises(ValueError, match=eigenvalue):
        Overlaps(*overlaps)


def test_rounding_is_forgiven():
    Overlaps(1.0, 1.0 - 1e-10, 1.0, 1.0)
    Overlaps(1e6, 1e12 * (1 - 1e-10), 1.0, 1.0)  # relative to the length of the key
    with pytest.raises(ValueError, match="admissible"):
        Overlaps(1.0, 1.0 - 1e-7, 1.0, 1.0)


@pytest.mark.parametrize(
    ("overlaps", "message"),
    [
        ((math.nan, 1.0, 0.0, 1.0), "m_k must be a number, not NaN"),
        ((0.0, 1.0, math.inf, 1.0), "m_v must be finite"),
        ((0.5, math.inf, 0.0, 1.0), "m_k must be infinite where q_k is"),
        ((math.inf, math.inf, 0.0, 1.0, 0.0, 0.3), "0 where q_k is inf"),
    ],
)
def test_bad_numbers(overlaps, message):
    with pytest.raises(ValueError, match=message):
        Overlaps(*overlaps)


def test_a_key_that_is_infinitely_long():
    assert Overlaps(math.inf, math.inf, 1.0, 1.0).on_manifold


def test_arrays_are_checked_entry_by_entry():
    assert Overlaps(np.array([0.5, 1.0]), 1.0, 0.3, 0.5).shape == (2,)
    with pytest.raises(ValueError, match="admissible"):
        Overlaps(np.array([0.5, 1.1]), 1.0, 0.3, 0.5)


@pytest.mark.parametrize(
    ("overlaps", "message"),
    [
        ((np.zeros(2), np.ones(3), 0.0, 1.0), "overlaps must be of shapes that broad"),
        ((np.zeros(0), 1.0, 0.0, 1.0), "m_k must be a number or an array that is not"),
        ((0.0, 1.0, 0.0, np.ones((2, 0))), r"q_v must be .* not empty; .*\(2, 0\)"),
    ],
)
def test_bad_shapes(overlaps, message):
    with pytest.raises(ValueError, match=message):
        Overlaps(*overlaps)


def test_bad_vectors():
    key, value, teacher_key, teacher_value = vectors()
    rule = "teachers must be two vectors of one length"
    with pytest.raises(ValueError, match=rule):
        measure_overlaps(key, value, teacher_key, teacher_value[:5])
    with pytest.raises(ValueError, match=rule):
        measure_overlaps(1.0, 1.0, 1.0, 1.0)
    with pytest.raises(ValueError, match="teachers must be vectors of length 2"):
        measure_overlaps(key[:1], value[:1], teacher_key[:1], teacher_value[:1])
    with pytest.raises(ValueError, match=r"key must be \(\.\.\., 6\)"):
        measure_overlaps(key[:5], value, teacher_key, teacher_value)
    with pytest.raises(ValueError, match="linearly independent"):
        measure_overlaps(key, value, teacher_key, 2 * teacher_key)
    with pytest.raises(ValueError, match="linearly independent"):
        measure_overlaps(key, value, teacher_key, np.zeros(6))
