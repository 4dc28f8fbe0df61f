"""The one entry to attention: checks what it is given and picks an implementation.

``attend`` computes softmax(beta · scale · q·k) v with beta = 1, or with the adaptive
temperature of Veličković et al., "Softmax is not Enough" (ICML 2025), their section 3:
beta = `inverse_temperature` of the entropy of softmax(scale · q·k), row by row.

===============  =======  ============================================================
implementation   memory   where
===============  =======  ============================================================
``dense``        O(n²)    anywhere; the reference
``rowblock``     O(n)     anywhere; the default, made for CPUs
``mosaic_gpu``   O(n)     Hopper GPUs, half precision, no explicit mask; by name only
===============  =======  ============================================================
"""

import math
from types import ModuleType
from typing import Literal, get_args

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from sharp_attention._checks import (
    check_choice,
    check_finite,
    require,
)
from sharp_attention._typing import ArrayLike
from sharp_attention.attention import dense, mosaic_gpu, rowblock
from sharp_attention.attention._arguments import known_number
from sharp_attention.attention.interface import Settings, Statistics

__all__ = ["attend"]

Weights = Literal["softmax", "adaptive"]
Implementation = Literal["dense", "rowblock", "mosaic_gpu"]

_MODULES = {"dense": dense, "rowblock": rowblock, "mosaic_gpu": mosaic_gpu}


def attend(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    *,
    weights: str = "softmax",
    is_causal: bool = False,
    mask: ArrayLike | None = None,
    scale: ArrayLike | None = None,
    implementation: str | None = None,
    through_entropy: bool = False,
    return_statistics: bool = False,
) -> (
    Float[Array, "batch queries heads value_dim"]
    | tuple[Float[Array, "batch queries heads value_dim"], Statistics]
):
    """Attention with softmax weights, plain or at adaptive temperature.

    Parameters
    ----------
    query : (batch, queries, heads, dim), float
    key : (batch, keys, kv_heads, dim), of the float type of `query`; `heads` is a
        multiple of `kv_heads`, and query head h reads key head h // (heads / kv_heads)
    value : (batch, keys, kv_heads, value_dim), of the same float type
    weights : "softmax", or "adaptive" for softmax(beta · logits) with beta between 1
        and 2.4214 picked from the entropy of each row
    is_causal : whether query i sees only keys 0..i (aligned top left, as in JAX)
    mask : boolean, broadcasts to (batch, heads, queries, keys); False hides a key
    scale : factor of the logits, a number > 0 known when tracing; 1/√dim if None
    implementation : "dense", "rowblock" or "mosaic_gpu"; None picks one that serves
        here, at present "rowblock" everywhere
    through_entropy : whether gradients follow beta into the entropy; otherwise beta is
        a constant to differentiation.  Without effect on plain softmax
    return_statistics : whether to return entropy, inverse temperature and
        log-normaliser of each row as well

    Returns
    -------
    Output of shape (batch, queries, heads, value_dim) in the float type of the input,
    with all sums in float32 (float64 for float64 input); with statistics a pair of it
    and `Statistics`, each (batch, heads, queries).
    A query whose keys are all hidden has output 0, entropy 0, inverse temperature 1 and
    log-normaliser −inf.
    Logits have to fit their float type: in float32, up to 2.9e38 in size.

    Raises
    ------
    TypeError
        If an array is not of a float type, the three differ in type, or `mask` is not
        boolean.
    ValueError
        If shapes do not fit each other, `scale` is not > 0, a name is unknown, the
        implementation asked for can't serve (only None falls back), or, in an eager
        call, an input is not finite; under ``jax.jit`` NaN stays NaN.
    """
    check_choice("weights", weights, get_args(Weights))
    _check_types(query=query, key=key, value=value)
    query, key, value = jnp.asarray(query), jnp.asarray(key), jnp.asarray(value)
    _check_shapes(query, key, value)
    settings = Settings(
        scale=_check_scale(scale, query.shape[-1]),
        is_adaptive=weights == "adaptive",
        is_causal=is_causal,
        through_entropy=through_entropy,
        return_statistics=return_statistics,
    )
    visible = _check_mask(mask, query, key)
    module = _pick(implementation, query, value, visible)
    output, statistics = module.attend(query, key, value, visible, settings)
    return output if statistics is None else (output, statistics)


def _pick(
    implementation: str | None, query: Array, value: Array, mask: Array | None
) -> ModuleType:
    # None means what has been run on hardware: row blocks, on every device.
    name = "rowblock" if implementation is None else implementation
    check_choice("implementation", name, get_args(Implementation))
    if name == "mosaic_gpu":
        obstacle = mosaic_gpu.obstacle(query, value, mask)
        rule = f"one that can serve: mosaic_gpu needs {obstacle}"
        require(obstacle is None, "implementation", rule, name)
    return _MODULES[name]


def _check_types(**arrays: ArrayLike) -> None:
    # Before conversion: without x64, JAX would turn a float64 array into float32.
    dtypes = {name: _float_type(array) for name, array in arrays.items()}
    for name, dtype in dtypes.items():
        if not jnp.issubdtype(dtype, jnp.floating):
            raise TypeError(f"{name} must be of a float type; received {dtype}")
        check_finite(name, arrays[name])
    if len(set(dtypes.values())) > 1:
        received = ", ".join(f"{name} {dtype}" for name, dtype in dtypes.items())
        message = f"query, key and value must share one float type; received {received}"
        raise TypeError(message)


def _float_type(array: ArrayLike) -> np.dtype:
    # Asking a tracer, or an array on a device, must not move its values to NumPy.
    return array.dtype if isinstance(array, jax.Array) else np.asarray(array).dtype


def _check_shapes(query: Array, key: Array, value: Array) -> None:
    for name, array in (("query", query), ("key", key), ("value", value)):
        fits = array.ndim == 4 and min(array.shape) > 0
        require(fits, name, "(batch, length, heads, dim), none of them 0", array.shape)
    batch, _, heads, dim = query.shape
    _, keys, kv_heads, _ = key.shape
    expected = (batch, keys, kv_heads, dim)
    rule = f"of shape (batch, length, heads, dim) = {expected} to fit query"
    require(key.shape == expected, "key", rule, key.shape)
    rule = f"of shape {expected[:3]} plus any dim to fit key"
    require(value.shape[:3] == expected[:3], "value", rule, value.shape)
    rule = f"a multiple of the {kv_heads} heads of key"
    require(heads % kv_heads == 0, "number of query heads", rule, heads)


def _check_scale(scale: ArrayLike | None, dim: int) -> float:
    if scale is None:
        return 1.0 / math.sqrt(dim)
    return known_number("scale", scale, above=0)


def _check_mask(
    mask: ArrayLike | None, query: Array, key: Array
) -> Bool[Array, "#batch #heads #queries #keys"] | None:
    if mask is None:
        return None
    array = jnp.asarray(mask)
    if array.dtype != jnp.bool_:
        raise TypeError(f"mask must be boolean; received {array.dtype}")
    batch, queries, heads, _ = query.shape
    shape = (batch, heads, queries, key.shape[1])
    padded = (1,) * (4 - array.ndim) + array.shape
    fits = len(padded) == 4 and all(
        size in (1, full) for size, full in zip(padded, shape, strict=True)
    )
    require(fits, "mask", f"broadcastable to {shape}", array.shape)
    return array.reshape(padded)
