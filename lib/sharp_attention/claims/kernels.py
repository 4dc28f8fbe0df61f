"""Claims about the kernels: exact, linear in memory, and fast.

Speed is read from the shipped benchmark (`book/results/attention-benchmark`), which
``make bench`` measures again; everything else is computed here.
"""

import functools
from types import ModuleType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from sharp_attention._typing import Float64
from sharp_attention.attention import dense, rowblock
from sharp_attention.attention.interface import Settings, Statistics
from sharp_attention.claims.registry import Measurement, declare
from sharp_attention.experiments import artefacts

__all__: list[str] = []

_ours = functools.partial(
    declare, paper="ours", chapter="streaming-kernels", confidence="D"
)
_bench = functools.partial(
    _ours,
    place="shipped benchmark, all keys visible",
    comparison="at most",
    command="make bench",
)

_LENGTH, _DIM = 200, 16


def _inputs() -> tuple[np.ndarray, ...]:
    """Query, key, value and mask; most rows have beta > 1 and one has no key."""
    rng = np.random.default_rng(0)
    shape = (1, _LENGTH, 2, _DIM)
    query, key, value = (
        rng.standard_normal(shape).astype(np.float32) for _ in range(3)
    )
    mask = rng.random((1, 1, _LENGTH, _LENGTH)) < 0.9
    mask[:, :, 7] = False
    return 4 * query, key, value, mask


@jax.jit
def _weigh(output: Array) -> Array:
    """Return a number that depends on every entry of the output."""
    return jnp.sum(output * jnp.cos(jnp.arange(output.size).reshape(output.shape)))


class _Results(NamedTuple):
    """Of adaptive attention: float64 copies, rows in the last axis of statistics."""

    output: Float64
    entropy: Float64
    beta: Float64
    gradients: list[Float64]


def _attend(module: ModuleType, *, double: bool = False) -> _Results:
    """Causal, masked, through the entropy, by an implementation of attention."""
    settings = Settings(
        scale=_DIM**-0.5,
        is_adaptive=True,
        is_causal=True,
        through_entropy=True,
        return_statistics=True,
    )
    query, key, value, mask = _inputs()

    def loss(*arrays: Array) -> tuple[Array, tuple[Array, Statistics]]:
        output, statistics = module.attend(*arrays, mask, settings)
        return _weigh(output), (output, statistics)

    with jax.enable_x64(double):
        dtype = jnp.float64 if double else jnp.float32
        arrays = [jnp.asarray(array, dtype) for array in (query, key, value)]
        function = jax.jit(jax.value_and_grad(loss, argnums=(0, 1, 2), has_aux=True))
        (_, (output, (entropy, beta, _))), gradients = function(*arrays)
        found = _Results(output, entropy, beta, list(gradients))
        return jax.tree.map(lambda array: np.asarray(array, np.float64), found)


@functools.cache
def _exact() -> _Results:
    return _attend(dense, double=True)


def _largest(ours: Float64, exact: Float64) -> float:
    return float(np.max(np.abs(ours - exact)))


@_ours(
    "kernel-output",
    place="row blocks against float64",
    statement="A block of rows at a time gives the attention of the whole matrix.",
    quoted_value=2e-5,
    comparison="at most",
)
def _kernel_output() -> Measurement:
    ours, exact = _attend(rowblock), _exact()
    return Measurement(_largest(ours.output, exact.output))


@_ours(
    "kernel-statistics",
    place="row blocks against float64",
    statement="The kernel's entropy and inverse temperature are those of the matrix.",
    quoted_value=2e-5,
    comparison="at most",
)
def _kernel_statistics() -> Measurement:
    ours, exact = _attend(rowblock), _exact()
    error = _largest(ours.entropy, exact.entropy)
    return Measurement(max(error, _largest(ours.beta, exact.beta)))


@_ours(
    "kernel-gradient",
    place="row blocks against float64",
    statement="The backward pass through the entropy equals automatic differentiation.",
    quoted_value=1e-4,
    comparison="at most",
)
def _kernel_gradient() -> Measurement:
    ours, exact = _attend(rowblock), _exact()
    pairs = zip(ours.gradients, exact.gradients, strict=True)
    errors = (_largest(mine, true) / np.abs(true).max() for mine, true in pairs)
    return Measurement(max(errors))


@_ours(
    "kernel-empty-row",
    place="a row whose keys are all hidden",
    statement="Output and entropy of a row without keys are 0, and its beta is 1.",
    quoted_value=0.0,
)
def _kernel_empty_row() -> Measurement:
    ours = _attend(rowblock)
    violations = (ours.output[:, 7], ours.entropy[..., 7], ours.beta[..., 7] - 1)
    return Measurement(max(float(np.abs(array).max()) for array in violations))


def _temporary_bytes(module: ModuleType, length: int) -> int:
    array = jax.ShapeDtypeStruct((1, length, 8, 64), jnp.float32)
    settings = Settings(scale=0.125, is_adaptive=True)
    lowered = jax.jit(lambda *arrays: module.attend(*arrays, None, settings)[0]).lower(
        array, array, array
    )
    analysis: Any = lowered.compile().memory_analysis()
    return int(analysis.temp_size_in_bytes)


@_ours(
    "kernel-memory-linear",
    place="compiled memory at 8,192 over that at 4,096",
    statement="Twice the length takes twice the memory, not four times.",
    quoted_value=2.2,
    comparison="at most",
)
def _kernel_memory_linear() -> Measurement:
    longer, shorter = (_temporary_bytes(rowblock, n) for n in (8192, 4096))
    return Measurement(longer / shorter)


@_ours(
    "kernel-memory-saved",
    place="compiled memory of the whole matrix over ours, length 4,096",
    statement="Row blocks take at most a thirty-second of the memory of the matrix.",
    quoted_value=32.0,
    comparison="at least",
)
def _kernel_memory_saved() -> Measurement:
    return Measurement(_temporary_bytes(dense, 4096) / _temporary_bytes(rowblock, 4096))


def _worst_ratio(variant: str, baseline: str) -> Measurement:
    table = artefacts.read_table("attention-benchmark", "ratios.csv")
    chosen = (table.variant == variant) & (table.baseline == baseline)
    # Causal rows stand in the chapter's table, not under these statements.
    chosen &= (table.length >= 1024) & ~table.is_causal.astype(bool)
    return Measurement(float(table[chosen].ratio.max()))


@_bench(
    "adaptive-over-plain",
    statement="Adaptive temperature costs a CPU at most 60 % over plain attention.",
    quoted_value=1.60,
)
def _adaptive_over_plain() -> Measurement:
    return _worst_ratio("adaptive", "plain")


@_bench(
    "adaptive-over-xla",
    statement="Our adaptive attention takes at most half the time of XLA's plain one.",
    quoted_value=0.50,
)
def _adaptive_over_xla() -> Measurement:
    return _worst_ratio("adaptive", "xla")


@_bench(
    "adaptive-over-torch",
    statement="It takes at most 2.2 times PyTorch's plain attention on one core.",
    quoted_value=2.2,
)
def _adaptive_over_torch() -> Measurement:
    return _worst_ratio("adaptive", "torch")


@_bench(
    "backward-over-plain",
    statement="A training step through the entropy costs at most 35 % more.",
    quoted_value=1.35,
)
def _backward_over_plain() -> Measurement:
    return _worst_ratio("through entropy", "plain gradient")


@_ours(
    "gpu-share-of-cudnn",
    place="Hopper, bfloat16, dim 128, length 4,096 and more",
    statement="Statistics kernel and cuDNN together reach half the speed of cuDNN.",
    quoted_value=0.5,
    comparison="at least",
    expected="not run here",
    command="python3 tools/gpu_check.py (needs a Hopper GPU)",
)
def _gpu_share_of_cudnn() -> Measurement:
    raise NotImplementedError
