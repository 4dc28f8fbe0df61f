"""Which token counts in the max task, as a linear map on functions of its score.

The position is drawn from p = softmax(nu x), x_l = chi*_l, and the weights of the head
bring in a level w of their own. Averages over p then need, for functions a and b of
one token,

    chosen(a) = n E a(x) omega* exp(-omega*),    omega* = e^{nu x - u},
    beaten(b) = n E b(x) exp(-omega*),

as functions of a second level u, and an integral over u. The number of tokens that
beat the level themselves is `rivals` = n E [1 - exp(-omega*)].

At large nu the level is better measured on the scale of the scores, u = nu y. With
t = nu (x - y) of density e^{t - e^t}, the two maps become

    chosen(a)(y) = E_t (n phi a)(y + t/nu),
    beaten(b)(y) = E_t int_{x < y + t/nu} n phi b,

and at nu = infinity, where t/nu = 0, the level is the largest score itself.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from sharp_attention.numerics import gaussian
from sharp_attention.theory.single_location.crowd import (
    LOG_DENSITY,
    Crowd,
    log_normal_below,
)
from sharp_attention.theory.single_location.windows import log_omega

__all__ = ["Direct", "Sharp", "crowd_density", "direct", "sharp"]

ORDER = 16

Tokens = Float[Array, "*rows fields"]
Levels = Float[Array, "*rows levels"]


class Direct(NamedTuple):
    """The maps as matrices, for moderate nu.

    Attributes
    ----------
    fields : scores x of the teacher at which functions are given
    rivals : at each level u
    spacing : weight of each level in the integral over u
    chosen_matrix, beaten_matrix : (levels, fields)
    """

    fields: Float[Array, " fields"]
    rivals: Float[Array, " levels"]
    spacing: Float[Array, " levels"]
    chosen_matrix: Float[Array, "levels fields"]
    beaten_matrix: Float[Array, "levels fields"]

    def chosen(self, values: Tokens) -> Levels:
        """Average over the token that counts, times the chance of this level."""
        return values @ self.chosen_matrix.T

    def beaten(self, values: Tokens) -> Levels:
        """Sum over the crowd below the level."""
        return values @ self.beaten_matrix.T


class Sharp(NamedTuple):
    """The maps as running integrals over panels, for large or infinite nu.

    Attributes
    ----------
    fields : nodes of the panels, which are also the levels y
    rivals, spacing : as in `Direct`
    density : n phi at the nodes
    width : of a panel
    smoothing : (nodes, nodes), average of a polynomial over t/nu within a panel
    """

    fields: Float[Array, " fields"]
    rivals: Float[Array, " levels"]
    spacing: Float[Array, " levels"]
    density: Float[Array, " fields"]
    width: Float[Array, ""]
    smoothing: Float[Array, "nodes nodes"]

    def chosen(self, values: Tokens) -> Levels:
        """Average over the token that counts, times the chance of this level."""
        panels = _by_panel(self.density * values)
        return (panels @ self.smoothing.T).reshape(values.shape)

    def beaten(self, values: Tokens) -> Levels:
        """Sum over the crowd below the level."""
        below = gaussian.accumulate(_by_panel(self.density * values), self.width)
        return (below @ self.smoothing.T).reshape(values.shape)


def crowd_density(
    fields: Float[Array, "*shape"], crowd: Crowd
) -> Float[Array, "*shape"]:
    """N phi(x), cut off where the crowd is certain to beat a level many times over."""
    log_density = crowd.log_count + LOG_DENSITY - fields**2 / 2
    return jnp.exp(jnp.minimum(log_density, 300.0))


def direct(
    signal: Float[Array, ""],
    crowd: Crowd,
    levels: Float[Array, " levels"],
    fields: Float[Array, " fields"],
    field_steps: Float[Array, "*fields"],
) -> Direct:
    """Build the matrices.

    Parameters
    ----------
    signal : nu, finite
    crowd : the L tokens
    levels : u; the weight of each in the integral is 1 here
    fields : x
    field_steps : dx of each field
    """
    omega = jnp.exp(log_omega("softmax", signal * fields, levels[:, None]))
    alive = jnp.exp(-omega)
    weights = crowd_density(fields, crowd) * field_steps
    return Direct(
        fields=fields,
        rivals=-jnp.expm1(-omega) @ weights,
        spacing=jnp.ones_like(levels),
        chosen_matrix=omega * alive * weights,
        beaten_matrix=alive * weights,
    )


def sharp(
    signal: Float[Array, ""],
    crowd: Crowd,
    lower: Float[Array, ""],
    upper: Float[Array, ""],
    num_fields: int,
) -> Sharp:
    """Build the running integrals on panels that cover [`lower`, `upper`].

    Panels have to be so narrow that functions are polynomials of degree 15 on them,
    and still wider than 20 / nu, so that t/nu rarely leaves them.
    """
    nodes, width = gaussian.panels(lower, upper, num_fields // ORDER, ORDER)
    fields = nodes.reshape(-1)
    t, t_weights = _log_exponential()
    shifted = fields[:, None] + t / signal
    above = crowd.log_count + log_normal_below(-shifted)
    rivals = jnp.exp(jnp.minimum(above, 300.0)) @ t_weights
    quadrature = jnp.asarray(gaussian.gauss_legendre(ORDER).weights)
    spacing = jnp.broadcast_to(width * quadrature, nodes.shape).reshape(-1)
    density = crowd_density(fields, crowd)
    smoothing = _smoothing(1 / (signal * width))
    return Sharp(fields, rivals, spacing, density, width, smoothing)


def _smoothing(scale: Float[Array, ""]) -> Float[Array, "nodes nodes"]:
    """Matrix that averages the interpolating polynomial over shifts t * scale."""
    nodes, weights = gaussian.gauss_legendre(ORDER)
    t, t_weights = _log_exponential()
    shifted = jnp.asarray(nodes)[:, None] + t * scale
    averages = [jnp.sum(t_weights * p, axis=-1) for p in _legendre(2 * shifted - 1)]
    values = np.polynomial.legendre.legvander(2 * nodes - 1, ORDER - 1)
    to_coefficients = (2 * np.arange(ORDER) + 1)[:, None] * values.T * weights
    return jnp.stack(averages, axis=-1) @ to_coefficients


def _legendre(x: Float[Array, "..."]) -> list[Float[Array, "..."]]:
    polynomials = [jnp.ones_like(x), x]
    for k in range(1, ORDER - 1):
        following = (2 * k + 1) * x * polynomials[k] - k * polynomials[k - 1]
        polynomials.append(following / (k + 1))
    return polynomials


def _log_exponential() -> tuple[Float[Array, " t"], Float[Array, " t"]]:
    """Trapezoid rule for t, the logarithm of an exponential variable."""
    t = jnp.linspace(-40.0, 4.4, 203)
    weights = jnp.exp(t - jnp.exp(t)) * (t[1] - t[0])
    return t, weights / jnp.sum(weights)


def _by_panel(values: Tokens) -> Float[Array, "*rows panels nodes"]:
    return values.reshape(*values.shape[:-1], -1, ORDER)
