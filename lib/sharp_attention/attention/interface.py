"""What every implementation of attention receives and returns.

An implementation is a module with a function
``attend(query, key, value, mask, settings)``, which returns the output and, where
`settings` ask for them, the `Statistics`, else None.
Arrays have the axes of ``jax.nn.dot_product_attention``, (batch, length, heads, dim);
query heads are a multiple of key heads and query head h reads key head h // group.
Logits are scale · query · key; a key that the mask or causality hides has weight 0, and
a row whose keys are all hidden has output 0, entropy 0 and inverse temperature 1.
"""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from sharp_attention.attention.temperature import inverse_temperature

__all__ = ["Settings", "Statistics", "pick_inverse_temperature", "working_type"]


class Statistics(NamedTuple):
    """What a row of logits looked like, for each query.

    Float32, or float64 for float64 inputs.
    Gradients flow through `entropy` and `log_normaliser`, and through
    `inverse_temperature` only where the output's do (``through_entropy=True``).

    Attributes
    ----------
    entropy : of softmax(logits) at temperature 1, in nats; 0 for a row without keys
    inverse_temperature : beta by which the logits were multiplied; at least 1
    log_normaliser : log Σ exp(logits) at temperature 1, whatever beta is; −inf for a
        row without keys
    """

    entropy: Float[Array, "batch heads queries"]
    inverse_temperature: Float[Array, "batch heads queries"]
    log_normaliser: Float[Array, "batch heads queries"]


@dataclass(frozen=True)
class Settings:
    """What to compute: fixed when the computation is traced.

    Attributes
    ----------
    scale : factor of the logits, > 0
    is_adaptive : whether beta follows the entropy; otherwise it is 1
    is_causal : whether query i sees only keys 0..i
    through_entropy : whether gradients of the output follow beta into the entropy
    return_statistics : whether `Statistics` are wanted
    """

    scale: float
    is_adaptive: bool = False
    is_causal: bool = False
    through_entropy: bool = False
    return_statistics: bool = False

    @property
    def needs_entropy(self) -> bool:
        """Whether the forward pass has to find the entropy of each row."""
        return self.is_adaptive or self.return_statistics

    @property
    def differentiates_entropy(self) -> bool:
        """Whether the backward pass may receive a gradient for the entropy."""
        follows_beta = self.is_adaptive and self.through_entropy
        return follows_beta or self.return_statistics


def pick_inverse_temperature(
    entropy: Float[Array, "*rows"], settings: Settings
) -> Float[Array, "*rows"]:
    """Beta of each row: 1, or the rule's, held constant unless asked otherwise."""
    if not settings.is_adaptive:
        return jnp.ones_like(entropy)
    beta = inverse_temperature(entropy)
    return beta if settings.through_entropy else jax.lax.stop_gradient(beta)


def working_type(dtype: jnp.dtype) -> jnp.dtype:
    """Float type of all sums: float32, or float64 for float64 inputs."""
    return jnp.promote_types(dtype, "float32")
