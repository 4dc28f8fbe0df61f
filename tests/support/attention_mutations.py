"""Ways to break attention, entropy and the adaptive rule on purpose."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from ledger import Mutation
from sharp_attention.attention import activations
from sharp_attention.attention.entropy import PartialStatistics
from sharp_attention.attention.temperature import POLYNOMIAL

TEMPERATURE = "sharp_attention.attention.temperature"
ENTROPY = "sharp_attention.attention.entropy"
ACTIVATIONS = "sharp_attention.attention.activations"


def rule(name: str, broken: Callable) -> Mutation:
    """Replace the rule by `broken(original rule, entropy)`."""

    def breaks(original: Callable) -> Callable:
        return lambda entropy, **_: broken(original, jnp.asarray(entropy))

    return Mutation(name, f"{TEMPERATURE}:inverse_temperature", breaks)


def polynomial(name: str, broken: Callable) -> Mutation:
    """Replace the coefficients by `broken(coefficients)`."""
    return Mutation(name, f"{TEMPERATURE}:POLYNOMIAL", broken)


def value(name: str, target: str, broken: Callable) -> Mutation:
    """Replace a function by one that returns `broken(original value)`."""

    def breaks(original: Callable) -> Callable:
        return lambda *args, **kwargs: broken(original(*args, **kwargs))

    return Mutation(name, target, breaks)


def entropy_with_epsilon(logits: jax.Array, **_: object) -> jax.Array:
    """Entropy as printed: −Σ p log(p + 1e-9)."""
    weights = activations.softmax(logits)
    return -jnp.sum(weights * jnp.log(weights + 1e-9), axis=-1)


def entropy_by_offset_sums(logits: jax.Array, **_: object) -> jax.Array:
    """H = m + log l − w/l with w = Σ e exp(e − m), which cancels an offset."""
    maximum = jnp.max(logits, axis=-1, keepdims=True)
    weights = jnp.exp(logits - maximum)
    normaliser = weights.sum(-1)
    weighted_sum = (weights * logits).sum(-1)
    return maximum[..., 0] + jnp.log(normaliser) - weighted_sum / normaliser


def merge_without_cross_term(
    first: PartialStatistics, second: PartialStatistics
) -> PartialStatistics:
    """Rescale the weighted sums as if their reference had not moved."""
    maximum = jnp.maximum(first.maximum, second.maximum)
    one = jnp.exp(first.maximum - maximum)
    other = jnp.exp(second.maximum - maximum)
    return PartialStatistics(
        maximum,
        one * first.normaliser + other * second.normaliser,
        one * first.weighted_sum + other * second.weighted_sum,
    )


def merge_without_guard(
    first: PartialStatistics, second: PartialStatistics
) -> PartialStatistics:
    """Apply the right rule without looking out for blocks that hold no key."""
    maximum = jnp.maximum(first.maximum, second.maximum)
    gaps = first.maximum - maximum, second.maximum - maximum
    normaliser = weighted_sum = 0.0
    for gap, part in zip(gaps, (first, second), strict=True):
        normaliser += jnp.exp(gap) * part.normaliser
        weighted_sum += jnp.exp(gap) * (part.weighted_sum + gap * part.normaliser)
    return PartialStatistics(maximum, normaliser, weighted_sum)


def merge_restating_the_second_only(
    first: PartialStatistics, second: PartialStatistics
) -> PartialStatistics:
    """Restate the second block relative to the maximum of both, but not the first."""
    maximum = jnp.maximum(first.maximum, second.maximum)
    gap = second.maximum - maximum
    other = jnp.exp(gap)
    return PartialStatistics(
        maximum,
        first.normaliser + other * second.normaliser,
        first.weighted_sum + other * (second.weighted_sum + gap * second.normaliser),
    )


def merge_by_keeping_all(
    first: PartialStatistics, second: PartialStatistics
) -> PartialStatistics:
    """Keep the numbers of every block instead of adding them up."""
    return PartialStatistics(
        *(jnp.append(a, b) for a, b in zip(first, second, strict=True))
    )


REVERSED = rule(
    "coefficients in reverse",
    lambda original, entropy: original(entropy, polynomial=POLYNOMIAL[::-1]),
)
IN_BITS = rule(
    "entropy in bits", lambda original, entropy: original(entropy / np.log(2))
)
UNCLAMPED = rule(
    "no clamp at 1",
    lambda original, entropy: jnp.polyval(jnp.array(POLYNOMIAL), entropy),
)
ALWAYS_ON = rule(
    "always at the maximum", lambda original, entropy: jnp.full_like(entropy, 2.4)
)
PLAIN = Mutation(
    "softmax as it is",
    f"{TEMPERATURE}:adaptive_softmax",
    lambda original: activations.softmax,
)
HARD = Mutation(
    "hard attention",
    f"{TEMPERATURE}:adaptive_softmax",
    lambda original: lambda e, **_: jax.nn.one_hot(jnp.argmax(e, -1), e.shape[-1]),
)
ENTROPY_IN_BITS = value("bits", f"{ENTROPY}:entropy", lambda h: h / np.log(2))
EPSILON = Mutation(
    "epsilon in the logarithm",
    f"{ENTROPY}:entropy",
    lambda original: entropy_with_epsilon,
)
NO_CROSS_TERM = Mutation(
    "no cross term", f"{ENTROPY}:merge", lambda original: merge_without_cross_term
)
