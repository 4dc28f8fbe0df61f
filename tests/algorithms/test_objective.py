"""The objective, read in blocks, against the formula written out."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special

from sharp_attention.algorithms import objective
from sharp_attention.tasks.single_location import SpikedSLR, sample

WEIGHTS = {
    "softmax": lambda x: special.softmax(x, axis=-1),
    "linear": lambda x: 1 + x,
    "erf": lambda x: 1 + special.erf(x),
    "softplus": lambda x: (
        np.logaddexp(0, x) / np.logaddexp(0, x).sum(axis=-1, keepdims=True)
    ),
}


@pytest.fixture(autouse=True)
def _double_precision():
    with jax.enable_x64(True):
        yield


def draw(lengths=3, num_samples=37, dim=11):
    samples = sample(jax.random.key(1), SpikedSLR(1.0, lengths, 0.3), dim, num_samples)
    data = objective.Data(samples.tokens, samples.target, samples.mask)
    return data, objective.Head(*jax.random.normal(jax.random.key(2), (2, dim)))


def by_hand(head, data, ridges, activation) -> float:
    tokens, target, mask = (np.asarray(x) for x in data)
    key, value = (np.asarray(x) for x in head)
    total = ridges[0] * key @ key / 2 + ridges[1] * value @ value / 2
    for text, label, is_token in zip(tokens, target, mask, strict=True):
        fields = text[is_token] @ np.stack([key, value], axis=1) / np.sqrt(key.size)
        weights = WEIGHTS[activation](fields[:, 0])
        total += (label - weights @ fields[:, 1]) ** 2 / 2
    return float(total)


@pytest.mark.parametrize("activation", objective.ACTIVATIONS)
@pytest.mark.parametrize("lengths", [3, {2: 0.5, 4: 0.5}], ids=["fixed", "random"])
def test_value(activation, lengths):
    data, head = draw(lengths)
    penalty = objective.Penalty(jnp.asarray(0.3), jnp.asarray(0.7))
    found = objective.objective(head, data, penalty, activation, 0.0)
    expected = by_hand(head, data, (0.3, 0.7), activation)
    assert float(found) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("activation", objective.ACTIVATIONS)
def test_gradient_equals_differences(activation):
    data, head = draw()
    penalty = objective.Penalty(jnp.asarray(0.3), jnp.asarray(0.7))

    def value(head):
        return objective.objective(head, data, penalty, activation, 0.0)

    slope = jax.grad(value)(head)
    direction = objective.Head(*jax.random.normal(jax.random.key(3), (2, 11)))
    step = 1e-5

    def along(size):
        return value(jax.tree.map(lambda x, d: x + size * d, head, direction))

    measured = (along(step) - along(-step)) / (2 * step)
    expected = sum(jnp.vdot(*pair) for pair in zip(slope, direction, strict=True))
    assert float(measured) == pytest.approx(float(expected), rel=1e-7)


@pytest.mark.parametrize("block_bytes", [1, 300, 900, 10**9])
def test_blocks_of_any_size_read_every_text_once(monkeypatch, block_bytes):
    data, head = draw()
    whole = objective.loss_and_gradient(head, data, activation="softmax", offset=0.0)
    monkeypatch.setattr(objective, "_BLOCK_BYTES", block_bytes)
    parts = objective.loss_and_gradient(head, data, activation="softmax", offset=0.0)
    np.testing.assert_allclose(parts[0], whole[0], rtol=1e-12)
    np.testing.assert_allclose(np.stack(parts[1]), np.stack(whole[1]), atol=1e-11)


def test_texts_in_single_precision_give_a_double_value():
    data, head = draw()
    single = objective.Data(data.tokens.astype(jnp.float32), *data[1:])
    loss, slope = objective.loss_and_gradient(
        head, single, activation="softmax", offset=0.0
    )
    exact, _ = objective.loss_and_gradient(head, data, activation="softmax", offset=0.0)
    assert loss.dtype == slope.key.dtype == jnp.float64
    assert float(loss) == pytest.approx(float(exact), rel=1e-5)


def test_an_unknown_activation_is_named():
    with pytest.raises(ValueError, match="activation must be one of"):
        objective.attention_weights("relu", jnp.zeros((1, 2)), None)
