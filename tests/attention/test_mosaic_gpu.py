"""The GPU path without a GPU: lowered for CUDA, and run in Mosaic's interpreter."""

import functools
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax._src.pallas.mosaic_gpu.interpret.params import InterpretGPUParams

import half_precision as half
from sharp_attention.attention import dense, mosaic_gpu

CUSTOM_CALL = jax.export.DisabledSafetyCheck.custom_call("mosaic_gpu_v2")


def loss(attend, of_output, *inputs, **options):
    """A number that depends on output and statistics, and both."""
    output, statistics = attend(*inputs, None, **options)
    value = jnp.sum(output.astype(jnp.float32) * of_output)
    value += jnp.sum(statistics.entropy) + 0.1 * jnp.sum(statistics.log_normaliser)
    return value, (output, statistics)


@pytest.mark.parametrize(
    ("dim", "is_causal"),
    [
        (64, False),
        (128, True),
        pytest.param(64, True, marks=pytest.mark.slow),
        pytest.param(128, False, marks=pytest.mark.slow),
    ],
)
def test_lowers_for_cuda(dim, is_causal):
    """Three kernels: statistics, and their gradients for queries and keys."""
    attend = functools.partial(
        mosaic_gpu.attend,
        settings=half.settings(dim, is_causal=is_causal),
        plain_attention=half.library_attention,
    )
    inputs = half.draw(256, 300, heads=4, kv_heads=2, dim=dim)
    gradient = jax.jit(
        jax.grad(functools.partial(loss, attend, 1.0), (0, 1), has_aux=True)
    )
    exported = jax.export.export(
        gradient, platforms=["cuda"], disabled_checks=[CUSTOM_CALL]
    )(*inputs)
    assert exported.mlir_module().count("@mosaic_gpu_v2") == 3


def interpreted(inputs, chosen, *, gradients):
    run = functools.partial(
        mosaic_gpu.attend,
        plain_attention=half.library_attention,
        interpret=InterpretGPUParams(detect_races=True),
    )
    return evaluate(run, inputs, chosen, gradients=gradients)


def exact(inputs, chosen, *, gradients):
    with jax.enable_x64(True):
        wide = [x.astype(jnp.float64) for x in inputs]
        found = evaluate(dense.attend, wide, chosen, gradients=gradients)
        return jax.tree.map(np.asarray, found)


def evaluate(attend, inputs, chosen, *, gradients):
    of_output = np.random.default_rng(5).standard_normal(inputs[0].shape, np.float32)
    function = functools.partial(
        loss, functools.partial(attend, settings=chosen), of_output
    )
    if gradients:
        function = jax.value_and_grad(function, argnums=(0, 1, 2), has_aux=True)
        (_, results), found = jax.jit(function)(*inputs)
        return *results, found
    return *jax.jit(function)(*inputs)[1], ()


def assert_close(inputs, chosen, *, gradients, allowed=2e-2):
    output, statistics, found = interpreted(inputs, chosen, gradients=gradients)
    true_output, true, expected = exact(inputs, chosen, gradients=gradients)
    for mine, theirs in zip(statistics, true, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=2e-5)
    difference = output.astype(np.float32) - true_output
    assert np.abs(difference).max() <= half.OUTPUT_GATE
    for mine, theirs in zip(found, expected, strict=True):
        error = np.abs(mine.astype(np.float32) - theirs).max()
        assert error <= allowed * np.abs(theirs).max()


@pytest.mark.medium
def test_two_heads_in_the_interpreter():
    """Two tiles of keys, the last one padded, and two heads that share a key."""
    # Each block of 128 queries of a head costs seconds, tiles of keys almost nothing.
    inputs = half.draw(70, 150, heads=2)
    assert_close(inputs, half.settings(64), gradients=False)


@pytest.mark.medium
def test_gradient_of_queries_in_the_interpreter():
    """Causal, with padding on both sides; the kernel for queries alone."""
    query, key, _ = half.draw(100, 70)
    chosen = half.settings(64, is_causal=True)

    def loss(query, row_statistics):
        entropy, log_normaliser = row_statistics(query)
        return jnp.sum(entropy) + 0.1 * jnp.sum(log_normaliser)

    def simulated(query):
        interpret = InterpretGPUParams(detect_races=True)
        return mosaic_gpu.row_statistics(query, key, chosen, interpret)

    def reference(query):
        statistics = dense.attend(query, wide_key, wide_key, None, chosen)[1]
        return statistics.entropy, statistics.log_normaliser

    found = jax.jit(jax.grad(functools.partial(loss, row_statistics=simulated)))(query)
    with jax.enable_x64(True):
        wide_key = key.astype(jnp.float64)
        expected = jax.grad(functools.partial(loss, row_statistics=reference))(
            query.astype(jnp.float64)
        )
        error = np.abs(found.astype(np.float64) - np.asarray(expected))
    assert error.max() <= 2e-2 * np.abs(expected).max()


@pytest.mark.slow
# The way back rounds beta · query to bfloat16: gradients err more with larger logits.
@pytest.mark.parametrize(("query_scale", "allowed"), [(1, 2e-2), (4, 3e-2), (6, 6e-2)])
@pytest.mark.parametrize("is_causal", [False, True], ids=["all keys", "causal"])
def test_everything_in_the_interpreter(query_scale, allowed, is_causal):
    """Outputs, statistics and gradients; two heads share a key, both sides padded."""
    inputs = half.draw(100, 150, heads=2, query_scale=query_scale)
    chosen = half.settings(64, is_causal=is_causal)
    assert_close(inputs, chosen, gradients=True, allowed=allowed)


def test_plain_softmax_needs_no_kernel_of_ours():
    inputs = half.draw(8)
    chosen = half.settings(64, is_adaptive=False, return_statistics=False)
    output, statistics = mosaic_gpu.attend(
        *inputs, None, chosen, plain_attention=half.library_attention
    )
    assert statistics is None
    expected = half.library_attention(*inputs, scale=0.125)
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
    query, _, value = half.draw(8, **drawn)
    assert message in mosaic_gpu.obstacle(query, value, None)


def test_a_mask_is_an_obstacle_and_without_one_there_is_none(monkeypatch):
    device = SimpleNamespace(compute_capability="9.0", device_kind="some device")
    monkeypatch.setattr(mosaic_gpu.jax, "devices", lambda: [device])
    query, _, value = half.draw(8)
    assert mosaic_gpu.obstacle(query, value, None) is None
    assert "mask" in mosaic_gpu.obstacle(query, value, jnp.ones((1, 1, 8, 8), bool))
    assert "dim" in mosaic_gpu.obstacle(query, value[..., :32], None)
