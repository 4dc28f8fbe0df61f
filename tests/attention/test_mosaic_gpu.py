"""The GPU path without a GPU: lowered for CUDA, and run in Mosaic's interpreter."""

import functools
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax._src.pallas.mosaic_gpu.interpret.params import InterpretGPUParams

import attention_cases as cases
from sharp_attention.attention import dense, mosaic_gpu

CUSTOM_CALL = jax.export.DisabledSafetyCheck.custom_call("mosaic_gpu_v2")


def arrays(queries, keys, *, heads=1, kv_heads=1, dim=64, dtype=jnp.bfloat16):
    rng = np.random.default_rng(queries + keys)
    shapes = (queries, heads), (keys, kv_heads), (keys, kv_heads)
    query, key, value = (rng.standard_normal((1, *shape, dim)) for shape in shapes)
    return [jnp.asarray(x, dtype) for x in (4 * query, key, value)]


def plain_attention(query, key, value, **options):
    """What cuDNN would compute: plain attention, with sums in float32."""
    wide = (x.astype(jnp.float32) for x in (query, key, value))
    return jax.nn.dot_product_attention(*wide, **options).astype(query.dtype)


def settings(dim, **changes):
    return cases.settings(scale=dim**-0.5, through_entropy=True, **changes)


def loss(attend, of_output, *inputs, **options):
    """A number that depends on output and statistics, and both."""
    output, statistics = attend(*inputs, None, **options)
    value = jnp.sum(output.astype(jnp.float32) * of_output)
    value += jnp.sum(statistics.entropy) + 0.1 * jnp.sum(statistics.log_normaliser)
    return value, (output, statistics)


@pytest.mark.parametrize("dim", [64, 128])
@pytest.mark.parametrize("is_causal", [False, True], ids=["all keys", "causal"])
def test_lowers_for_cuda(dim, is_causal):
    """Three kernels: statistics, and their gradients for queries and keys."""
    attend = functools.partial(
        mosaic_gpu.attend,
        settings=settings(dim, is_causal=is_causal),
        plain_attention=plain_attention,
    )
    inputs = arrays(256, 300, heads=4, kv_heads=2, dim=dim)
    gradient = jax.jit(jax.grad(functools.partial(loss, attend, 1.0), has_aux=True))
    exported = jax.export.export(
        gradient, platforms=["cuda"], disabled_checks=[CUSTOM_CALL]
    )(*inputs)
    # Of the query alone: the key's kernel is dead code.
    assert exported.mlir_module().count("mosaic_gpu_v2") >= 2


def interpreted(inputs, chosen, *, gradients):
    run = functools.partial(
        mosaic_gpu.attend,
        plain_attention=plain_attention,
        interpret=InterpretGPUParams(detect_races=True),
    )
    return [
        evaluate(run, inputs, chosen, gradients=gradients),
        evaluate(
            dense.attend,
            [x.astype(jnp.float32) for x in inputs],
            chosen,
            gradients=gradients,
        ),
    ]


def evaluate(attend, inputs, chosen, *, gradients):
    of_output = np.random.default_rng(5).standard_normal(inputs[0].shape)
    function = functools.partial(
        loss, functools.partial(attend, settings=chosen), of_output
    )
    if gradients:
        function = jax.value_and_grad(function, argnums=(0, 1, 2), has_aux=True)
        (_, results), found = jax.jit(function)(*inputs)
        return *results, found
    return *jax.jit(function)(*inputs)[1], ()


def assert_close(ours, expected):
    (output, statistics, gradients), (exact, true, exact_gradients) = ours, expected
    for mine, theirs in zip(statistics, true, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-5)
    # beta · query is rounded to bfloat16 before the second pass.
    np.testing.assert_allclose(output.astype(np.float32), exact, rtol=0, atol=5e-2)
    for mine, theirs in zip(gradients, exact_gradients, strict=True):
        error = np.abs(mine.astype(np.float32) - theirs).max()
        assert error <= 2e-2 * np.abs(theirs).max()


def test_statistics_in_the_interpreter():
    """Several tiles of keys, the last one padded, and two heads that share a key."""
    inputs = arrays(70, 300, heads=2)
    assert_close(*interpreted(inputs, settings(64), gradients=False))


def test_gradients_in_the_interpreter():
    """Causal, with padding on both sides."""
    inputs = arrays(100, 70)
    chosen = settings(64, is_causal=True)
    assert_close(*interpreted(inputs, chosen, gradients=True))


def test_plain_softmax_needs_no_kernel_of_ours():
    inputs = arrays(8, 8)
    chosen = cases.settings(is_adaptive=False, return_statistics=False, scale=0.125)
    output, statistics = mosaic_gpu.attend(
        *inputs, None, chosen, plain_attention=plain_attention
    )
    assert statistics is None
    expected = plain_attention(*inputs, scale=0.125)
    np.testing.assert_array_equal(output, expected)


OBSTACLES = {
    "no GPU": ({}, "cpu", "a Hopper GPU"),
    "an older GPU": ({}, "8.0", "a Hopper GPU"),
    "single precision": ({"dtype": jnp.float32}, "9.0", "float16 or bfloat16"),
    "an odd dim": ({"dim": 80}, "9.0", "dim 64 or 128"),
}


@pytest.mark.parametrize(
    ("drawn", "capability", "message"), OBSTACLES.values(), ids=OBSTACLES
)
def test_obstacles(monkeypatch, drawn, capability, message):
    device = SimpleNamespace(compute_capability=capability, device_kind="some device")
    monkeypatch.setattr(mosaic_gpu.jax, "devices", lambda: [device])
    query, _, value = arrays(8, 8, **drawn)
    assert message in mosaic_gpu.obstacle(query, value, None)


def test_a_mask_is_an_obstacle_and_without_one_there_is_none(monkeypatch):
    device = SimpleNamespace(compute_capability="9.0", device_kind="some device")
    monkeypatch.setattr(mosaic_gpu.jax, "devices", lambda: [device])
    query, _, value = arrays(8, 8)
    assert mosaic_gpu.obstacle(query, value, None) is None
    assert "mask" in mosaic_gpu.obstacle(query, value, jnp.ones((1, 1, 8, 8), bool))
    assert "dim" in mosaic_gpu.obstacle(query, value[..., :32], None)
