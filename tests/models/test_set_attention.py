"""Set attention: the cheap form is the plain one, and masks hide items."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sharp_attention.attention import activations, temperature
from sharp_attention.models.set_attention import SetAttention, SetOutput
from sharp_attention.tasks import max_retrieval

DIM, NUM_SETS, SIZE, SMALLEST = 16, 8, 12, 7
RULES = {"softmax": activations.softmax, "adaptive": temperature.adaptive_softmax}


def build(activation: str = "gelu", dim: int = DIM, scale: float = 4.0) -> SetAttention:
    """Draw a model with logits of the size that training gives, not nearly equal."""
    model = SetAttention.initialise(jax.random.key(3), dim=dim, activation=activation)
    return jax.tree.map(lambda leaf: scale * leaf, model)


@pytest.fixture(scope="module")
def inputs() -> tuple[jax.Array, jax.Array, jax.Array]:
    sets = max_retrieval.sample(
        jax.random.key(0), NUM_SETS, SIZE, smallest_size=SMALLEST
    )
    # A size of its own for each set, unlike in training.
    sizes = np.array([1, 2, 5, 7, 9, 10, 11, 12])
    where = jnp.asarray(np.arange(SIZE) < sizes[:, None])
    return max_retrieval.item_features(sets), sets.query, where


def compare(one: SetOutput, other: SetOutput, tolerance: float) -> None:
    for name, ours, theirs in zip(SetOutput._fields, one, other, strict=True):
        scale = max(1.0, float(jnp.abs(theirs).max()))
        np.testing.assert_allclose(
            ours, theirs, rtol=0, atol=tolerance * scale, err_msg=name
        )


@pytest.mark.medium
@pytest.mark.parametrize("is_masked", [False, True], ids=["all items", "masked"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("activation", ["gelu", "relu"])
def test_absorbed_form_equals_the_plain_one(
    inputs, activation: str, rule: str, is_masked: bool
) -> None:
    items, query, where = inputs
    model = build(activation)
    options = {"weights": RULES[rule], "where": where if is_masked else None}
    absorbed, plain = jax.jit(
        lambda model: (
            model(items, query, **options),
            model.plain(items, query, **options),
        )
    )(model)
    compare(absorbed, plain, 1e-5)
    assert float(jnp.ptp(absorbed.weights)) > 0.1  # the head looks at something


def test_forms_are_equal_in_double_precision() -> None:
    """Algebra, not luck: with 16 digits the difference falls to their rounding."""
    with jax.enable_x64(True):
        model = jax.tree.map(lambda leaf: leaf.astype(jnp.float64), build())
        rng = np.random.default_rng(0)
        items = jnp.asarray(rng.normal(size=(3, 5, 11)))
        query = jnp.asarray(rng.normal(size=3))
        outputs = jax.jit(lambda m: (m(items, query), m.plain(items, query)))(model)
        compare(*outputs, 1e-13)


@pytest.mark.medium
def test_logits_alone_are_those_of_the_model(inputs) -> None:
    items, query, _ = inputs
    model = build()
    logits = model.attention_logits(items, query)
    np.testing.assert_array_equal(logits, model(items, query).attention_logits)


def test_what_is_masked_does_not_count(inputs) -> None:
    items, query, where = inputs
    model = build()
    output = model(items, query, where=where)
    changed = jnp.where(where[..., None], items, 100.0)
    other = model(changed, query, where=where)
    np.testing.assert_array_equal(output.class_logits, other.class_logits)
    np.testing.assert_array_equal(output.weights, other.weights)
    assert (np.asarray(output.weights)[~np.asarray(where)] == 0).all()
    np.testing.assert_allclose(output.weights.sum(axis=-1), 1, rtol=1e-6)


def test_masking_equals_leaving_out(inputs) -> None:
    items, query, where = inputs
    model = build()
    masked = model(items, query, where=where).class_logits[3]
    alone = model(items[3:4, :7], query[3:4]).class_logits[0]
    np.testing.assert_allclose(masked, alone, atol=1e-5 * float(jnp.abs(alone).max()))


def test_order_of_the_items_does_not_count(inputs) -> None:
    items, query, _ = inputs
    model = build()
    ordered, turned = (model(i, query) for i in (items, items[:, ::-1]))
    scale = float(jnp.abs(ordered.class_logits).max())
    np.testing.assert_allclose(
        ordered.class_logits, turned.class_logits, atol=1e-5 * scale
    )
    np.testing.assert_allclose(ordered.weights, turned.weights[:, ::-1], atol=1e-6)


@pytest.fixture(scope="module")
def default() -> dict[str, np.ndarray]:
    return SetAttention.initialise(jax.random.key(0)).to_arrays()


def test_default_model_has_the_sizes_of_the_task(default) -> None:
    shapes = {name: array.shape for name, array in default.items()}
    assert shapes["item_encoder.inner"] == (128, 11)
    assert shapes["query_encoder.inner"] == (128, 1)
    assert shapes["readout.outer"] == (10, 128)
    assert {shapes[f"{name}_map"] for name in ("query", "key", "value")} == {(128, 128)}
    assert sum(array.nbytes for array in default.values()) < 500_000


def test_entries_start_within_their_bounds(default) -> None:
    others = {"item_encoder.inner": 11, "query_encoder.inner": 1}
    for name, array in default.items():
        bound = others.get(name.removesuffix("_bias"), 128) ** -0.5
        assert 0.7 * bound < np.abs(array).max() <= bound, name


@pytest.mark.parametrize("activation", ["gelu", "relu"])
def test_arrays_make_the_same_model_again(inputs, activation: str) -> None:
    items, query, _ = inputs
    model = build(activation)
    again = SetAttention.from_arrays(model.to_arrays(), activation=activation)
    compare(model(items, query), again(items, query), 0.0)
    assert all(isinstance(a, np.ndarray) for a in model.to_arrays().values())


def without(name: str) -> dict[str, np.ndarray]:
    return {k: v for k, v in build().to_arrays().items() if k != name}


@pytest.mark.parametrize(
    "arrays",
    [
        pytest.param(without("key_map"), id="not a model"),
        pytest.param(without("readout.outer"), id="one missing"),
        pytest.param(without("") | {"extra": np.zeros(3)}, id="one too many"),
        pytest.param(without("") | {"value_map": np.zeros((3, 3))}, id="another shape"),
    ],
)
def test_arrays_of_something_else_are_refused(arrays) -> None:
    with pytest.raises(ValueError, match="arrays must be"):
        SetAttention.from_arrays(arrays)


@pytest.mark.parametrize("name", ["num_features", "num_classes", "dim"])
def test_bad_sizes(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be >= 1; received 0"):
        SetAttention.initialise(jax.random.key(0), **{name: 0})
