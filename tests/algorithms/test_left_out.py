"""A head that has not seen a text, and what the text does to it."""

import math

import jax
import numpy as np
import pytest

from sharp_attention.algorithms import left_out
from sharp_attention.algorithms.left_out import leave_out
from sharp_attention.channels import proximal
from sharp_attention.tasks.single_location import SpikedSLR
from sharp_attention.theory.single_location import replica

TASK = SpikedSLR(2.0, 3, math.sqrt(0.1))
PLACE = TASK, "softmax", 100, 4.0, 1.0, 1.0


@pytest.fixture(scope="module")
def found():
    return leave_out(jax.random.key(0), *PLACE, num_texts=16)


@pytest.mark.medium
def test_shapes(found):
    for name in ("key_without", "value_without", "key_with", "value_with"):
        assert getattr(found, name).shape == (16, 3)
    assert found.target.shape == (16,)
    assert found.target.dtype == np.float64


@pytest.mark.slow
def test_a_text_pulls_the_fields_to_the_proximal_point(found):
    theory = replica.solve(*PLACE[:2], *PLACE[3:], num_points=2**10)
    before = found.key_without, found.value_without
    variances = theory.variance_k, theory.variance_v
    predicted = proximal.solve("softmax", *before, found.target, *variances)
    for name, place in (("key", predicted.logits), ("value", predicted.value)):
        old, new = getattr(found, f"{name}_without"), getattr(found, f"{name}_with")
        missed, moved = (np.sqrt(np.mean((x - new) ** 2)) for x in (place, old))
        # What is missed is of order D^-1/2: 0.02 of a move of 0.1 at D = 100.
        assert missed < 0.35 * moved


def test_fields_without_are_those_of_a_stranger(found):
    """A head fits what it has seen better than what it has not."""

    def loss(key, value):
        weights = np.exp(key) / np.exp(key).sum(axis=1, keepdims=True)
        return np.mean((found.target - np.sum(weights * value, axis=1)) ** 2)

    seen = loss(found.key_with, found.value_with)
    assert seen < 0.8 * loss(found.key_without, found.value_without)


@pytest.mark.parametrize("num_texts", [0, 400])
def test_bad_numbers_of_texts_are_named(num_texts):
    with pytest.raises(ValueError, match="num_texts must be"):
        leave_out(jax.random.key(0), *PLACE, num_texts=num_texts)


def test_a_descent_that_fails_is_not_hidden(monkeypatch):
    def gives_up(evaluate, start, **settings):
        _, slope = evaluate(start)
        return type("Stopped", (), {"x": start, "jac": slope, "message": "tired"})

    monkeypatch.setattr(left_out.optimize, "minimize", gives_up)
    with pytest.raises(RuntimeError, match="tired"):
        leave_out(jax.random.key(0), *PLACE, num_texts=1)
