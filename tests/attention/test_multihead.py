"""The drop-in for equinox's attention layer."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sharp_attention.attention.multihead import SharpMultiheadAttention
from sharp_attention.attention.temperature import adaptive_softmax

LENGTH, SIZE, HEADS = 12, 16, 4


@pytest.fixture(scope="module")
def layer():
    return eqx.nn.MultiheadAttention(
        HEADS, SIZE, qk_size=5, vo_size=3, output_size=7, key=jax.random.key(0)
    )


@pytest.fixture(scope="module")
def tokens():
    return 3 * jax.random.normal(jax.random.key(1), (LENGTH, SIZE))


MASKS = {
    "no mask": None,
    "one mask": np.tril(np.ones((LENGTH, LENGTH), bool)),
    "a mask a head": np.random.default_rng(0).random((HEADS, LENGTH, LENGTH)) < 0.8,
}


@pytest.mark.medium
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_plain_weights_give_the_layer_itself(layer, tokens, mask):
    mask = None if mask is None else jnp.asarray(mask)
    ours = SharpMultiheadAttention(layer, weights="softmax")
    expected = layer(tokens, tokens, tokens, mask)
    np.testing.assert_allclose(
        ours(tokens, tokens, tokens, mask), expected, rtol=0, atol=5e-6
    )


def test_causal_is_the_lower_triangle(layer, tokens):
    expected = layer(tokens, tokens, tokens, jnp.asarray(MASKS["one mask"]))
    ours = SharpMultiheadAttention(layer, weights="softmax", is_causal=True)
    np.testing.assert_allclose(ours(tokens, tokens, tokens), expected, atol=5e-6)


def test_adaptive_weights_are_those_of_the_rule(layer, tokens):
    def heads(projection):
        return jnp.swapaxes(
            jax.vmap(projection)(tokens).reshape(LENGTH, HEADS, -1), 0, 1
        )

    query, key, value = map(heads, (layer.query_proj, layer.key_proj, layer.value_proj))
    weights = adaptive_softmax(query @ jnp.swapaxes(key, 1, 2) / jnp.sqrt(5.0))
    mixed = jnp.swapaxes(weights @ value, 0, 1).reshape(LENGTH, -1)
    expected = jax.vmap(layer.output_proj)(mixed)
    ours = SharpMultiheadAttention(layer)(tokens, tokens, tokens)
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-5)
    plain = layer(tokens, tokens, tokens)
    assert np.abs(ours - plain).max() > 0.01


def test_a_whole_model_is_wrapped_in_place(layer, tokens):
    model = {"attention": layer, "scale": jnp.float32(2.0)}
    wrapped = eqx.tree_at(
        lambda tree: tree["attention"], model, replace_fn=SharpMultiheadAttention
    )
    gradient = eqx.filter_grad(
        lambda tree: jnp.sum(tree["attention"](tokens, tokens, tokens))
    )(wrapped)
    projection = gradient["attention"].attention.query_proj.weight
    assert projection.shape == layer.query_proj.weight.shape
    assert np.abs(projection).max() > 0


def test_heads_can_be_processed(layer, tokens):
    def double(query, key, value):
        return 2 * query, key, value

    ours = SharpMultiheadAttention(layer, weights="softmax")
    expected = layer(tokens, tokens, tokens, process_heads=double)
    found = ours(tokens, tokens, tokens, process_heads=double)
    np.testing.assert_allclose(found, expected, atol=5e-6)


def test_dropout_is_refused_outside_inference(tokens):
    layer = eqx.nn.MultiheadAttention(2, SIZE, dropout_p=0.1, key=jax.random.key(0))
    ours = SharpMultiheadAttention(layer)
    with pytest.raises(ValueError, match=r"dropout must be 0 .* received 0\.1"):
        ours(tokens, tokens, tokens)
    assert ours(tokens, tokens, tokens, inference=True).shape == (LENGTH, SIZE)
