"""Claims of the second seed note and its paper that no other subject treats."""

import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from sharp_attention._typing import Float64
from sharp_attention.attention import activations
from sharp_attention.claims import _weights
from sharp_attention.claims.registry import Measurement, declare
from sharp_attention.experiments import finite_sample_tables
from sharp_attention.experiments.finite_samples import BEST, LENGTH, NOISE
from sharp_attention.tasks import single_location
from sharp_attention.tasks.single_location import MaxSLR, Overlaps, SpikedSLR
from sharp_attention.theory.single_location import population, state_evolution

__all__: list[str] = []

_note = functools.partial(
    declare,
    paper="single-location",
    place="second seed note",
    chapter="primer",
    confidence="B",
)


def _whole_matrix(query: jax.Array, key: jax.Array, value: jax.Array) -> jax.Array:
    """Softmax attention with all weights at once, as it is defined."""
    return activations.softmax(query @ key.T) @ value


def _reordered(query: jax.Array, key: jax.Array, value: jax.Array) -> jax.Array:
    """Linear attention Σ (1 + q·k) v, the sum over keys first: no weight is formed."""
    return value.sum(0) + query @ (key.T @ value)


def _operations(attention: Callable[..., jax.Array], length: int) -> float:
    """Floating-point operations that the compiler counts, 64 numbers a token."""
    tokens = jnp.ones((length, 64))
    compiled = jax.jit(attention).lower(tokens, tokens, tokens).compile()
    costs: Any = compiled.cost_analysis()
    return float(costs["flops"])


@_note(
    "note-softmax-costs-length-squared",
    place="second seed note, 1",
    statement="The work of softmax attention grows like the square of the length "
    "(measured: exponent between 1,024 and 2,048 tokens, operations counted by the "
    "compiler).",
    quoted_value=2.0,
    tolerance=0.02,
)
def _costs_square() -> Measurement:
    counts = [_operations(_whole_matrix, length) for length in (1024, 2048)]
    return Measurement(math.log2(counts[1] / counts[0]))


@_note(
    "note-linear-attention-costs-length",
    place="second seed note, 1",
    statement="The work of linear attention grows like the length (measured: exponent "
    "between 1,024 and 2,048 tokens, operations counted by the compiler).",
    quoted_value=1.0,
    tolerance=0.02,
)
def _costs_length() -> Measurement:
    counts = [_operations(_reordered, length) for length in (1024, 2048)]
    return Measurement(math.log2(counts[1] / counts[0]))


@_note(
    "linear-attention-needs-no-matrix",
    paper="ours",
    place="behind the second seed note, 1",
    confidence="D",
    statement="Summed over keys first, linear attention is the same without a matrix "
    "of weights (measured: largest difference from the weights 1 + q.k).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-12,
)
def _needs_no_matrix() -> Measurement:
    query, key, value = np.random.default_rng(0).normal(size=(3, 32, 4))
    with jax.enable_x64(True):
        whole = activations.linear(query @ key.T) @ value
        cheap = _reordered(*map(jnp.asarray, (query, key, value)))
        return Measurement(float(jnp.abs(whole - cheap).max()))


def _rivals(weigh: Callable[[Float64], Float64]) -> Float64:
    """Weights of all keys but the leader before and after its logit rises by 1."""
    rows = -np.sort(-_weights.random_rows()[:256])  # no weight is lost to rounding
    raised = rows + np.eye(16)[0]
    return np.asarray([weigh(rows)[:, 1:], weigh(raised)[:, 1:]])


@_note(
    "note-rivals-lose-weight",
    place="second seed note, 4",
    statement="When one logit of a softmax row rises, the weights of all others fall "
    "(measured: largest ratio of a weight after to before the largest logit rises by "
    "1; among 16 keys it has a sixteenth of the weight, and the others lose a tenth).",
    quoted_value=0.91,
    comparison="at most",
)
def _rivals_lose() -> Measurement:
    before, after = _rivals(_weights.softmax)
    return Measurement(float((after / before).max()))


@_note(
    "note-linear-spares-rivals",
    place="second seed note, 4",
    statement="In linear attention they stay as they are (measured: largest change).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-12,
)
def _spares_rivals() -> Measurement:
    def linear(rows: Float64) -> Float64:
        with jax.enable_x64(True):
            return np.asarray(activations.linear(rows))

    before, after = _rivals(linear)
    return Measurement(float(np.abs(after - before).max()))


@_note(
    "note-risk-of-a-random-guess",
    place="second seed note, A",
    chapter="population-risk",
    confidence="C",
    statement="In the max task the error of linear attention tends to 1, that is to "
    "random guessing (measured: risk of who says the value of a random token, 100 "
    "tokens, with five standard errors).",
    quoted_value=1.0,
    expected="differs",
)
def _random_guess() -> Measurement:
    task = MaxSLR(math.inf, 100)
    samples = single_location.sample(jax.random.key(0), task, 8, 20_000)
    guesses = samples.tokens[:, 0] @ samples.value / math.sqrt(8)
    errors = np.asarray((samples.target - guesses) ** 2, np.float64)
    mean, error = errors.mean(), 5 * errors.std(ddof=1) / math.sqrt(errors.size)
    return Measurement(float(mean), (float(mean - error), float(mean + error)))


@_note(
    "note-loss-is-not-convex",
    place="second seed note, C",
    chapter="landscape",
    statement="The loss is not convex (measured: risk of softmax half-way between the "
    "heads k = 4 k* and k = 40 k*, v = v*, less the mean of theirs; spiked, signal 10, "
    "three tokens).",
    quoted_value=1e-3,
    comparison="at least",
)
def _not_convex() -> Measurement:
    lengths = np.array([4.0, 22.0, 40.0])
    ones = np.ones_like(lengths)
    heads = Overlaps(lengths, lengths**2, ones, ones)
    risks = np.asarray(population.risk(SpikedSLR(10.0, 3), "softmax", heads))
    return Measurement(float(risks[1] - (risks[0] + risks[2]) / 2))


_reading = functools.partial(
    _note,
    place="figure 3, as read in summaries",
    chapter="finite-samples",
    confidence="C",
    tolerance=0.05,
    command="sharp-attention reproduce finite-samples",
)


def _at_twenty(activation: str) -> Measurement:
    theory = finite_sample_tables.read("theory")
    is_here = (theory["task"] == "max") & (theory["sample_ratio"] == 20)
    is_here &= (theory["activation"] == activation) & (theory["ridge"] == BEST)
    return Measurement(float(theory.loc[is_here, "test_risk"].item()))


@_reading(
    "figure-3-max-reading-softmax",
    statement="In the max task the test risk of softmax falls to about 0.20 (measured: "
    "at the best ridges and 20 samples per dimension).",
    quoted_value=0.20,
)
def _max_softmax() -> Measurement:
    return _at_twenty("softmax")


@_reading(
    "figure-3-max-reading-linear",
    statement="In the max task the test risk of linear attention falls to about 0.55 "
    "(measured: at the best ridges and 20 samples per dimension).",
    quoted_value=0.55,
)
def _max_linear() -> Measurement:
    return _at_twenty("linear")


@_reading(
    "figure-3-max-reading-bayes",
    command=None,
    statement="In the max task the test risk of the Bayes-optimal method falls to "
    "about 0.15 (measured: at 20 samples per dimension).",
    quoted_value=0.15,
)
def _max_bayes() -> Measurement:
    task = MaxSLR(math.inf, LENGTH, NOISE)
    solved = state_evolution.solve(task, 20.0, init="uninformed", num_points=2**11)
    return Measurement(solved.test_risk)
