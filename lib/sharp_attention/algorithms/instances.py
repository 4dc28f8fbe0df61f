"""Instances of single-location regression on which heads are trained.

Every algorithm draws its instances here, so two of them with the same random key see
the very same teachers, texts and random starts.
"""

from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from sharp_attention._checks import check_choice, check_integer, check_real, require
from sharp_attention._typing import ArrayLike, Scalar
from sharp_attention.algorithms.objective import ACTIVATIONS, Data, Head, Penalty
from sharp_attention.tasks.single_location import Samples, Task, check_task, sample

__all__ = ["Init", "Instance", "Problem", "check_problem", "draw_instance"]

Init: TypeAlias = str | tuple[ArrayLike, ArrayLike]
"""A start: "informed" (the teachers), "random" (standard normal), or a head (k, v)."""

_DTYPES = ("float32", "float64")


class Problem(NamedTuple):
    """One point of the phase diagram, and the size at which it is simulated.

    Attributes
    ----------
    task, activation, offset : what is learned by what
    dim : D
    sample_ratio : alpha; round(alpha D) texts are drawn
    ridge_k, ridge_v : of the objective
    dtype : of the texts
    """

    task: Task
    activation: str
    dim: int
    sample_ratio: float
    ridge_k: float
    ridge_v: float
    offset: float
    dtype: str

    @property
    def num_samples(self) -> int:
        """Number of texts N."""
        return round(self.sample_ratio * self.dim)

    @property
    def penalty(self) -> Penalty:
        """The ridges as arrays."""
        ridges = self.ridge_k, self.ridge_v
        return Penalty(*(jnp.asarray(np.float64(ridge)) for ridge in ridges))


class Instance(NamedTuple):
    """Texts with their teachers, and where a head starts."""

    samples: Samples
    start: Head

    @property
    def data(self) -> Data:
        """What the objective reads."""
        with jax.enable_x64(True):  # the lengths of double texts are int64
            mask = self.samples.mask
        return Data(self.samples.tokens, self.samples.target, mask)


def check_problem(
    task: Task,
    activation: str,
    dim: int,
    sample_ratio: Scalar,
    ridge_k: Scalar,
    ridge_v: Scalar,
    offset: float,
    dtype: str,
) -> Problem:
    """Check the arguments that all algorithms share.

    Raises
    ------
    TypeError, ValueError
        If one is out of range.
    """
    check_task(task)
    check_choice("activation", activation, ACTIVATIONS)
    check_integer("dim", dim, at_least=2)
    check_real("sample_ratio", sample_ratio, above=0)
    check_real("ridge_k", ridge_k, at_least=0)
    check_real("ridge_v", ridge_v, at_least=0)
    check_real("offset", offset)
    check_choice("dtype", dtype, _DTYPES)
    problem = Problem(
        task=task,
        activation=activation,
        dim=int(dim),
        sample_ratio=float(sample_ratio),
        ridge_k=float(ridge_k),
        ridge_v=float(ridge_v),
        offset=float(offset),
        dtype=dtype,
    )
    rule = "large enough for one text, sample_ratio * dim >= 1/2"
    require(problem.num_samples >= 1, "sample_ratio", rule, sample_ratio)
    return problem


def draw_instance(rng_key: Array, index: int, problem: Problem, init: Init) -> Instance:
    """Draw instance `index`: it depends on the key and the index alone.

    Raises
    ------
    ValueError
        If `init` is no start that there is, or a head of the wrong shape.
    """
    sample_key, start_key = jax.random.split(jax.random.fold_in(rng_key, index))
    with jax.enable_x64(problem.dtype == "float64"):
        samples = sample(sample_key, problem.task, problem.dim, problem.num_samples)
    with jax.enable_x64(True):
        start = _start(start_key, samples, init)
    return Instance(samples, start)


def _start(rng_key: Array, samples: Samples, init: Init) -> Head:
    dim = samples.key.size
    if isinstance(init, str):
        check_choice("init", init, ("informed", "random"))
        if init == "random":
            return Head(*jax.random.normal(rng_key, (2, dim), jnp.float64))
        return Head(*(x.astype(jnp.float64) for x in (samples.key, samples.value)))
    require(len(init) == 2, "init", "a name or a head (k, v)", init)
    for vector in init:
        shape = np.shape(np.asarray(vector))
        require(shape == (dim,), "init", f"two arrays ({dim},)", shape)
        check_real("init", np.asarray(vector))
    return Head(*(jnp.asarray(np.asarray(x, np.float64)) for x in init))
