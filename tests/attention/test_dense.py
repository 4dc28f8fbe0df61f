"""The dense reference against row-by-row NumPy, JAX's own attention and the tables."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import attention_cases as cases
from sharp_attention.attention import dense
from sharp_attention.attention.temperature import (
    POLYNOMIAL,
    adaptive_softmax,
    inverse_temperature,
)


@pytest.mark.parametrize("is_adaptive", [False, True], ids=["plain", "adaptive"])
@pytest.mark.parametrize("is_causal", [False, True], ids=["all keys", "causal"])
def test_agrees_with_numpy(is_adaptive, is_causal):
    inputs = cases.draw(9, 7, batch=2, heads=4, kv_heads=2, masked=True)
    settings = cases.settings(is_adaptive=is_adaptive, is_causal=is_causal)
    output, statistics, _ = cases.reference(inputs, settings, gradients=False)
    visible = inputs.mask
    if is_causal:
        visible = visible & np.tril(np.ones((9, 7), bool))
    for b, h in np.ndindex(2, 4):
        expected = cases.numpy_attention(
            inputs.query[b, :, h].astype(float),
            inputs.key[b, :, h // 2].astype(float),
            inputs.value[b, :, h // 2].astype(float),
            scale=settings.scale,
            visible=visible[b, h],
            polynomial=POLYNOMIAL if is_adaptive else None,
        )
        ours = (output[b, :, h], *(array[b, h] for array in statistics))
        for mine, theirs in zip(ours, expected, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("is_causal", [False, True], ids=["all keys", "causal"])
def test_plain_attention_is_that_of_jax(is_causal):
    inputs = cases.draw(12, 8, heads=4, kv_heads=2)
    arrays = (inputs.query, inputs.key, inputs.value)
    settings = cases.settings(is_adaptive=False, is_causal=is_causal)
    output, statistics = dense.attend(*arrays, None, settings)
    expected, log_normaliser = jax.nn.dot_product_attention(
        *map(jnp.asarray, arrays), is_causal=is_causal, return_residual=True
    )
    np.testing.assert_allclose(output, expected, rtol=0, atol=3e-6)
    by_head = np.swapaxes(log_normaliser, 1, 2)
    np.testing.assert_allclose(statistics.log_normaliser, by_head, rtol=1e-6)


def test_weights_are_those_of_adaptive_softmax():
    """The output for unit values is the weights themselves."""
    inputs = cases.draw(11, heads=1, kv_heads=1)
    settings = cases.settings(return_statistics=False)
    value = np.eye(11, dtype=np.float32)[None, :, None]
    output, nothing = dense.attend(inputs.query, inputs.key, value, None, settings)
    logits = settings.scale * inputs.query[0, :, 0] @ inputs.key[0, :, 0].T
    np.testing.assert_allclose(output[0, :, 0], adaptive_softmax(logits), atol=1e-6)
    assert nothing is None


# Logits: entropy, inverse temperature, largest plain and adaptive weight; in double
# precision, computed once with exact entropy.
GOLDEN = {
    "zeros": (np.zeros(3), 1.0986122887, 1.4187862290, 1 / 3),
    "1 to 4": (np.arange(1.0, 5.0), 0.9475369640, 1.1824114138, 0.6996388758),
    "0.2 (0..15)": (0.2 * np.arange(16), 2.4335046640, 2.1882298601, 0.3547684656),
    "2 above 15 zeros": (
        np.r_[2.0, np.zeros(15)],
        2.4485126374,
        2.1902391962,
        0.8418992936,
    ),
    "10 above 3 zeros": (np.r_[10.0, np.zeros(3)], 0.0014980029, 1.0, 0.9998638188),
    "5 above 511 zeros": (
        np.r_[5.0, np.zeros(511)],
        5.3660075705,
        2.0096395715,
        0.9783704568,
    ),
    "5 above 1023 zeros": (
        np.r_[5.0, np.zeros(1023)],
        6.4324869916,
        1.0,
        0.1266958271,
    ),
}


@pytest.mark.parametrize("golden", GOLDEN.values(), ids=GOLDEN)
def test_golden_values(golden):
    logits, entropy, beta, largest = golden
    with jax.enable_x64(True):
        output, statistics = dense.attend(
            jnp.ones((1, 1, 1, 1)),
            jnp.asarray(logits)[None, :, None, None],
            jnp.asarray(logits == logits.max(), float)[None, :, None, None],
            None,
            cases.settings(scale=1.0),
        )
    num_largest = np.sum(logits == logits.max())
    assert float(statistics.entropy[0, 0, 0]) == pytest.approx(entropy, abs=1e-9)
    assert float(statistics.inverse_temperature[0, 0, 0]) == pytest.approx(beta)
    assert float(output[0, 0, 0, 0]) / num_largest == pytest.approx(largest, abs=1e-9)


def test_every_kind_of_row_is_finite():
    output, statistics, _ = cases.evaluate(
        dense, cases.row_inputs(), cases.settings(scale=1.0), gradients=False
    )
    assert np.isfinite(output).all()
    kinds = dict(zip(cases.ROW_KINDS, statistics.entropy[:, 0, 0], strict=True))
    assert kinds["uniform 16"] == pytest.approx(np.log(16), abs=1e-6)
    assert kinds["single key"] == kinds["all hidden"] == 0
    assert kinds["two keys far above the rest"] == pytest.approx(np.log(2), abs=1e-6)
    empty = list(cases.ROW_KINDS).index("all hidden")
    assert (output[empty] == 0).all()
    assert statistics.inverse_temperature[empty] == 1
    assert statistics.log_normaliser[empty] == -np.inf


@pytest.mark.parametrize("through_entropy", [False, True])
def test_gradients_against_finite_differences(through_entropy):
    """With beta constant the other side of the difference must keep its beta, too."""
    inputs = cases.draw(6, masked=True)
    settings = cases.settings(through_entropy=through_entropy)
    _, statistics, gradients = cases.reference(inputs, settings)
    rng = np.random.default_rng(3)
    direction = rng.standard_normal(inputs.query.shape)
    step = 1e-5

    def loss(query):
        if through_entropy:
            moved = cases.Inputs(
                query, inputs.key, inputs.value, inputs.mask, inputs.of_output
            )
            output = cases.reference(moved, settings, gradients=False)[0]
        else:
            beta = np.swapaxes(statistics.inverse_temperature, 1, 2)[..., None]
            moved = cases.Inputs(
                beta * query, inputs.key, inputs.value, inputs.mask, inputs.of_output
            )
            plain = cases.settings(is_adaptive=False)
            output = cases.reference(moved, plain, gradients=False)[0]
        return np.sum(output * inputs.of_output)

    slope = (
        loss(inputs.query + step * direction) - loss(inputs.query - step * direction)
    ) / (2 * step)
    assert np.sum(gradients[0] * direction) == pytest.approx(slope, rel=1e-6)


def test_beta_follows_from_the_entropy():
    inputs = cases.draw(20)
    _, statistics, _ = cases.evaluate(dense, inputs, cases.settings(), gradients=False)
    expected = inverse_temperature(statistics.entropy)
    np.testing.assert_allclose(statistics.inverse_temperature, expected, atol=1e-6)
    assert (expected > 1).mean() > 0.5


def test_plain_statistics_have_unit_beta():
    inputs = cases.draw(20)
    settings = cases.settings(is_adaptive=False)
    _, statistics, _ = cases.evaluate(dense, inputs, settings, gradients=False)
    assert (statistics.inverse_temperature == 1).all()
    assert (statistics.entropy > 0).any()
