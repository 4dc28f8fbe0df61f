"""Single-location regression: find one token by its key, read out its value.

The task of "Statistical Advantage of Softmax Attention: Insights from Single-Location
Regression" (arXiv 2509.21936), as we define it:

    X in R^{L x D},  k* . k* = v* . v* = D,  k* . v* = 0,
    target y = X_position . v* / sqrt(D) + noise * xi,  xi ~ N(0, 1).

Two ways of marking the position that counts, with signal nu >= 0:

* `SpikedSLR`: all tokens are N(0, I); the one at a uniform position is shifted by
  sqrt(nu / D) k*;
* `MaxSLR`: all tokens are N(0, I); the position is drawn from softmax(nu * score),
  score_l = X_l . k* / sqrt(D), and is the largest score at nu = infinity.

A head with key k and value v enters the theory only through seven numbers, its
`Overlaps`. The record is what a prediction and a measurement have in common.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from sharp_attention._checks import check_integer, check_real, require
from sharp_attention._typing import ArrayLike
from sharp_attention.tasks.overlaps import Overlaps, measure_overlaps
from sharp_attention.tasks.texts import (
    Samples,
    draw_max,
    draw_spiked,
    draw_teachers,
)

__all__ = [
    "MaxSLR",
    "Overlaps",
    "Samples",
    "SpikedSLR",
    "Task",
    "check_task",
    "draw_teachers",
    "measure_overlaps",
    "sample",
]


@dataclass(frozen=True)
class _SingleLocation:
    """What both variants share.

    Attributes
    ----------
    signal : nu >= 0
    lengths : number of tokens L >= 1, a Python integer of any size; or a random
        length as {length: probability}
    noise : standard deviation of the label noise, >= 0
    """

    signal: float
    lengths: int | Mapping[int, float]
    noise: float = 0.0

    def __post_init__(self) -> None:
        may_be_infinite = isinstance(self, MaxSLR)
        for name in ("signal", "noise"):
            value = getattr(self, name)
            require(np.ndim(value) == 0, name, "one number", value)
        check_real("signal", self.signal, at_least=0, allow_infinite=may_be_infinite)
        check_real("noise", self.noise, at_least=0)
        _check_lengths(self.lengths)

    @property
    def length_probabilities(self) -> dict[int, float]:
        """Every possible length with its probability; those of probability 0 left out.

        They are divided by their sum, which is 1 up to rounding.
        """
        if not isinstance(self.lengths, Mapping):
            return {int(self.lengths): 1.0}
        total = math.fsum(self.lengths.values())
        likely = sorted((n, p) for n, p in self.lengths.items() if p > 0)
        return {int(length): float(p) / total for length, p in likely}

    @property
    def mean_length(self) -> float:
        """Expected number of tokens; infinite where a float can't hold it."""
        terms = (n * Fraction(p) for n, p in self.length_probabilities.items())
        try:
            return float(sum(terms))
        except OverflowError:
            return math.inf

    @property
    def max_length(self) -> int:
        """Largest possible number of tokens."""
        return max(self.length_probabilities)


@dataclass(frozen=True)
class SpikedSLR(_SingleLocation):
    """The token that counts is shifted by sqrt(signal / dim) along the key k*.

    Parameters
    ----------
    signal : nu >= 0, finite: the squared shift in units of one token's fluctuation
    lengths : number of tokens, or {length: probability}
    noise : standard deviation of the label noise

    Raises
    ------
    TypeError, ValueError
        If the signal or the noise is negative or not finite, a length is not an
        integer >= 1, or the probabilities are negative or do not sum to 1.
    """


@dataclass(frozen=True)
class MaxSLR(_SingleLocation):
    """The token that counts is drawn from softmax(signal * score).

    Parameters
    ----------
    signal : nu >= 0; ``math.inf`` picks the token with the largest score
    lengths : number of tokens, or {length: probability}
    noise : standard deviation of the label noise

    Raises
    ------
    TypeError, ValueError
        If the signal or the noise is negative, a length is not an integer >= 1, or
        the probabilities are negative or do not sum to 1.
    """


Task: TypeAlias = SpikedSLR | MaxSLR


def sample(
    rng_key: Array,
    task: Task,
    dim: int,
    num_samples: int,
    teacher: tuple[ArrayLike, ArrayLike] | None = None,
) -> Samples:
    """Draw texts and labels.

    Parameters
    ----------
    rng_key : JAX random key
    task : SpikedSLR or MaxSLR; a random length is drawn for each text
    dim : D >= 2, of a token
    num_samples : number of texts, >= 1
    teacher : (k*, v*), each of shape (dim,), used as they are; if None a fresh pair,
        orthogonal and of norm sqrt(dim) to rounding

    Returns
    -------
    Samples in the default float type of JAX (float32 unless x64 is enabled)

    Raises
    ------
    TypeError, ValueError
        If a size is not a positive integer, a teacher has the wrong shape or is not
        finite, or the longest text has more than 2**31 - 1 tokens.
    """
    check_task(task)
    check_integer("dim", dim, at_least=2)
    check_integer("num_samples", num_samples, at_least=1)
    rule = "< 2**31 for sampling (the theory takes any length)"
    require(task.max_length < 2**31, "lengths", rule, task.max_length)
    teacher_key, length_key, text_key = jax.random.split(rng_key, 3)
    if teacher is None:
        key, value = draw_teachers(teacher_key, dim)
    else:
        key, value = (_as_teacher(vector, dim) for vector in teacher)
    probabilities = task.length_probabilities
    choices = jnp.asarray(list(probabilities))
    weights = jnp.asarray(list(probabilities.values()), key.dtype)
    length = jax.random.choice(length_key, choices, (num_samples,), p=weights)
    draw = draw_spiked if isinstance(task, SpikedSLR) else draw_max
    signal, noise = (jnp.asarray(x, key.dtype) for x in (task.signal, task.noise))
    return draw(text_key, signal, noise, length, key, value, task.max_length)


def _as_teacher(vector: ArrayLike, dim: int) -> Float[Array, " dim"]:
    array = jnp.asarray(vector, jnp.result_type(float))
    require(array.shape == (dim,), "teacher", f"two arrays ({dim},)", array.shape)
    check_real("teacher", array)
    return array


def check_task(task: object) -> None:
    """Raise ``TypeError`` unless `task` is one of the two tasks."""
    if not isinstance(task, Task):
        raise TypeError(f"task must be a SpikedSLR or a MaxSLR; received {task!r}")


def _check_lengths(lengths: object) -> None:
    if not isinstance(lengths, Mapping):
        check_integer("lengths", lengths, at_least=1)
        return
    require(bool(lengths), "lengths", "an integer or {length: probability}", lengths)
    for length, probability in lengths.items():
        check_integer("lengths", length, at_least=1)
        check_real(f"the probability of length {length}", probability, at_least=0)
    total = math.fsum(lengths.values())
    rule = f"probabilities that sum to 1 (they sum to {total:.12g})"
    require(abs(total - 1) <= 1e-9, "lengths", rule, lengths)
