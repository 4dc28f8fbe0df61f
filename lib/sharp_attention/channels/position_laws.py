"""Which token counts, for a reader who knows its scores only up to Gaussian doubt.

With scores chi = a + sqrt(V) eta, eta standard normal, finite-samples note (2.1):

* spiked task: pi_e = exp(sqrt(nu) a_e - nu (1 - V) / 2) / L, the likelihood of the text
  with the spike at e over that without a spike. The shares do not sum to 1, and that
  is as it should be: a text alone already says something about k*.
* max task at infinite signal: pi_e = P(token e has the largest chi).
"""

import math
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import jax.numpy as jnp
from jaxtyping import Array, Float

from sharp_attention.channels import largest_score
from sharp_attention.numerics.linalg import Rows

__all__ = ["MaxLaw", "PositionLaw", "SpikedLaw"]

# Its logarithm is finite, and no label makes up for it.
_SMALLEST_SHARE = 1e-300


@runtime_checkable
class PositionLaw(Protocol):
    """Shares pi of the positions; hashable, a static argument of ``jit``."""

    @property
    def length(self) -> int:
        """Number of tokens."""

    def log_shares(
        self, key: Rows, variance: Float[Array, ""], signal: Float[Array, ""]
    ) -> Rows:
        """Logarithms of the shares, given means `key` and the variance V of scores."""

    def pull(
        self,
        key: Rows,
        variance: Float[Array, ""],
        signal: Float[Array, ""],
        ratios: Rows,
    ) -> Rows:
        """Differentiate sum_e ratios_e pi_e with respect to the means."""

    def tilt(self, signal: Float[Array, ""]) -> Float[Array, ""]:
        """Precision of k* that each text brings, whatever is in it.

        The share of a text is exp(-tilt |k|^2 / (2 D)) times a function of x.k.
        """


@dataclass(frozen=True)
class SpikedLaw:
    """Law of the spiked task; see `PositionLaw` for the methods."""

    length: int

    def log_shares(
        self, key: Rows, variance: Float[Array, ""], signal: Float[Array, ""]
    ) -> Rows:
        """Return sqrt(nu) a_e - nu (1 - V) / 2 - log L."""
        constant = signal * (1 - variance) / 2 + math.log(self.length)
        return tuple(jnp.sqrt(signal) * row - constant for row in key)

    def pull(
        self,
        key: Rows,
        variance: Float[Array, ""],
        signal: Float[Array, ""],
        ratios: Rows,
    ) -> Rows:
        """Return sqrt(nu) ratios_e pi_e."""
        shares = self.log_shares(key, variance, signal)
        pairs = zip(shares, ratios, strict=True)
        return tuple(jnp.sqrt(signal) * jnp.exp(s) * ratio for s, ratio in pairs)

    def tilt(self, signal: Float[Array, ""]) -> Float[Array, ""]:
        """Return nu: the spike of an un-normalised key has the length nu |k|^2 / D."""
        return signal


@dataclass(frozen=True)
class MaxLaw:
    """Law of the max task without doubt; see `PositionLaw` for the methods.

    `signal`, which is infinite, is ignored.
    """

    length: int

    def log_shares(
        self, key: Rows, variance: Float[Array, ""], signal: Float[Array, ""]
    ) -> Rows:
        """Return the logarithms of the probabilities to have the largest score."""
        shares = largest_score.shares(key, jnp.sqrt(variance))
        return tuple(jnp.log(jnp.maximum(share, _SMALLEST_SHARE)) for share in shares)

    def pull(
        self,
        key: Rows,
        variance: Float[Array, ""],
        signal: Float[Array, ""],
        ratios: Rows,
    ) -> Rows:
        """Return sum_m B_em (ratios_e - ratios_m), where B_em is the density of a tie.

        What a token gains in share by a larger mean, the others lose.
        """
        pulls = [jnp.zeros_like(row) for row in key]
        for (e, m), tie in largest_score.ties(key, jnp.sqrt(variance)).items():
            flow = tie * (ratios[e] - ratios[m])
            pulls[e] += flow
            pulls[m] -= flow
        return tuple(pulls)

    def tilt(self, signal: Float[Array, ""]) -> Float[Array, ""]:
        """Return 0: texts are pure noise, whatever k* is."""
        return jnp.zeros_like(signal)
