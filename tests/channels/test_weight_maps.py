"""Each map equals its namesake in `attention.activations`."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sharp_attention.attention import activations
from sharp_attention.channels import weight_maps

LOGITS = np.random.default_rng(5).normal(scale=3.0, size=(40, 4))


@pytest.mark.parametrize("name", weight_maps.ACTIVATIONS)
def test_equals_the_map_of_the_attention_layer(name):
    with jax.enable_x64(True):
        rows = weight_maps.weight_map(name)(tuple(jnp.asarray(LOGITS.T)))
        expected = getattr(activations, name)(jnp.asarray(LOGITS))
        np.testing.assert_allclose(np.stack(rows, axis=1), expected, atol=1e-14)


def test_erf_with_an_offset():
    with jax.enable_x64(True):
        rows = weight_maps.weight_map("erf", 0.7)(tuple(jnp.asarray(LOGITS.T)))
        expected = activations.erf(jnp.asarray(LOGITS), offset=0.7)
        np.testing.assert_allclose(np.stack(rows, axis=1), expected, atol=1e-14)


def test_softmax_survives_large_logits_and_their_gradient():
    with jax.enable_x64(True):
        rows = (jnp.array([800.0]), jnp.array([-800.0]))
        softmax = weight_maps.weight_map("softmax")
        assert [float(row[0]) for row in softmax(rows)] == [1.0, 0.0]
        slope = jax.grad(lambda row: softmax((row, rows[1]))[0].sum())(rows[0])
        assert float(slope[0]) == 0.0


@pytest.mark.parametrize("name", weight_maps.ACTIVATIONS)
def test_only_softmax_ignores_shifts(name):
    with jax.enable_x64(True):
        this = weight_maps.weight_map(name)
        rows = tuple(jnp.asarray(LOGITS.T))
        moved = this(tuple(row + 0.3 for row in rows))
        equal = np.allclose(np.stack(moved), np.stack(this(rows)), atol=1e-12)
        assert equal == this.ignores_shifts == (name == "softmax")


@pytest.mark.parametrize(
    ("name", "offset", "message"),
    [
        ("sigmoid", 0.0, "activation must be one of 'softmax', 'linear'"),
        ("erf", np.nan, "offset must be a number"),
        ("softmax", 0.5, "offset of softmax must be <= 0; received 0.5"),
        ("linear", -0.5, "offset of linear must be >= 0; received -0.5"),
    ],
)
def test_bad_input_is_named(name, offset, message):
    with pytest.raises(ValueError, match=message):
        weight_maps.weight_map(name, offset)
