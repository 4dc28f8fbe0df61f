"""Check and time what a GPU is for: ``python3 tools/gpu_check.py [OUT.json]``.

For one machine with a Hopper GPU, Python 3.12 and JAX 0.11, without network, without
installing anything and within nine minutes.
Results are written after every step, so that an interruption loses nothing, and a step
that fails is a result, too.

1. versions, and whether cuDNN's attention works at all
2. statistics kernel, its gradient and the composed path against float64
3. replica equations, a curve as one batch, a batch of trained heads
   (``gpu_finite_samples.py``)
4. times, interleaved, with cuDNN's plain attention as baseline and an A/A ratio
"""

import functools
import json
import math
import os
import platform
import sys
import time
import traceback
from pathlib import Path
from types import ModuleType

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend import backend

import gpu_finite_samples

SECONDS = 520  # nothing new is started after this
START = time.perf_counter()
ROUNDS, CALLS = 7, 10

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))


class _AnyShape:
    """Stands for a type with a shape where jaxtyping is not installed."""

    def __getitem__(self, _):
        return jax.Array


def import_library():
    """Import the library, whose annotations need jaxtyping but whose code does not."""
    try:
        import jaxtyping  # noqa: F401
    except ImportError:
        stub = ModuleType("jaxtyping")
        stub.Array = jax.Array
        for name in ("Bool", "Float", "Float64", "Int"):
            setattr(stub, name, _AnyShape())
        sys.modules["jaxtyping"] = stub
    from sharp_attention.attention import dense, mosaic_gpu, rowblock
    from sharp_attention.attention.interface import Settings

    return dense, mosaic_gpu, rowblock, Settings


dense, mosaic_gpu, rowblock, Settings = import_library()
cudnn = functools.partial(jax.nn.dot_product_attention, implementation="cudnn")


def draw(batch, length, heads, dim, *, kv_heads=None, keys=None, query_scale=4):
    rng = np.random.default_rng(0)
    kv = (batch, keys or length, kv_heads or heads, dim)
    shapes = (batch, length, heads, dim), kv, kv
    query, key, value = (rng.standard_normal(shape, np.float32) for shape in shapes)
    return [jnp.asarray(x, jnp.bfloat16) for x in (query_scale * query, key, value)]


def settings(dim, **changes):
    usual = {"is_adaptive": True, "return_statistics": True, "through_entropy": True}
    return Settings(scale=1 / math.sqrt(dim), **(usual | changes))


def versions():
    device = jax.devices()[0]
    return {
        "python": platform.python_version(),
        "jax": jax.__version__,
        "numpy": np.__version__,
        "device": device.device_kind,
        "compute_capability": getattr(device, "compute_capability", None),
        "platform": backend.get_backend().platform_version,
    }


def cudnn_works():
    """Largest error of cuDNN's plain attention (known to fail with some CUDA 13)."""
    inputs = draw(1, 1024, 4, 64)
    plain = settings(64, is_adaptive=False, return_statistics=False)
    return {"error": largest(jax.jit(cudnn)(*inputs), exact(inputs, plain)[0])}


def exact(inputs, chosen):
    with jax.enable_x64(True):
        wide = [x.astype(jnp.float64) for x in inputs]
        return jax.tree.map(np.asarray, dense.attend(*wide, None, chosen))


def largest(ours, true):
    return float(np.abs(np.asarray(ours, np.float64) - true).max())


def correctness(dim, length, **options):
    """Errors against float64: output 2e-2 and statistics 5e-2 are allowed."""
    shape = {
        name: options.pop(name) for name in ("keys", "kv_heads") if name in options
    }
    inputs = draw(1, length, 4, dim, query_scale=options.pop("query_scale", 4), **shape)
    chosen = settings(dim, **options)
    output, statistics = jax.jit(mosaic_gpu.attend, static_argnames="settings")(
        *inputs, None, settings=chosen
    )
    true_output, true_statistics = exact(inputs, chosen)
    blocks, _ = rowblock.attend(*inputs, None, chosen)
    return {
        "output": largest(output, true_output),
        "entropy": largest(statistics.entropy, true_statistics.entropy),
        "beta": largest(
            statistics.inverse_temperature, true_statistics.inverse_temperature
        ),
        "log_normaliser": largest(
            statistics.log_normaliser, true_statistics.log_normaliser
        ),
        "rowblock_output": largest(blocks, true_output),
    }


def gradients(dim, length, is_causal):
    """Relative errors of the gradients of query, key and value through the entropy."""
    inputs = draw(1, length, 4, dim, kv_heads=2)
    chosen = settings(dim, is_causal=is_causal)

    def loss(module, *arrays):
        output, statistics = module.attend(*arrays, None, chosen)
        return jnp.sum(jnp.sin(output.astype(jnp.float32))) + statistics.entropy.sum()

    def gradient(module):
        return jax.jit(jax.grad(functools.partial(loss, module), argnums=(0, 1, 2)))

    ours = gradient(mosaic_gpu)(*inputs)
    true = gradient(dense)(*(x.astype(jnp.float32) for x in inputs))
    return [
        largest(mine, np.asarray(other)) / float(jnp.abs(other).max())
        for mine, other in zip(ours, true, strict=True)
    ]


def times(dim, length, is_causal):
    """Milliseconds per call: best and median of interleaved rounds."""
    heads, batch = 2048 // dim, max(1, 16384 // length)
    inputs = draw(batch, length, heads, dim)
    chosen = settings(dim, is_causal=is_causal, return_statistics=False)
    constant = settings(
        dim, is_causal=is_causal, return_statistics=False, through_entropy=False
    )
    plain = functools.partial(cudnn, is_causal=is_causal)

    def adaptive(*arrays, how=chosen):
        return mosaic_gpu.attend(*arrays, None, how)[0]

    def backward(attend):
        return jax.grad(
            lambda *arrays: attend(*arrays).astype(jnp.float32).sum(), (0, 1, 2)
        )

    variants = {
        "cudnn": plain,
        "cudnn again": plain,
        "statistics": lambda q, k, _: mosaic_gpu.row_statistics(q, k, chosen),
        "adaptive": adaptive,
        "cudnn gradient": backward(plain),
        "constant beta gradient": backward(functools.partial(adaptive, how=constant)),
        "through entropy gradient": backward(adaptive),
    }
    found = {name: timed(variant, inputs) for name, variant in variants.items()}
    runs = {name: run for name, run in found.items() if callable(run)}
    taken = {name: [] for name in runs}
    for _ in range(ROUNDS):
        for name, run in runs.items():
            taken[name].append(run())
    found |= {
        name: {"best_ms": min(ms), "median_ms": float(np.median(ms))}
        for name, ms in taken.items()
    }
    best = {name: min(ms) for name, ms in taken.items()}
    if {"cudnn", "cudnn again", "adaptive"} <= set(best):
        found["share_of_cudnn"] = best["cudnn"] / best["adaptive"]
        found["spread"] = abs(best["cudnn again"] / best["cudnn"] - 1)
    work = 4 * batch * heads * length**2 * dim / (2 if is_causal else 1)
    found["cudnn_tflops"] = work / best["cudnn"] / 1e9 if "cudnn" in best else None
    return found


def timed(variant, inputs):
    """Compile `variant`; return a function that times some calls, or the error."""
    try:
        compiled = jax.jit(variant).lower(*inputs).compile()
        jax.block_until_ready(compiled(*inputs))
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:500]}"

    def run():
        start = time.perf_counter()
        for _ in range(CALLS):
            result = compiled(*inputs)
        jax.block_until_ready(result)
        return 1e3 * (time.perf_counter() - start) / CALLS

    return run


def steps():
    """Name and computation of every step, the most telling first."""
    yield "versions", versions
    yield "cudnn works", cudnn_works
    for dim in (64, 128):
        for options in (
            {},
            {"is_causal": True},
            {"kv_heads": 2, "keys": 1000},
            {"query_scale": 1},
            {"query_scale": 6},
        ):
            name = f"correctness, dim {dim}, {options}"
            yield name, functools.partial(correctness, dim, 1024, **options)
        for is_causal in (False, True):
            name = f"gradients, dim {dim}, causal {is_causal}"
            yield name, functools.partial(gradients, dim, 1024, is_causal)
    yield from gpu_finite_samples.steps()
    for length in (4096, 16384, 1024):
        for dim in (128, 64):
            for is_causal in (False, True):
                name = f"times, dim {dim}, length {length}, causal {is_causal}"
                yield name, functools.partial(times, dim, length, is_causal)


def main():
    target = Path(sys.argv[1] if sys.argv[1:] else "gpu-check.json")
    if os.environ.get("OUT") and not sys.argv[1:]:
        target = Path(os.environ["OUT"]) / target
    record = {}
    for name, step in steps():
        if time.perf_counter() - START > SECONDS:
            record["stopped"] = f"before {name}: out of time"
            break
        try:
            record[name] = step()
        except Exception:
            record[name] = {"failed": traceback.format_exc()[-2000:]}
        record["seconds"] = round(time.perf_counter() - START, 1)
        target.write_text(json.dumps(record, indent=1) + "\n")
        print(name, record[name], flush=True)
    failed = [name for name, result in record.items() if "failed" in str(result)]
    print(f"{len(failed)} steps failed; results in {target}")
    return len(failed)


if __name__ == "__main__":
    raise SystemExit(min(main(), 1))
