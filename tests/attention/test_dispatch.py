"""The entry to attention: choice of implementation, and clear errors."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sharp_attention.attention import Statistics, attend, dispatch, rowblock


def arrays(queries=5, keys=7, heads=4, kv_heads=2, dim=8, dtype=jnp.float32):
    rng = np.random.default_rng(0)
    shapes = (queries, heads, dim), (keys, kv_heads, dim), (keys, kv_heads, dim)
    return [jnp.asarray(rng.standard_normal((2, *shape)), dtype) for shape in shapes]


@pytest.mark.parametrize("implementation", ["dense", "rowblock", None])
@pytest.mark.parametrize("weights", ["softmax", "adaptive"])
def test_implementations_agree(implementation, weights):
    query, key, value = arrays()
    ours = attend(query, key, value, weights=weights, implementation=implementation)
    expected = attend(query, key, value, weights=weights, implementation="dense")
    np.testing.assert_allclose(ours, expected, atol=2e-6)


def test_statistics_come_only_when_asked_for():
    query, key, value = arrays()
    plain = attend(query, key, value, weights="adaptive")
    output, statistics = attend(
        query, key, value, weights="adaptive", return_statistics=True
    )
    assert isinstance(plain, jax.Array)
    np.testing.assert_allclose(plain, output, atol=1e-6)
    assert isinstance(statistics, Statistics)
    assert all(array.shape == (2, 4, 5) for array in statistics)


def test_default_is_the_plain_softmax_of_jax():
    query, key, value = arrays()
    expected = jax.nn.dot_product_attention(query, key, value)
    np.testing.assert_allclose(attend(query, key, value), expected, atol=2e-6)


def test_scale_defaults_to_one_over_root_dim():
    query, key, value = arrays(dim=9)
    given = attend(query, key, value, scale=1 / 3)
    np.testing.assert_array_equal(attend(query, key, value), given)


@pytest.mark.parametrize(
    "shape", [(7,), (5, 7), (1, 5, 7), (2, 1, 5, 1), (1, 4, 1, 7), (2, 4, 5, 7)]
)
def test_mask_broadcasts(shape):
    query, key, value = arrays()
    mask = np.random.default_rng(1).random(shape) < 0.7
    full = np.broadcast_to(mask, (2, 4, 5, 7))
    narrow = attend(query, key, value, weights="adaptive", mask=mask)
    np.testing.assert_allclose(
        narrow, attend(query, key, value, weights="adaptive", mask=full), atol=1e-6
    )


def test_numpy_arrays_are_welcome():
    """Double precision becomes single where JAX has it switched off, as everywhere."""
    single = arrays()
    output = attend(*(np.asarray(array, np.float64) for array in single))
    assert output.dtype == jnp.float32
    np.testing.assert_allclose(output, attend(*single), atol=1e-6)


def test_value_may_have_its_own_dim():
    query, key, value = arrays()
    wide = jnp.concatenate([value, value], axis=-1)
    assert attend(query, key, wide).shape == (2, 5, 4, 16)


def changed(**changes):
    names = ("query", "key", "value")
    return dict(zip(names, arrays(), strict=True)) | changes


BAD = {
    "query without batch": (changed(query=jnp.ones((5, 4, 8))), ValueError, "query"),
    "no keys": (
        changed(key=jnp.ones((2, 0, 2, 8)), value=jnp.ones((2, 0, 2, 8))),
        ValueError,
        "key must be",
    ),
    "other batch": (changed(key=jnp.ones((3, 7, 2, 8))), ValueError, "key must be"),
    "other dim": (changed(key=jnp.ones((2, 7, 2, 9))), ValueError, "key must be"),
    "lengths of key and value": (
        changed(value=jnp.ones((2, 6, 2, 8))),
        ValueError,
        "value must be",
    ),
    "heads of key and value": (
        changed(value=jnp.ones((2, 7, 4, 8))),
        ValueError,
        "value must be",
    ),
    "heads not divisible": (
        changed(query=jnp.ones((2, 5, 3, 8))),
        ValueError,
        "multiple of the 2 heads.* received 3",
    ),
    "float64 with float32": (
        changed(query=np.ones((2, 5, 4, 8))),
        TypeError,
        "share one float type.*query float64, key float32",
    ),
    "integers": (
        changed(value=jnp.ones((2, 7, 2, 8), int)),
        TypeError,
        "value must be of a float type",
    ),
    "NaN": (changed(key=jnp.full((2, 7, 2, 8), jnp.nan)), ValueError, "key must be"),
    "scale 0": (changed(scale=0.0), ValueError, "scale must be > 0; received 0.0"),
    "negative scale": (changed(scale=-1.0), ValueError, "scale must be > 0"),
    "scale NaN": (changed(scale=float("nan")), ValueError, "scale"),
    "several scales": (
        changed(scale=np.array([1.0, 2.0])),
        ValueError,
        r"scale must be a single number; received array\(\[1\., 2\.\]\)",
    ),
    "unknown weights": (changed(weights="sharp"), ValueError, "weights must be one of"),
    "unknown implementation": (
        changed(implementation="triton"),
        ValueError,
        "implementation must be one of.*received 'triton'",
    ),
    "no GPU": (
        changed(implementation="mosaic_gpu"),
        ValueError,
        "implementation must be one that can serve.*Hopper GPU",
    ),
    "mask of numbers": (
        changed(mask=jnp.ones((5, 7))),
        TypeError,
        "mask must be boolean; received float32",
    ),
    "mask of another shape": (
        changed(mask=jnp.ones((5, 6), bool)),
        ValueError,
        r"mask must be broadcastable to \(2, 4, 5, 7\)",
    ),
    "mask with too many axes": (
        changed(mask=jnp.ones((1, 1, 1, 1, 1), bool)),
        ValueError,
        "mask must be broadcastable",
    ),
}


@pytest.mark.parametrize(("arguments", "error", "message"), BAD.values(), ids=BAD)
def test_bad_input(arguments, error, message):
    with pytest.raises(error, match=message):
        attend(**arguments)


def test_shapes_raise_under_jit_too():
    with pytest.raises(ValueError, match="key must be"):
        jax.jit(attend)(**changed(key=jnp.ones((2, 7, 2, 9))))


def test_traced_scale_is_refused():
    query, key, value = arrays()
    with pytest.raises(TypeError, match="scale must be a number known"):
        jax.jit(lambda scale: attend(query, key, value, scale=scale))(1.0)


def test_none_picks_row_blocks_and_names_pick_themselves(monkeypatch):
    query, _, value = arrays()
    assert dispatch._pick(None, query, value, None) is rowblock
    assert dispatch._pick("rowblock", query, value, None) is rowblock
    monkeypatch.setattr(dispatch.mosaic_gpu, "obstacle", lambda *_: None)
    assert dispatch._pick("mosaic_gpu", query, value, None) is dispatch.mosaic_gpu
    assert dispatch._pick(None, query, value, None) is rowblock


def test_runs_under_jit_and_grad():
    query, key, value = arrays()

    @jax.jit
    def loss(query):
        return attend(query, key, value, weights="adaptive", is_causal=True).sum()

    assert np.isfinite(jax.grad(loss)(query)).all()
