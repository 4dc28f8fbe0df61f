"""What happens to one block of rows: the formulas of `rowblock`, forward and backward.

The logits of a block lie with keys first, (keys, rows): sums over keys then add whole
vectors of rows, and every matrix product has a layout that CPUs like.

Notation, for one row: e logits, m their maximum, x = e − m, l = Σ exp(x),
p = exp(x) / l the softmax, H its entropy, beta the inverse temperature,
w = exp(beta x) / z the weights, o = Σ w v the output.

Forward (H as in `entropy`; the maximum of beta e is beta m, so x serves twice):

    H = log l − Σ x exp(x) / l,    beta = beta(H),    z = Σ exp(beta x)

Backward, with ō, H̄, b̄, λ̄ the gradients of the loss with respect to output, entropy,
beta (from outside; the output's own part is below) and log-normaliser m + log l:

    u_j = w_j (ō·v_j − Σ_k w_k ō·v_k)                        with respect to beta e_j
    g   = H̄ + beta'(H) (b̄ + Σ_j u_j x_j)                     all that arrives at H
    ē_j = beta u_j + p_j (λ̄ − g (log p_j + H))               log p_j = x_j − log l

Shifting e by m in Σ u x is allowed since Σ u = 0.
Where beta is held constant only the term beta u_j is left.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from sharp_attention.attention.exponential import exp_of_nonpositive
from sharp_attention.attention.interface import (
    Settings,
    Statistics,
    pick_inverse_temperature,
)

__all__ = ["RowGradients", "RowSums", "backward_block", "forward_block"]

# A hidden key holds HIDDEN; a maximum below FLOOR is raised to it, so that exp of the
# difference is exactly 0 even in a row without a single visible key.
_HIDDEN, _FLOOR = -3e38, -2.9e38

# No logit counts as further below the maximum, so that differences stay finite and no
# product with them overflows to 0 · inf = NaN.
_LOWEST = -1e24


class RowSums(NamedTuple):
    """What the forward pass keeps of each row; all of one shape, rows in the last axis.

    Attributes
    ----------
    maximum : m, at least −2.9e38
    normaliser : l at temperature 1; 0 for a row without keys
    entropy, beta : H in nats, and the inverse temperature
    sharp_normaliser : z at inverse temperature beta; 0 for a row without keys
    """

    maximum: Float[Array, "..."]
    normaliser: Float[Array, "..."]
    entropy: Float[Array, "..."]
    beta: Float[Array, "..."]
    sharp_normaliser: Float[Array, "..."]


class RowGradients(NamedTuple):
    """Gradients that arrive at rows: of the output and, where asked for, statistics."""

    output: Float[Array, "*rows value_dim"]
    statistics: Statistics | None


def forward_block(
    query: Float[Array, "rows dim"],
    key: Float[Array, "keys dim"],
    value: Float[Array, "keys value_dim"],
    visible: Bool[Array, "last_keys rows"] | None,
    settings: Settings,
) -> tuple[Float[Array, "rows value_dim"], RowSums]:
    """Attend from a block of rows, `query` already multiplied by scale, to all keys.

    `visible` covers the last keys only; those before them every row sees.
    """
    logits = _logits(query, key, visible)
    maximum = jnp.maximum(jnp.max(logits, axis=0), _FLOOR)
    shifted = jnp.maximum(logits - maximum, _LOWEST)
    normaliser = entropy = jnp.zeros_like(maximum)
    if settings.needs_entropy:
        exponentials = exp_of_nonpositive(shifted)
        normaliser = jnp.sum(exponentials, axis=0)
        weighted_sum = jnp.sum(shifted * exponentials, axis=0)
        entropy = jnp.log(_safe(normaliser)) - weighted_sum / _safe(normaliser)
    beta = pick_inverse_temperature(entropy, settings)
    exponentials = exp_of_nonpositive(beta * shifted)
    sharp_normaliser = jnp.sum(exponentials, axis=0)
    output = (value.T @ exponentials) / _safe(sharp_normaliser)
    return output.T, RowSums(maximum, normaliser, entropy, beta, sharp_normaliser)


def backward_block(
    query: Float[Array, "rows dim"],
    sums: RowSums,
    gradients: RowGradients,
    key: Float[Array, "keys dim"],
    value: Float[Array, "keys value_dim"],
    visible: Bool[Array, "last_keys rows"] | None,
    settings: Settings,
) -> tuple[
    Float[Array, "rows dim"], Float[Array, "keys dim"], Float[Array, "keys value_dim"]
]:
    """Return the block's gradients of `query` (times scale), `key` and `value`."""
    shifted = jnp.maximum(_logits(query, key, visible) - sums.maximum, _LOWEST)
    weights = exp_of_nonpositive(sums.beta * shifted) / _safe(sums.sharp_normaliser)
    of_weights = value @ gradients.output.T
    mean = jnp.sum(weights * of_weights, axis=0)
    of_sharp_logits = weights * (of_weights - mean)
    of_logits = sums.beta * of_sharp_logits
    if settings.differentiates_entropy:
        of_beta = jnp.sum(of_sharp_logits * shifted, axis=0)
        of_logits += _through_statistics(shifted, sums, of_beta, gradients, settings)
    of_query = (key.T @ of_logits).T
    return of_query, of_logits @ query, weights @ gradients.output


def _through_statistics(
    shifted: Float[Array, "keys rows"],
    sums: RowSums,
    of_beta: Float[Array, "rows"],
    gradients: RowGradients,
    settings: Settings,
) -> Float[Array, "keys rows"]:
    """Gradient of the logits by way of entropy and log-normaliser."""
    of_entropy = of_log_normaliser = jnp.zeros_like(of_beta)
    if gradients.statistics is not None:
        of_entropy, extra, of_log_normaliser = gradients.statistics
        of_beta = of_beta + extra
    _, pull_back = jax.vjp(
        lambda entropy: pick_inverse_temperature(entropy, settings), sums.entropy
    )
    of_entropy = of_entropy + pull_back(of_beta)[0]
    weights = exp_of_nonpositive(shifted) / _safe(sums.normaliser)
    log_weights = shifted - jnp.log(_safe(sums.normaliser))
    return weights * (of_log_normaliser - of_entropy * (log_weights + sums.entropy))


def _logits(
    query: Float[Array, "rows dim"],
    key: Float[Array, "keys dim"],
    visible: Bool[Array, "last_keys rows"] | None,
) -> Float[Array, "keys rows"]:
    if query.shape[-1] == 1:
        # A sum over one component may be merged with the subtraction of the maximum,
        # without the rounding that the maximum has seen, and exp of what is left of
        # large logits is anything.  Two components make it a product of matrices.
        query, key = (jnp.pad(array, ((0, 0), (0, 1))) for array in (query, key))
    logits = key @ query.T
    if visible is None:
        return logits
    first = len(key) - len(visible)
    return logits.at[first:].set(jnp.where(visible, logits[first:], _HIDDEN))


def _safe(normaliser: Float[Array, "rows"]) -> Float[Array, "rows"]:
    # `== 0` is False for NaN, which therefore stays in sight.
    return jnp.where(normaliser == 0, 1.0, normaliser)
