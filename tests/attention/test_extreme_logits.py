"""Weights and gradients of every map stay finite, whatever finite logits come."""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sharp_attention.attention import activations, entropy, escapes
from sharp_attention.attention.temperature import adaptive_softmax

HIDDEN = -np.inf
HUGE = 3.3e38  # twice this is beyond float32 and bfloat16
ROWS = np.array(
    [
        [1e4, -1e4, 100.0, -100.0, 88.8, 0.0],
        [0.0] * 6,
        [88.8] * 6,
        [-100.0] * 6,
        [HIDDEN] * 6,
        [0.0, HIDDEN, 5.0, HIDDEN, 1e4, 1.0],
        [1e30, -1e30, 0.0, 1.0, -100.0, 1e30],
        [HUGE, -HUGE, 0.0, 1e30, 5.0, -HUGE],
        [-HUGE] * 6,
    ]
)
COTANGENT = np.array([3.0, -20.0, 0.5, 2.0, 1.0, -1.0], np.float32)


def square(logits: jax.Array) -> jax.Array:
    """The row for each of six queries."""
    return jnp.broadcast_to(logits[..., None, :], (*logits.shape, 6))


def merged_entropy(logits: jax.Array) -> jax.Array:
    halves = map(entropy.partial_statistics, jnp.split(logits, 2, axis=-1))
    return entropy.entropy_from_statistics(entropy.merge(*halves))


MAPS: dict[str, Callable] = {
    "softmax": partial(activations.softmax, temperature=0.3),
    "scalable softmax": partial(activations.scalable_softmax, scale=0.43),
    "adaptive softmax": adaptive_softmax,
    "softplus": activations.softplus,
    "sparsemax": activations.sparsemax,
    "entmax 1.5": activations.entmax,
    "entmax 4": partial(activations.entmax, alpha=4.0),
    "linear": activations.linear,
    "erf": partial(activations.erf, offset=0.5),
    "sigmoid": partial(activations.sigmoid, bias=-1.0),
    "stick-breaking": activations.stick_breaking,
    "top-k": partial(escapes.top_k, num_kept=3),
    "hard": escapes.hard,
    "windowed": lambda e: escapes.windowed(square(e), width=3),
    "votes": lambda e: escapes.votes(square(e)),
    "selective": lambda e: escapes.selective(square(e)),
    "differential": lambda e: escapes.differential(e, e[..., ::-1], mix=0.4),
    "entropy": entropy.entropy,
    "effective support": entropy.effective_support,
    "merged entropy": merged_entropy,
}


@pytest.fixture(params=MAPS, ids=list(MAPS))
def differentiate(request: pytest.FixtureRequest) -> Callable:
    """Gradient of a sum of weights, and the weights; of one row or several."""

    def loss(logits: jax.Array) -> tuple[jax.Array, jax.Array]:
        weights = MAPS[request.param](logits)
        wide = weights.astype("float32")
        cotangent = COTANGENT if wide.shape[-1:] == (6,) else COTANGENT[0]
        return jnp.sum(cotangent * wide), weights

    return jax.grad(loss, has_aux=True)


def test_weights_and_gradients_are_finite(differentiate: Callable) -> None:
    assert_finite(jax.jit(jax.vmap(differentiate))(in_range("float32")))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("transform", [lambda f: f, jax.jit, jax.vmap])
def test_finite_in_any_type_and_under_any_transformation(
    differentiate: Callable, transform: Callable, dtype: str
) -> None:
    assert_finite(transform(differentiate)(in_range(dtype)))


def in_range(dtype: str) -> jax.Array:
    limit = float(jnp.finfo(dtype).max)
    clipped = np.where(ROWS == HIDDEN, HIDDEN, np.clip(ROWS, -limit, limit))
    return jnp.asarray(clipped, dtype)


def assert_finite(arrays: tuple[jax.Array, jax.Array]) -> None:
    assert all(np.isfinite(np.asarray(array, np.float32)).all() for array in arrays)
