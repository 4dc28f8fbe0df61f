"""State evolution of the Bayes-optimal reader: two equations for two overlaps.

The posterior mean of k* has the overlap q_k = <k>.k*/D with the teacher, and by the
Nishimori identity the same squared length; q_v likewise. A new sample sees the cavity
fields, finite-samples note section 2.1,

    a = q_k chi* + sqrt(q_k (1 - q_k)) G,    b_e = sqrt(q_v) H_e,
    y = b_0 + sqrt(noise^2 + 1 - q_v) xi,

where token 0 counts, and each of k* and v* solves a scalar Gaussian problem, (2.2),

    qhat = alpha E |g|^2,    q = qhat / (1 + qhat),

with the output functions g of `channels.bayes`. Free entropy (2.3) and test risk (2.4)
are averages over the same sample. All of them ignore a common shift of the scores, up
to a factor of Z with known mean, and a common shift of read-outs and label: both are
left out of the points, 2 L - 1 directions remain.

The equations are iterated in the coordinates log(1 + qhat) = -log(1 - q), which
resolve a nearly perfect overlap as well as a vanishing one.
"""

from typing import NamedTuple, TypeAlias

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from sharp_attention._typing import Float64
from sharp_attention.channels import bayes
from sharp_attention.channels.bayes import Known
from sharp_attention.channels.interface import Fields, Variances
from sharp_attention.channels.position_laws import PositionLaw, SpikedLaw
from sharp_attention.numerics.linalg import Rows, dot, zero_sum_basis
from sharp_attention.numerics.sobol import sobol_normals

__all__ = [
    "LARGEST",
    "Averages",
    "Groups",
    "Laws",
    "Points",
    "Problem",
    "State",
    "as_points",
    "averages",
    "draw_points",
    "next_coordinates",
    "prior_entropy",
]

Laws: TypeAlias = tuple[PositionLaw, ...]
State: TypeAlias = Float[Array, "2"]

# Beyond 1 - q = e^-30 = 1e-13 the overlap is exact in double precision.
LARGEST = 30.0


class Points(NamedTuple):
    """Base randoms of texts of one length, drawn once and for all; points last.

    Attributes
    ----------
    key_noise, value_noise : G and H without their mean over the tokens, a row each
    label_noise : xi
    weight : of each point; the weights of one length sum to its probability
    """

    key_noise: Rows
    value_noise: Rows
    label_noise: Float[Array, " points"]
    weight: Float[Array, " points"]


Groups: TypeAlias = tuple[Points, ...]
"""Points of each possible length, in the order of the laws."""


class Problem(NamedTuple):
    """The numbers of one problem; arrays, so that nothing is compiled twice."""

    sample_ratio: Float[Array, ""]
    known: Known


class Averages(NamedTuple):
    """Averages over one sample.

    Attributes
    ----------
    precisions : E |g_k|^2 and E |g_v|^2
    log_evidence : E log Z
    sharpness : E sum of the squared predictive position weights
    """

    precisions: State
    log_evidence: Float[Array, ""]
    sharpness: Float[Array, ""]


def draw_points(
    length: int, num_points: int, seed: int, probability: float = 1.0
) -> Points:
    """Draw `num_points` scrambled Sobol points (a power of two balances them best)."""
    normals = sobol_normals(2 * length - 1, num_points, seed)
    return as_points(length, normals, np.full(num_points, probability / num_points))


def as_points(length: int, normals: Float64, weight: Float64) -> Points:
    """Give each of 2 L - 1 standard normal variables its role."""
    label, key, value = np.split(normals, [1, length])
    basis = zero_sum_basis(length) if length > 1 else np.zeros((1, 0))
    return Points(
        tuple(jnp.asarray(basis @ key)),
        tuple(jnp.asarray(basis @ value)),
        jnp.asarray(label[0]),
        jnp.asarray(weight),
    )


def averages(
    coordinates: State, problem: Problem, groups: Groups, laws: Laws
) -> Averages:
    """Average over the law of one sample at the overlaps 1 - exp(-coordinates)."""
    total = Averages(jnp.zeros(2), jnp.zeros(()), jnp.zeros(()))
    for points, law in zip(groups, laws, strict=True):
        one = _per_length(coordinates, problem.known, points, law)
        total = Averages(*(x + y for x, y in zip(total, one, strict=True)))
    return total


def _per_length(
    coordinates: State, known: Known, points: Points, law: PositionLaw
) -> Averages:
    rest = jnp.exp(-coordinates)
    q_k, q_v = -jnp.expm1(-coordinates)
    variances = Variances(*rest)
    key, weights = _key_fields(q_k, variances, known, points, law)
    value = tuple(jnp.sqrt(q_v) * row for row in points.value_noise)
    spread = jnp.sqrt(known.noise_variance + variances.value)
    squares, evidence = jnp.zeros(2), jnp.zeros(())
    for weight, read_out in zip(weights, value, strict=False):
        fields = Fields(key, value, read_out + spread * points.label_noise)
        output = bayes.g_out(law, fields, variances, known)
        squares += jnp.stack([weight @ dot(rows, rows) for rows in output])
        evidence += weight @ bayes.log_z_out(law, fields, variances, known)
    # What the common shift of the scores, left out of the points, has for a mean.
    common = jnp.sum(points.weight) * law.tilt(known.signal) * q_k / law.length
    predictive = bayes.position_weights(law, key, variances.key, known)
    sharpness = points.weight @ dot(predictive, predictive)
    return Averages(squares, evidence + common, sharpness)


def _key_fields(
    q_k: Float[Array, ""],
    variances: Variances,
    known: Known,
    points: Points,
    law: PositionLaw,
) -> tuple[Rows, Rows]:
    """Means of the scores, and weights of the points for each position that counts.

    In the spiked task the token that counts is shifted, and all are alike: the first
    will do. In the max task the means are centred Gaussian whatever the position, and
    each position counts by its share.
    """
    key = tuple(jnp.sqrt(q_k) * row for row in points.key_noise)
    if isinstance(law, SpikedLaw):
        shift = q_k * jnp.sqrt(known.signal)
        first, *others = (row - shift / law.length for row in key)
        return (first + shift, *others), (points.weight,)
    shares = bayes.position_weights(law, key, variances.key, known)
    return key, tuple(points.weight * share for share in shares)


def next_coordinates(average: Averages, problem: Problem) -> State:
    """Return log(1 + qhat), at most `LARGEST`."""
    precisions = problem.sample_ratio * average.precisions
    return jnp.minimum(jnp.log1p(precisions), LARGEST)


def prior_entropy(coordinates: State) -> Float[Array, ""]:
    """Part of the free entropy (2.3) that does not depend on the sample.

    It is the sum over k and v of (qhat - q qhat - log(1 + qhat)) / 2 at
    q = qhat / (1 + qhat), where the first two terms make q.
    """
    return jnp.sum(-jnp.expm1(-coordinates) - coordinates) / 2
