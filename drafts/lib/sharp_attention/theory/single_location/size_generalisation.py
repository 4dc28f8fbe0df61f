"""Train a softmax head at one length, use it at another.

The head is k = β k*, v = m_v v*, with a bounded key, β <= K; slr-population, section 8.
Its risk at any length is exact. With adaptive temperature the weights depend on their
own entropy, and the change of the risk is a Monte-Carlo average over scores,

    E(adaptive) - E(plain) = E[ m_v² (Σ α'² - Σ α²) - 2 m_v Σ p (α' - α) ],

with the posterior p in place of the position: given the scores, the token that counts
is distributed like p.
"""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy import optimize

from sharp_attention._checks import check_integer, check_real, require
from sharp_attention.attention.temperature import adaptive_softmax
from sharp_attention.tasks.single_location import MaxSLR, Overlaps, SpikedSLR, Task
from sharp_attention.theory.single_location import population

__all__ = [
    "Estimate",
    "TrainedHead",
    "adaptive_change",
    "at_length",
    "best_read_out",
    "best_sharpness",
    "frozen_risk",
    "train",
]

# Scores drawn at once; 2**21 in single precision are 8 MiB.
BATCH = 2**21


class Estimate(NamedTuple):
    """A Monte-Carlo average with its standard error."""

    mean: float
    error: float


@dataclass(frozen=True)
class TrainedHead:
    """Softmax head k = sharpness k*, v = read_out v*.

    Attributes
    ----------
    sharpness : β
    read_out : m_v
    risk : on the task that it was trained on
    """

    sharpness: float
    read_out: float
    risk: float


def train(task: Task, max_sharpness: float = math.inf) -> TrainedHead:
    """Best softmax head with a bounded key, at infinitely many samples.

    Parameters
    ----------
    task : its length is the length of training
    max_sharpness : K > 0; the Bayes sharpness is used where it is smaller

    Returns
    -------
    TrainedHead with its read-out at the optimum B / A

    Raises
    ------
    ValueError
        If `max_sharpness` is not positive, or infinite where the best is (max task at
        infinite signal).
    """
    check_real("max_sharpness", max_sharpness, above=0, allow_infinite=True)
    spiked = isinstance(task, SpikedSLR)
    bayes = math.sqrt(task.signal) if spiked else float(task.signal)
    sharpness = min(float(max_sharpness), bayes)
    rule = "finite where the signal of the max task is infinite"
    require(math.isfinite(sharpness), "max_sharpness", rule, max_sharpness)
    read_out = best_read_out(task, sharpness)
    return TrainedHead(sharpness, read_out, _risk(task, sharpness, read_out))


def best_read_out(task: Task, sharpness: float) -> float:
    """Best m_v = B / A at a given sharpness.

    The risk 1 - 2 m_v B + m_v² A is a parabola, known from three of its values.
    """
    check_real("sharpness", sharpness, at_least=0)
    down, middle, up = (_risk(task, sharpness, m_v) for m_v in (-1.0, 0.0, 1.0))
    return (down - up) / (2 * (up + down - 2 * middle))


def frozen_risk(head: TrainedHead, task: Task) -> float:
    """Risk of a trained head on a task, of any length."""
    return _risk(task, head.sharpness, head.read_out)


def at_length(task: Task, length: int) -> Task:
    """Return the same task at another length."""
    return replace(task, lengths=length)


def best_sharpness(task: Task, read_out: float, largest: float = 60.0) -> float:
    """Sharpness of least risk at a frozen read-out.

    Parameters
    ----------
    task : of the test
    read_out : m_v > 0
    largest : end of the search; a result near it means that there is no finite best

    Returns
    -------
    β, good to about 1e-7 relative

    Raises
    ------
    ValueError
        If `read_out` is not positive.
    """
    check_real("read_out", read_out, above=0)
    found = optimize.minimize_scalar(
        lambda log_beta: _risk(task, math.exp(log_beta), read_out),
        bounds=(math.log(0.05), math.log(largest)),
        method="bounded",
        options={"xatol": 1e-8},
    )
    return math.exp(float(found.x))


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
    task : of a fixed length < 2**24
    sharpness, read_out : β and m_v of the head
    num_samples : texts drawn
    rng_seed : of the draws

    Returns
    -------
    Estimate; negative where adaptive temperature helps

    Raises
    ------
    TypeError, ValueError
        If the length is random or too long, a number is out of range, or
        `num_samples` < 2.
    """
    check_integer("lengths", task.lengths, at_least=1)
    require(task.max_length < 2**24, "lengths", "< 2**24", task.lengths)
    check_real("sharpness", sharpness, at_least=0)
    check_real("read_out", read_out)
    check_integer("num_samples", num_samples, at_least=2)
    length = task.max_length
    rows = max(1, min(BATCH // length, num_samples))
    keys = jax.random.split(jax.random.key(rng_seed), -(-num_samples // rows))
    change = _max_changes if isinstance(task, MaxSLR) else _spiked_changes
    changes = np.concatenate(
        [
            np.asarray(change(key, task.signal, sharpness, read_out, rows, length))
            for key in keys
        ]
    ).astype(np.float64)
    return Estimate(changes.mean(), changes.std(ddof=1) / math.sqrt(len(changes)))


def _risk(task: Task, sharpness: float, read_out: float) -> float:
    head = Overlaps(sharpness, sharpness**2, read_out, read_out**2)
    return float(population.risk(task, "softmax", head))


@jax.jit(static_argnames=("rows", "length"))
def _spiked_changes(
    key: Array, signal: float, sharpness: float, read_out: float, rows: int, length: int
) -> Float[Array, " rows"]:
    scores = jax.random.normal(key, (rows, length))
    # All positions are alike: the needle is put first.
    scores = scores.at[:, 0].add(jnp.sqrt(signal))
    posterior = jax.nn.softmax(jnp.sqrt(signal) * scores, axis=-1)
    return _changes(scores, posterior, sharpness, read_out)


@jax.jit(static_argnames=("rows", "length"))
def _max_changes(
    key: Array, signal: float, sharpness: float, read_out: float, rows: int, length: int
) -> Float[Array, " rows"]:
    scores = jax.random.normal(key, (rows, length))
    certain = jax.nn.one_hot(jnp.argmax(scores, axis=-1), length)
    finite = jnp.where(jnp.isinf(signal), 1.0, signal)
    doubtful = jax.nn.softmax(finite * scores, axis=-1)
    posterior = jnp.where(jnp.isinf(signal), certain, doubtful)
    return _changes(scores, posterior, sharpness, read_out)


def _changes(
    scores: Float[Array, "rows tokens"],
    posterior: Float[Array, "rows tokens"],
    sharpness: float,
    read_out: float,
) -> Float[Array, " rows"]:
    plain = jax.nn.softmax(sharpness * scores, axis=-1)
    adaptive = adaptive_softmax(sharpness * scores)
    squares = jnp.sum(adaptive**2 - plain**2, axis=-1)
    aligned = jnp.sum(posterior * (adaptive - plain), axis=-1)
    return read_out**2 * squares - 2 * read_out * aligned
