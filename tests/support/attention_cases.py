"""Inputs for attention, and what attention has to give on them in double precision."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from sharp_attention.attention import dense
from sharp_attention.attention.interface import Settings

__all__ = [
    "LONG_ROW_KINDS",
    "ROW_KINDS",
    "Inputs",
    "draw",
    "evaluate",
    "numpy_attention",
    "reference",
    "row_inputs",
    "settings",
]

DIM = 16


@dataclass(frozen=True)
class Inputs:
    """Arguments of an implementation but its settings, and a gradient of its output."""

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    mask: np.ndarray | None
    of_output: np.ndarray


def draw(
    queries, keys=None, *, batch=1, heads=2, kv_heads=2, masked=False, dtype="float32"
):
    """Gaussian inputs with query scale 4, where beta covers its whole curve."""
    keys = keys or queries
    rng = np.random.default_rng(1000 * queries + keys + heads)

    def gaussian(*shape):
        return np.asarray(jnp.asarray(rng.standard_normal(shape), dtype))

    mask = None
    if masked:
        mask = rng.random((batch, heads, queries, keys)) < 0.8
        mask[:, :, queries // 2] = False  # a row without keys
        mask[:, :, -1, : keys // 2] = False  # a leading block wholly masked
    return Inputs(
        query=4 * gaussian(batch, queries, heads, DIM),
        key=gaussian(batch, keys, kv_heads, DIM),
        value=gaussian(batch, keys, kv_heads, DIM),
        mask=mask,
        of_output=gaussian(batch, queries, heads, DIM),
    )


def evaluate(module, inputs, settings, *, double=False, gradients=True):
    """Output, statistics and gradients of query, key, value, as float64 arrays.

    With `double` the same rounded inputs are widened to float64 first.
    """

    def run(query, key, value, of_output):
        def attend(*arrays):
            return module.attend(*arrays, mask, settings)

        if not gradients:
            return *attend(query, key, value), ()
        output, pull_back, statistics = jax.vjp(attend, query, key, value, has_aux=True)
        return output, statistics, pull_back(of_output)

    with jax.enable_x64(double):
        dtype = jnp.float64 if double else inputs.query.dtype
        arrays = (inputs.query, inputs.key, inputs.value, inputs.of_output)
        arrays = [jnp.asarray(array, dtype) for array in arrays]
        mask = None if inputs.mask is None else jnp.asarray(inputs.mask)
        result = jax.jit(run)(*arrays)
        return jax.tree.map(lambda x: np.asarray(x, np.float64), result)


def reference(inputs, settings, **options):
    """Evaluate the dense implementation in double precision."""
    return evaluate(dense, inputs, settings, double=True, **options)


def numpy_attention(query, key, value, *, scale, visible, polynomial):
    """One head, one row at a time, as the formulas say: output, H, beta, log Z."""
    rows = []
    for q, seen in zip(query, visible, strict=True):
        logits = scale * (key @ q)[seen]
        if logits.size == 0:
            rows.append((np.zeros(value.shape[1]), 0.0, 1.0, -np.inf))
            continue
        log_z = logits.max() + np.log(np.exp(logits - logits.max()).sum())
        p = np.exp(logits - log_z)
        entropy = -np.sum(p[p > 0] * np.log(p[p > 0]))
        beta = max(np.polyval(polynomial, entropy), 1.0) if polynomial else 1.0
        weights = np.exp(beta * (logits - logits.max()))
        output = weights @ value[seen] / weights.sum()
        rows.append((output, entropy, beta, log_z))
    return [np.array(column) for column in zip(*rows, strict=True)]


def _row_kinds():
    rng = np.random.default_rng(0)
    normal = rng.standard_normal
    hidden = np.full(4096, -np.inf)
    return {
        "uniform 16": np.zeros(16),
        "single key": np.array([3.0]),
        "two keys far above the rest": np.r_[1e4, 1e4, np.full(62, -1e4)],
        "offset 1e4": 1e4 + normal(1024),
        "offset 1e6": 1e6 + normal(1024),
        "almost one-hot": 30 * normal(4096),
        "one-hot, gap 100": np.r_[100.0, np.zeros(1023)],
        "half hidden": np.r_[normal(512), hidden[:512]],
        "all hidden": hidden[:64],
        "leading block hidden": np.r_[hidden[:128], normal(128)],
        "maximum moves all along": np.linspace(0, 300, 4096),
        "wide, beyond the domain": 2 * normal(4096),
    }


ROW_KINDS = _row_kinds()
"""Rows of logits, each hard in its own way; −inf is a hidden key."""

LONG_ROW_KINDS = {
    "uniform 1e5": np.zeros(100_000),
    "wide, beyond the domain": 2 * np.random.default_rng(0).standard_normal(8192),
}


def row_inputs(kinds=ROW_KINDS):
    """Rows of logits as a batch of single queries; the keys are the logits."""
    num_keys = max(kind.size for kind in kinds.values())
    logits = np.full((len(kinds), num_keys), -np.inf)
    for row, kind in zip(logits, kinds.values(), strict=True):
        row[: kind.size] = kind
    rng = np.random.default_rng(1)
    visible = np.isfinite(logits)
    key = np.where(visible, logits, 0.0).astype(np.float32)
    shape = (len(kinds), num_keys, 1, DIM)
    return Inputs(
        query=np.ones((len(kinds), 1, 1, 1), np.float32),
        key=key[:, :, None, None],
        value=rng.standard_normal(shape).astype(np.float32),
        mask=visible[:, None, None, :],
        of_output=rng.standard_normal((shape[0], 1, 1, DIM)).astype(np.float32),
    )


def settings(**changes):
    """Adaptive attention with statistics at the usual scale, but for the `changes`."""
    usual = {"scale": DIM**-0.5, "is_adaptive": True, "return_statistics": True}
    return Settings(**(usual | changes))
