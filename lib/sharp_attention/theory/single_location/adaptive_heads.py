"""What adaptive temperature does to the risk of a softmax head.

The weights of an adaptive head depend on their own entropy, so that its risk is an
average over whole texts; slr-population, section 8. Given the scores, the token that
counts is distributed like the posterior p, and the change of the risk is

    E(adaptive) - E(plain) = E[ m_v^2 (sum alpha'^2 - sum alpha^2)
                                - 2 m_v sum p (alpha' - alpha) ],

alpha the plain, alpha' the adaptive weights. Where alpha = p and m_v = 1, the
Bayes-tuned head, this is E sum (alpha' - p)^2: no text on which adapting helps.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from sharp_attention._checks import check_integer, check_real, require
from sharp_attention._typing import Float64
from sharp_attention.attention import temperature
from sharp_attention.tasks.single_location import MaxSLR, Task, check_task

__all__ = ["Estimate", "adaptive_change", "adaptive_log_reach", "sample_changes"]

Number: TypeAlias = float | Float[Array, ""]
# Scores of the tokens of some texts, and the posterior of the token that counts.
Texts: TypeAlias = tuple[Float[Array, "rows tokens"], Float[Array, "rows tokens"]]

# Scores drawn at once; 2**21 in single precision are 8 MiB.
BATCH = 2**21


class Estimate(NamedTuple):
    """A Monte-Carlo average with its standard error."""

    mean: float
    error: float


def adaptive_change(
    task: Task,
    sharpness: float,
    read_out: float = 1.0,
    *,
    num_samples: int = 4_000,
    rng_seed: int = 0,
) -> Estimate:
    """Change of a head's risk when its temperature adapts to the entropy.

    Parameters
    ----------
    task, sharpness, read_out, num_samples, rng_seed : as for `sample_changes`

    Returns
    -------
    Estimate; negative where adaptive temperature helps
    """
    changes = sample_changes(
        task, sharpness, read_out, num_samples=num_samples, rng_seed=rng_seed
    )
    error = changes.std(ddof=1) / math.sqrt(len(changes))
    return Estimate(float(changes.mean()), float(error))


def sample_changes(
    task: Task,
    sharpness: float,
    read_out: float = 1.0,
    *,
    num_samples: int = 4_000,
    rng_seed: int = 0,
) -> Float64:
    """Change of the expected loss by adaptive temperature, text by text.

    Parameters
    ----------
    task : of a fixed length < 2**24
    sharpness, read_out : beta and m_v of the head
    num_samples : texts drawn, at least 2; in single precision
    rng_seed : of the draws

    Returns
    -------
    (texts,), rounded up to whole batches

    Raises
    ------
    TypeError, ValueError
        If the length is random or too long, a number is out of range, or
        `num_samples` < 2.
    """
    check_task(task)
    check_integer("lengths", task.lengths, at_least=1)
    require(task.max_length < 2**24, "lengths", "< 2**24", task.lengths)
    check_real("sharpness", sharpness, at_least=0)
    check_real("read_out", read_out)
    check_integer("num_samples", num_samples, at_least=2)
    length = task.max_length
    rows = max(1, min(BATCH // length, num_samples))
    keys = jax.random.split(jax.random.key(rng_seed), -(-num_samples // rows))
    draw = _draw_max if isinstance(task, MaxSLR) else _draw_spiked
    batches = [
        np.asarray(
            _changes(key, task.signal, sharpness, read_out, draw, (rows, length))
        )
        for key in keys
    ]
    return np.concatenate(batches).astype(np.float64)


def adaptive_log_reach(sharpness: float) -> float:
    """Log of the length from which adaptive temperature is off again, (8.5).

    In the dispersed phase the entropy is log L - beta^2/2, and the rule leaves weights
    alone whose entropy exceeds 5.94 nats.

    Parameters
    ----------
    sharpness : beta >= 0
    """
    check_real("sharpness", sharpness, at_least=0)
    return temperature.active_domain()[1] + sharpness**2 / 2


@partial(jax.jit, static_argnames=("draw", "shape"))
def _changes(
    key: Array,
    signal: Number,
    sharpness: Number,
    read_out: Number,
    draw: Callable[..., Texts],
    shape: tuple[int, int],
) -> Float[Array, " rows"]:
    scores, posterior = draw(key, signal, shape)
    plain = jax.nn.softmax(sharpness * scores, axis=-1)
    adaptive = temperature.adaptive_softmax(sharpness * scores)
    squares = jnp.sum((adaptive - plain) * (adaptive + plain), axis=-1)
    aligned = jnp.sum(posterior * (adaptive - plain), axis=-1)
    return read_out**2 * squares - 2 * read_out * aligned


def _draw_spiked(key: Array, signal: Number, shape: tuple[int, int]) -> Texts:
    scores = jax.random.normal(key, shape)
    # All positions are alike: the needle is put first.
    scores = scores.at[:, 0].add(jnp.sqrt(signal))
    return scores, jax.nn.softmax(jnp.sqrt(signal) * scores, axis=-1)


def _draw_max(key: Array, signal: Number, shape: tuple[int, int]) -> Texts:
    scores = jax.random.normal(key, shape)
    certain = jax.nn.one_hot(jnp.argmax(scores, axis=-1), shape[1])
    finite = jnp.where(jnp.isinf(signal), 1.0, signal)
    doubtful = jax.nn.softmax(finite * scores, axis=-1)
    return scores, jnp.where(jnp.isinf(signal), certain, doubtful)
