"""Test risk of a trained head from its overlaps, without drawing a single text.

Per token the four numbers (chi*, z*, chi, z) = x.(k*, v*, k, v) / sqrt(D) are Gaussian
with the Gram matrix of the overlaps as covariance (and a shift in the token that counts
of the spiked task). Given (chi*, chi) the read-outs (z*, z) are Gaussian again and are
integrated exactly; only (chi*, chi) are sampled, by Sobol points. Cross overlaps off
the manifold are included, as a trained head at finite dimension has them.

Plain sampling would do too, but its error is common to all heads that are measured on
the same texts, and so it hides from every comparison between them.
"""

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from scipy.special import softmax

from sharp_attention._checks import check_real, require
from sharp_attention._typing import Float64
from sharp_attention.algorithms.objective import attention_weights
from sharp_attention.numerics.sobol import sobol_normals
from sharp_attention.tasks.single_location import (
    Overlaps,
    SpikedSLR,
    Task,
    check_task,
)

__all__ = ["fresh_risk", "read_out_risk"]

# Where k and k* are parallel the pair (chi*, chi) has one direction only.
_RANK_TOLERANCE = 1e-12


def fresh_risk(
    task: Task,
    activation: str,
    overlaps: Overlaps,
    *,
    offset: float = 0.0,
    num_points: int = 2**15,
    seed: int = 0,
) -> float:
    """Mean squared error on fresh samples, noise included.

    Parameters
    ----------
    task : SpikedSLR or MaxSLR
    activation : "softmax", "linear", "erf" or "softplus"
    overlaps : of one head; finite
    offset : added to the logits of erf
    num_points : Sobol points, >= 1
    seed : of their scrambling

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range, or the overlaps describe several heads.
    """

    def weights(logits: Float64) -> Float64:
        with jax.enable_x64(True):
            rows = attention_weights(activation, jnp.asarray(logits.T), None, offset)
            return np.asarray(rows).T

    return read_out_risk(task, weights, overlaps, num_points=num_points, seed=seed)


def read_out_risk(
    task: Task,
    weights: Callable[[Float64], Float64],
    overlaps: Overlaps,
    *,
    num_points: int = 2**15,
    seed: int = 0,
) -> float:
    """Mean squared error, noise included, of the prediction sum_l weights_l z_l.

    Parameters
    ----------
    weights : maps the logits chi of fresh texts to the weights of their tokens, both
        (length, points)
    task, overlaps, num_points, seed : see `fresh_risk`

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range, or the overlaps describe several heads.
    """
    check_task(task)
    require(overlaps.shape == (), "overlaps", "those of one head", overlaps.shape)
    check_real("overlaps.q_k", overlaps.q_k)
    risk = task.noise**2
    for length, probability in task.length_probabilities.items():
        normals = sobol_normals(2 * length, num_points, seed).reshape(2, length, -1)
        risk += probability * _risk(task, weights, overlaps, normals)
    return float(risk)


def _risk(
    task: Task,
    weights_of: Callable[[Float64], Float64],
    overlaps: Overlaps,
    normals: Float64,
) -> float:
    """Risk at one length; `normals` has shape (2, length, points)."""
    gram = overlaps.gram()
    scores_block, cross, values_block = _blocks(gram)
    regression = cross.T @ np.linalg.pinv(
        scores_block, rcond=_RANK_TOLERANCE, hermitian=True
    )
    remaining = values_block - regression @ cross
    fields = np.tensordot(_root(scores_block), normals, axes=1)
    target, output = np.tensordot(regression, fields, axes=1)
    scores, logits = fields
    if isinstance(task, SpikedSLR):
        shift = math.sqrt(task.signal) * gram[0]
        scores[0] += shift[0]
        logits[0] += shift[2]
        target[0] += shift[1]
        output[0] += shift[3]
        share = np.zeros_like(scores)
        share[0] = 1.0
    else:
        share = _shares(scores, task.signal)
    weights = weights_of(logits)
    error = target - np.sum(weights * output, axis=0)
    variance = (
        remaining[0, 0]
        - 2 * weights * remaining[0, 1]
        + np.sum(weights**2, axis=0) * remaining[1, 1]
    )
    return float(np.mean(np.sum(share * (error**2 + variance), axis=0)))


def _blocks(gram: Float64) -> tuple[Float64, Float64, Float64]:
    """Covariances of (chi*, chi), of these with (z*, z), and of (z*, z)."""
    scores, values = [0, 2], [1, 3]
    return (
        gram[np.ix_(scores, scores)],
        gram[np.ix_(scores, values)],
        gram[np.ix_(values, values)],
    )


def _root(covariance: Float64) -> Float64:
    """Return a square root of a 2 x 2 covariance, singular or not."""
    eigenvalues, vectors = np.linalg.eigh(covariance)
    return vectors * np.sqrt(np.maximum(eigenvalues, 0.0))


def _shares(scores: Float64, signal: float) -> Float64:
    """Probability that each token is the one that counts, given all scores."""
    if math.isinf(signal):
        return (scores == scores.max(axis=0)).astype(np.float64)
    return softmax(signal * scores, axis=0)
