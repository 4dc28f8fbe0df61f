"""Attention weights coordinate by coordinate, for problems that hold many points.

The maps of `attention.activations`, with the tokens as a tuple of long arrays instead
of as the last axis. Tests hold each against its namesake there.
"""

from dataclasses import dataclass
from functools import reduce

import jax
import jax.numpy as jnp

from sharp_attention._checks import check_choice, check_real
from sharp_attention.numerics.linalg import Rows

__all__ = ["ACTIVATIONS", "WeightMap", "weight_map"]

ACTIVATIONS = ("softmax", "linear", "erf", "softplus")


@dataclass(frozen=True)
class WeightMap:
    """One activation.

    Attributes
    ----------
    name : as in `attention.activations`
    offset : added to the logits of erf; 0 for the others
    """

    name: str
    offset: float = 0.0

    @property
    def ignores_shifts(self) -> bool:
        """Whether adding a constant to all logits changes nothing."""
        return self.name == "softmax"

    def __call__(self, logits: Rows) -> Rows:
        """Weights of every point, one array of shape (points,) per token."""
        if self.name == "softmax":
            largest = jax.lax.stop_gradient(reduce(jnp.maximum, logits))
            return _normalise(tuple(jnp.exp(row - largest) for row in logits))
        if self.name == "softplus":
            return _normalise(tuple(jax.nn.softplus(row) for row in logits))
        if self.name == "erf":
            erf = jax.scipy.special.erf
            return tuple(1 + erf(self.offset + row) for row in logits)
        return tuple(1 + row for row in logits)


def weight_map(activation: str, offset: float = 0.0) -> WeightMap:
    """Return the map named `activation`.

    Parameters
    ----------
    activation : "softmax", "linear", "erf" or "softplus"
    offset : added to the logits of erf

    Raises
    ------
    ValueError
        If the name is unknown, the offset not finite, or not 0 for another map.
    """
    check_choice("activation", activation, ACTIVATIONS)
    check_real("offset", offset)
    if activation != "erf":
        check_real(f"offset of {activation}", offset, at_least=0, at_most=0)
    return WeightMap(activation, float(offset))


def _normalise(positive: Rows) -> Rows:
    total = reduce(jnp.add, positive)
    return tuple(row / total for row in positive)
