"""The character decoder: causal, blind to padding, the same under either form."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sharp_attention.attention import activations, temperature
from sharp_attention.models.decoder import RULES, Decoder
from sharp_attention.models.places import random_places
from sharp_attention.models.positions import rotate, rotate_at

LENGTH, CHARACTERS = 24, 9


@pytest.fixture(scope="module")
def model() -> Decoder:
    drawn = Decoder.initialise(
        jax.random.key(2), num_characters=CHARACTERS, dim=16, num_heads=2
    )
    return jax.tree.map(lambda leaf: 1.5 * leaf, drawn)


@pytest.fixture(scope="module")
def inputs() -> tuple[jax.Array, jax.Array, jax.Array]:
    characters = jax.random.randint(jax.random.key(3), (4, LENGTH), 1, CHARACTERS)
    padding = jnp.arange(LENGTH) < jnp.array([0, 3, 5, 10])[:, None]
    characters = jnp.where(padding, 0, characters)
    places = random_places(jax.random.key(4), 4, LENGTH)
    return characters, places, characters > 0


def by_hand(model: Decoder, inputs, rule: str) -> np.ndarray:
    """Write the module's formulas in NumPy, all places asking in every block."""
    characters, where = (np.asarray(inputs[place]) for place in (0, 2))
    weigh = {"softmax": activations.softmax, "adaptive": temperature.adaptive_softmax}
    mask = np.tril(np.ones((LENGTH, LENGTH), bool)) & where[:, None, None, :]

    def norm(x, gain):
        return np.asarray(gain) * x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6)

    x = np.asarray(model.embedding)[characters]
    for block in model.blocks:
        normed = norm(x, block.attention_norm)
        maps = (block.query_map, block.key_map, block.value_map)
        query, key, value = (
            (normed @ np.asarray(m)).reshape(4, LENGTH, 2, 8) for m in maps
        )
        query, key = (
            np.asarray(rotate_at(jnp.asarray(v), inputs[1])) for v in (query, key)
        )
        logits = np.einsum("bqhd,bkhd->bhqk", query, key) / np.sqrt(8)
        weights = np.asarray(weigh[rule](logits, where=mask))
        mixed = np.einsum("bhqk,bkhd->bqhd", weights, value).reshape(4, LENGTH, 16)
        x = x + mixed @ np.asarray(block.output_map)
        inner = norm(x, block.hidden_norm) @ np.asarray(block.inner)
        x = x + np.asarray(jax.nn.gelu(inner)) @ np.asarray(block.outer)
    return norm(x, model.norm) @ np.asarray(model.readout)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("num_queries", [1, 5, LENGTH])
def test_logits_are_those_of_the_formulas(model, inputs, rule, num_queries) -> None:
    found = model(*inputs, num_queries=num_queries, weights=rule)
    expected = by_hand(model, inputs, rule)[:, -num_queries:]
    seen = np.asarray(inputs[2])[:, -num_queries:]  # nobody reads the padding's logits
    np.testing.assert_allclose(
        np.asarray(found)[seen], expected[seen], rtol=0, atol=2e-3
    )


def test_rules_differ(model, inputs) -> None:
    softmax, adaptive = (model(*inputs, num_queries=3, weights=r) for r in RULES)
    assert float(jnp.abs(softmax - adaptive).max()) > 0.05


def test_the_future_is_not_seen(model, inputs) -> None:
    characters, places, where = inputs
    changed = characters.at[:, -1].set(1 + characters[:, -1] % (CHARACTERS - 1))
    one, other = (
        model(c, places, where, num_queries=4)[:, :-1] for c in (characters, changed)
    )
    np.testing.assert_allclose(one, other, atol=1e-5)


@pytest.mark.medium
def test_padding_changes_nothing(model, inputs) -> None:
    characters, _, _ = inputs
    row = characters[3:, 10:]
    wide = jnp.pad(row, ((0, 0), (7, 0)))
    results = []
    for text in (row, wide):
        places = jnp.broadcast_to(jnp.arange(text.shape[1]) * 0.5, text.shape)
        results.append(model(text, places, text > 0, num_queries=4))
    np.testing.assert_allclose(*results, atol=1e-4)


@pytest.mark.parametrize("rule", RULES)
def test_watched_heads_are_those_of_the_model(model, inputs, rule: str) -> None:
    seen = model.watch(*inputs, num_queries=5, weights=rule)
    assert seen.entropy.shape == (2, 4, 2, 5)
    characters, places, where = inputs
    block = model.blocks[0]
    x = model.embedding[characters]
    query, key, _ = block.heads(x, places, 5)
    logits = np.einsum("bqhd,bkhd->bhqk", query, key) / np.sqrt(8)
    for b, h, q in ((0, 0, 0), (3, 1, 4)):
        visible = np.asarray(where)[b] & (np.arange(LENGTH) <= LENGTH - 5 + q)
        row = logits[b, h, q][visible]
        weights = np.asarray(RULES[rule](row), np.float64)
        assert seen.spread[0, b, h, q] == pytest.approx(np.ptp(row), rel=1e-4)
        assert seen.top_weight[0, b, h, q] == pytest.approx(weights.max(), rel=1e-4)
        entropy = -(weights * np.log(weights)).sum()
        assert seen.entropy[0, b, h, q] == pytest.approx(entropy, abs=1e-4)


def test_rotation_at_whole_places_is_the_plain_one() -> None:
    vectors = jax.random.normal(jax.random.key(0), (2, 7, 3, 8))
    places = jnp.broadcast_to(jnp.arange(7.0), (2, 7))
    expected = rotate(vectors.swapaxes(1, 2)).swapaxes(1, 2)
    np.testing.assert_allclose(rotate_at(vectors, places), expected, atol=1e-6)


def test_parameters_come_back(model) -> None:
    arrays = model.to_arrays()
    empty = Decoder.initialise(
        jax.random.key(9), num_characters=CHARACTERS, dim=16, num_heads=2
    )
    again = empty.from_arrays(arrays).to_arrays()
    for name, array in arrays.items():
        np.testing.assert_array_equal(again[name], array, err_msg=name)


@pytest.mark.parametrize(
    "other", [{"dim": 32}, {"num_layers": 3}], ids=["wider", "deeper"]
)
def test_checkpoint_of_another_architecture_is_refused(model, other: dict) -> None:
    options = {"num_characters": CHARACTERS, "dim": 16, "num_heads": 2} | other
    wrong = Decoder.initialise(jax.random.key(0), **options)
    with pytest.raises(ValueError, match="arrays must be of shapes"):
        wrong.from_arrays(model.to_arrays())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"dim": 6, "num_heads": 2}, "dim must be a multiple of 2 · num_heads = 4"),
        ({"num_layers": 0}, "num_layers must be >= 1"),
        ({"num_characters": 0}, "num_characters must be >= 1"),
    ],
)
def test_impossible_sizes_are_refused(options: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Decoder.initialise(jax.random.key(0), **{"num_characters": 5, **options})
