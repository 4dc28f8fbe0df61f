"""What is fixed when attention is traced."""

import jax
import jax.numpy as jnp
import pytest

from sharp_attention.attention.interface import (
    Settings,
    pick_inverse_temperature,
    working_type,
)
from sharp_attention.attention.temperature import inverse_temperature


@pytest.mark.parametrize(
    ("changes", "needs_entropy", "differentiates_entropy"),
    [
        ({}, False, False),
        ({"through_entropy": True}, False, False),
        ({"is_adaptive": True}, True, False),
        ({"is_adaptive": True, "through_entropy": True}, True, True),
        ({"return_statistics": True}, True, True),
    ],
)
def test_what_the_passes_need(changes, needs_entropy, differentiates_entropy):
    settings = Settings(scale=1.0, **changes)
    assert settings.needs_entropy is needs_entropy
    assert settings.differentiates_entropy is differentiates_entropy


def test_settings_are_a_key_of_the_compilation_cache():
    assert Settings(scale=0.5) == Settings(scale=0.5)
    assert len({Settings(scale=0.5), Settings(scale=0.5), Settings(scale=1.0)}) == 2


def test_plain_rows_have_beta_one():
    beta = pick_inverse_temperature(jnp.array([1.0, 3.0]), Settings(scale=1.0))
    assert beta.tolist() == [1, 1]


@pytest.mark.parametrize("through_entropy", [False, True])
def test_slope_of_beta(through_entropy):
    settings = Settings(scale=1.0, is_adaptive=True, through_entropy=through_entropy)
    entropy = jnp.float32(2.0)
    beta, slope = jax.value_and_grad(pick_inverse_temperature)(entropy, settings)
    assert float(beta) == pytest.approx(float(inverse_temperature(entropy)))
    expected = float(jax.grad(inverse_temperature)(entropy)) if through_entropy else 0.0
    assert float(slope) == pytest.approx(expected)
    assert not through_entropy or abs(expected) > 0.1


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_sums_are_float32(dtype):
    assert working_type(jnp.dtype(dtype)) == jnp.float32


def test_sums_of_doubles_are_doubles():
    assert working_type(jnp.dtype("float64")) == jnp.float64
