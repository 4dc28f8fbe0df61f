"""Adaptive-temperature attention on Hopper GPUs: a kernel of ours, then a library's.

A tile of a row does not know the row's entropy, so a GPU has to read the keys twice:
first for the entropy (`mosaic_statistics`, queries and keys only), then for the output,
which is plain attention on beta · query and left to cuDNN (`second_pass`).
The gradient composes in the same way; where it goes through the entropy, dL/dbeta is
the product of the query with the gradient of beta · query, and our backward kernel
(`mosaic_gradient`) takes it from there.

Lowered for CUDA and run in Mosaic's interpreter by the tests, with cuDNN replaced by
XLA; not yet run on a GPU, so it has to be asked for by name.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from sharp_attention.attention import second_pass
from sharp_attention.attention.interface import (
    Settings,
    Statistics,
    pick_inverse_temperature,
)

__all__ = ["attend", "obstacle", "row_statistics"]

_DIMS = (64, 128)
_BLOCK = 128
_HOPPER = "9.0"

_cudnn_attention = functools.partial(
    jax.nn.dot_product_attention, implementation="cudnn"
)


def obstacle(query: Array, value: Array, mask: Array | None) -> str | None:
    """Say what this implementation would need to serve; None if it can."""
    device = jax.devices()[0]
    if getattr(device, "compute_capability", None) != _HOPPER:
        return f"a Hopper GPU (here: {device.device_kind})"
    if query.dtype not in (jnp.float16, jnp.bfloat16):
        return f"float16 or bfloat16 (here: {query.dtype})"
    if query.shape[-1] not in _DIMS:
        return f"dim 64 or 128 (here: {query.shape[-1]})"
    if value.shape[-1] != query.shape[-1]:
        return f"values of the same dim as queries (here: {value.shape[-1]})"
    return None if mask is None else "no mask but causality"


def attend(
    query: Float[Array, "batch queries heads dim"],
    key: Float[Array, "batch keys kv_heads dim"],
    value: Float[Array, "batch keys kv_heads dim"],
    mask: None,
    settings: Settings,
    *,
    plain_attention: second_pass.PlainAttention = _cudnn_attention,
    interpret: Any = None,
) -> tuple[Float[Array, "batch queries heads dim"], Statistics | None]:
    """Attend in two passes; see `interface` for the contract.

    `plain_attention` and `interpret` are for tests on machines without a GPU.
    """
    statistics = None
    if settings.needs_entropy:
        entropy, log_normaliser = row_statistics(query, key, settings, interpret)
        beta = pick_inverse_temperature(entropy, settings)
        statistics = Statistics(entropy, beta, log_normaliser)
    if settings.is_adaptive:
        output = second_pass.attend(query, key, value, beta, settings, plain_attention)
    else:
        output = plain_attention(
            query, key, value, scale=settings.scale, is_causal=settings.is_causal
        )
    return output, statistics if settings.return_statistics else None


@functools.partial(jax.custom_vjp, nondiff_argnums=(2, 3))
def row_statistics(
    query: Float[Array, "batch queries heads dim"],
    key: Float[Array, "batch keys kv_heads dim"],
    settings: Settings,
    interpret: Any = None,
) -> tuple[Float[Array, "batch heads queries"], Float[Array, "batch heads queries"]]:
    """Entropy in nats and log-normaliser of each row of logits, in float32."""
    return _row_statistics_forward(query, key, settings, interpret)[0]


def _row_statistics_forward(
    query: Array, key: Array, settings: Settings, interpret: Any
) -> tuple[tuple[Array, Array], tuple[Array, ...]]:
    # Pallas is slow to import and only needed here.
    from sharp_attention.attention import mosaic_statistics

    problem = _problem(key, settings, interpret)
    padded = mosaic_statistics.statistics(_pad(query, 1), _pad(key, 1), problem)
    entropy, log_normaliser = (array[..., : query.shape[1]] for array in padded)
    return (entropy, log_normaliser), (query, key, entropy, log_normaliser)


def _row_statistics_backward(
    settings: Settings,
    interpret: Any,
    residuals: tuple[Array, ...],
    gradients: tuple[Array, Array],
) -> tuple[Array, Array]:
    """ē = p (λ̄ − H̄ (log p + H)) times the other side, twice; see `mosaic_gradient`."""
    from sharp_attention.attention import mosaic_gradient

    query, key, entropy, log_normaliser = residuals
    of_entropy, of_log_normaliser = gradients
    batch, keys, kv_heads, dim = key.shape
    queries, group = query.shape[1], query.shape[2] // kv_heads
    offset = of_log_normaliser - of_entropy * entropy
    per_query = jnp.stack([log_normaliser / jnp.log(2.0), of_entropy, offset], axis=2)
    # Padded queries are harmless: their numbers are 0 and so is what they add.
    wide_query, per_query = _pad(query, 1), _pad(per_query, 3)
    wide_key = jnp.repeat(_pad(key, 1), group, axis=2)
    pull_back = functools.partial(
        mosaic_gradient.pull_back,
        per_query=per_query,
        problem=_problem(key, settings, interpret),
    )
    of_query = pull_back(wide_query, wide_key, rows_are_queries=True)[:, :queries]
    of_key = pull_back(wide_key, wide_query, rows_are_queries=False)[:, :keys]
    of_key = of_key.reshape(batch, keys, kv_heads, group, dim).sum(axis=3)
    return (
        (settings.scale * of_query).astype(query.dtype),
        (settings.scale * of_key).astype(key.dtype),
    )


row_statistics.defvjp(_row_statistics_forward, _row_statistics_backward)


def _pad(array: Array, axis: int) -> Array:
    """Fill `axis` with zeros up to a whole number of blocks."""
    missing = -array.shape[axis] % _BLOCK
    widths = [(0, missing if i == axis else 0) for i in range(array.ndim)]
    return jnp.pad(array, widths)


def _problem(key: Array, settings: Settings, interpret: Any) -> Any:
    from sharp_attention.attention.mosaic_tiles import Problem

    return Problem(settings.scale, settings.is_causal, key.shape[1], interpret)
