"""Scalar problem of the Bayes-optimal reader: the evidence of one sample.

Who knows the law of the task and has seen some samples believes that the fields of a
new one, chi = x.k*/sqrt(D) and z = x.v*/sqrt(D) per token, are Gaussian around a and b
with variances V_k and V_v. The label y then has the evidence, finite-samples note
(2.1),

    Z(a, b, y) = sum_e pi_e(a) N(y; b_e, noise^2 + V_v),

where pi_e(a) is the prior share of position e, averaged over the doubt about chi (see
`position_laws`). The output functions are its logarithmic derivatives,

    g_k = d log Z / d a,      g_v = d log Z / d b = p_e (y - b_e) / (noise^2 + V_v),

with the posterior of the position p_e = pi_e N_e / Z. State evolution averages these
functions and message passing evaluates them on data. Points lie on the last axis of
every array, one row per token; everything here can be traced.
"""

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from sharp_attention._checks import check_integer, require
from sharp_attention.channels.interface import Fields, Variances
from sharp_attention.channels.position_laws import MaxLaw, PositionLaw, SpikedLaw
from sharp_attention.numerics.linalg import Rows
from sharp_attention.tasks.single_location import MaxSLR, Task, check_task

__all__ = [
    "Known",
    "Output",
    "g_out",
    "g_out_derivative",
    "log_z_out",
    "position_law",
    "position_weights",
    "posterior_weights",
]

_LARGEST_LENGTH = 64


class Known(NamedTuple):
    """What the reader knows of the task besides its kind.

    Attributes
    ----------
    signal : nu
    noise_variance : of the labels
    """

    signal: Float[Array, ""]
    noise_variance: Float[Array, ""]


class Output(NamedTuple):
    """Output functions g_k and g_v, one row per token."""

    key: Rows
    value: Rows


def position_law(task: Task, length: int) -> PositionLaw:
    """Return the law of the position for texts of `length` tokens.

    Parameters
    ----------
    task : SpikedSLR, or MaxSLR with infinite signal
    length : 1 to 64 (the rows are unrolled)

    Raises
    ------
    TypeError, ValueError
        If the task is neither, the signal of the max task finite (its shares are an
        integral over as many variables as there are tokens), or `length` out of range.
    """
    check_task(task)
    check_integer("length", length, at_least=1)
    require(length <= _LARGEST_LENGTH, "length", f"<= {_LARGEST_LENGTH}", length)
    if not isinstance(task, MaxSLR):
        return SpikedLaw(length)
    rule = "infinite in the max task"
    require(math.isinf(task.signal), "signal", rule, task.signal)
    return MaxLaw(length)


def log_z_out(
    law: PositionLaw, fields: Fields, variances: Variances, known: Known
) -> Float[Array, " points"]:
    """Logarithm of the evidence Z of each label.

    Parameters
    ----------
    law : of the position
    fields : means a and b of the fields, and the label y
    variances : V_k and V_v, > 0
    known : signal and noise

    Notes
    -----
    In the spiked task Z is relative to texts without a spike, so that it counts what
    the text itself says about k* (slr-finite-samples, section 2.1).
    """
    return _log_sum(_log_terms(law, fields, variances, known))


def posterior_weights(
    law: PositionLaw, fields: Fields, variances: Variances, known: Known
) -> Rows:
    """Probability p_e of each position given the label; the rows sum to 1."""
    terms = _log_terms(law, fields, variances, known)
    return _normalise(terms)


def position_weights(
    law: PositionLaw, key: Rows, variance: Float[Array, ""], known: Known
) -> Rows:
    """Probability of each position before the label is seen; the rows sum to 1.

    The best prediction of the label is their sum with the means b of the read-outs.

    Parameters
    ----------
    law : of the position
    key : means a of the scores
    variance : V_k, > 0
    known : signal and noise
    """
    return _normalise(law.log_shares(key, variance, known.signal))


def g_out(
    law: PositionLaw, fields: Fields, variances: Variances, known: Known
) -> Output:
    """Gradient of `log_z_out` with respect to a and b."""
    shares = law.log_shares(fields.key, variances.key, known.signal)
    likelihoods = _log_likelihoods(fields, variances, known)
    terms = [s + n for s, n in zip(shares, likelihoods, strict=True)]
    evidence = _log_sum(terms)
    ratios = tuple(jnp.exp(row - evidence) for row in likelihoods)
    key = law.pull(fields.key, variances.key, known.signal, ratios)
    variance = known.noise_variance + variances.value
    value = tuple(
        jnp.exp(term - evidence) * (fields.target - b) / variance
        for term, b in zip(terms, fields.value, strict=True)
    )
    return Output(key, value)


def g_out_derivative(
    law: PositionLaw, fields: Fields, variances: Variances, known: Known
) -> Output:
    """Diagonal derivatives d g_k,e / d a_e and d g_v,e / d b_e, one row per token."""

    def key_slope(row: int) -> Float[Array, " points"]:
        def one(moved: Float[Array, " points"]) -> Float[Array, " points"]:
            rows = (*fields.key[:row], moved, *fields.key[row + 1 :])
            return g_out(law, fields._replace(key=rows), variances, known).key[row]

        return _slope(one, fields.key[row])

    def value_slope(row: int) -> Float[Array, " points"]:
        def one(moved: Float[Array, " points"]) -> Float[Array, " points"]:
            rows = (*fields.value[:row], moved, *fields.value[row + 1 :])
            return g_out(law, fields._replace(value=rows), variances, known).value[row]

        return _slope(one, fields.value[row])

    rows = range(law.length)
    return Output(tuple(map(key_slope, rows)), tuple(map(value_slope, rows)))


def _slope(
    function: Callable[[Array], Array], place: Float[Array, " points"]
) -> Float[Array, " points"]:
    return jax.jvp(function, (place,), (jnp.ones_like(place),))[1]


def _log_terms(
    law: PositionLaw, fields: Fields, variances: Variances, known: Known
) -> list[Float[Array, " points"]]:
    shares = law.log_shares(fields.key, variances.key, known.signal)
    likelihoods = _log_likelihoods(fields, variances, known)
    return [s + n for s, n in zip(shares, likelihoods, strict=True)]


def _log_likelihoods(
    fields: Fields, variances: Variances, known: Known
) -> list[Float[Array, " points"]]:
    variance = known.noise_variance + variances.value
    constant = jnp.log(2 * jnp.pi * variance) / 2
    return [
        -((fields.target - b) ** 2) / (2 * variance) - constant for b in fields.value
    ]


def _log_sum(terms: Sequence[Array]) -> Float[Array, " points"]:
    return reduce(jnp.logaddexp, terms)


def _normalise(terms: Sequence[Array]) -> Rows:
    total = _log_sum(terms)
    return tuple(jnp.exp(term - total) for term in terms)
