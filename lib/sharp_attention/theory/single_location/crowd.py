"""How a crowd of identical tokens enters an average of normalised weights.

With positive token weights omega_l and Z = sum_l omega_l, the powers of 1/Z become
integrals in which the independent tokens factorise:

    1/Z = int du e^{-u} exp(-Z e^{-u}),    1/Z^2 = int du e^{-2u} exp(-Z e^{-u}).

Each token of the crowd contributes N_0(u) = E exp(-omega e^{-u}), so n tokens
contribute N_0^n, however large n is. What is computed is n (1 - N_0), the expected
number of tokens above the level u: it is of order one where the integrand counts.

The count enters by its logarithm, so that it may be a Python integer of any size.
"""

import math
from types import ModuleType
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax.scipy import special
from jaxtyping import Array, Float

__all__ = [
    "LOG_DENSITY",
    "LOG_HUGE",
    "Crowd",
    "CrowdSums",
    "crowd_sums",
    "gaussian_crowd",
    "log_normal_below",
    "survival",
]

Number = Float[Array, ""] | float

LOG_DENSITY = -math.log(2 * math.pi) / 2
"""Logarithm of the standard normal density at 0."""

LOG_HUGE = 600.0
"""Crowds of more than e^600 tokens are summed by logarithms (doubles end at e^709)."""


class Crowd(NamedTuple):
    """A number n of identical tokens; numbers, or arrays with a leading axis.

    Attributes
    ----------
    log_count : log n, -infinity for no token
    per_token : 1/n, 0 for no token or for more than a float can count
    one_less, two_less : (n-1)/n and (n-2)/n, at least 0
    """

    log_count: float
    per_token: float
    one_less: float
    two_less: float

    @classmethod
    def of(cls, count: int) -> "Crowd":
        """Describe `count` >= 0 tokens."""
        if count == 0:
            return cls(-math.inf, 0.0, 0.0, 0.0)
        log_count = math.log(count)
        per_token = math.exp(-log_count)
        return cls(log_count, per_token, (count - 1) / count, max(count - 2, 0) / count)


class CrowdSums(NamedTuple):
    """Sums over the crowd at each level u; omega includes e^{-u}.

    Attributes
    ----------
    killed : n E [1 - exp(-omega)], shape (levels,)
    first, second : n E [g^k omega^j exp(-omega)] for j = 1 and 2, (levels, powers)
    """

    killed: Float[Array, " levels"]
    first: Float[Array, "levels powers"]
    second: Float[Array, "levels powers"]


def crowd_sums(
    log_omega: Float[Array, "levels fields"],
    log_density: Float[Array, " fields"],
    powers: Float[Array, "fields powers"],
    is_huge: bool,
) -> CrowdSums:
    """Sum over a crowd of tokens.

    Parameters
    ----------
    log_omega : at each level for each field, at most `windows.LARGEST_LOG`
    log_density : logarithm of the expected number of tokens at each field, the
        quadrature weight included
    powers : what the second moments are taken of, g^k
    is_huge : whether there are more than e^`LOG_HUGE` tokens
    """
    omega = jnp.exp(log_omega)
    if is_huge:
        first = jnp.exp(log_density + log_omega - omega) @ powers
        second = jnp.exp(log_density + 2 * log_omega - omega) @ powers
        # 1 - e^{-omega} is omega (1 - omega / 2) where omega may underflow.
        divisor = jnp.maximum(omega, 1e-9)
        ratio = jnp.where(omega < 1e-9, 1 - omega / 2, -jnp.expm1(-divisor) / divisor)
        log_dead = log_omega + jnp.log(ratio)
        killed = jnp.sum(jnp.exp(log_density + log_dead), axis=-1)
        return CrowdSums(killed, first, second)
    density = jnp.exp(log_density)
    weights = density[:, None] * powers
    alive = jnp.exp(-omega)
    return CrowdSums(
        killed=-jnp.expm1(-omega) @ density,
        first=(omega * alive) @ weights,
        second=(omega**2 * alive) @ weights,
    )


def gaussian_crowd(
    g: Float[Array, " fields"], crowd: Crowd
) -> tuple[Float[Array, " fields"], Float[Array, "fields 3"]]:
    """Logarithm of n phi(g) dg on equally spaced fields, and the powers 1, g, g^2."""
    log_density = crowd.log_count + LOG_DENSITY - g**2 / 2 + jnp.log(g[1] - g[0])
    return log_density, jnp.stack([jnp.ones_like(g), g, g**2], axis=-1)


def survival(killed: Any, crowd: Crowd, share: Number, xp: ModuleType = jnp) -> Any:
    """Probability that a `share` of the crowd stays below a level, N_0^(share n).

    Parameters
    ----------
    killed : array of n (1 - N_0), the expected number of tokens above the level
    crowd : the n tokens
    share : 1, (n-1)/n or (n-2)/n
    xp : namespace of the array
    """
    # One token certainly above leaves no digit of N_0; it is then below 1e-16.
    chance = xp.minimum(killed * crowd.per_token, 1 - 1e-16)
    is_counted = crowd.per_token > 0
    divisor = xp.where(is_counted, crowd.per_token, 1.0)
    log_power = xp.where(is_counted, xp.log1p(-chance) / divisor, -killed)
    return xp.exp(share * log_power)


def log_normal_below(x: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """Logarithm of P(g < x), good to rounding.

    JAX's own has an error of 4e-9 just below -20, where it takes three terms of the
    asymptotic series; ten leave 1e-18.
    """
    return special.log_ndtr(x, 10)
