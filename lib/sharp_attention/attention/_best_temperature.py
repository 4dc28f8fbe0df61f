"""The search for the temperature at which a key weighs most."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

__all__ = ["solve"]


@jax.jit
def solve(
    logits: Float[Array, "*batch keys"],
    mask: Bool[Array, "*batch keys"],
    target: Int[Array, "*batch"],
) -> Float[Array, "*batch"]:
    """Bisect E_beta[e] = e_t inside a bracket that is known in closed form.

    With `above` and `below` the distances from e_t to the largest and the smallest of
    n logits, the largest alone outweighs all that lie below the target as soon as
    above exp(beta above) ≥ n below; the same holds downwards.
    """
    chosen = jnp.take_along_axis(logits, target[..., None], axis=-1)
    distances = jnp.where(mask, logits - chosen, 0.0)
    above, below = jnp.max(distances, axis=-1), -jnp.min(distances, axis=-1)
    num_keys = jnp.sum(mask, axis=-1)

    def reach(gap: Float[Array, "..."], opposite: Float[Array, "..."]) -> Array:
        safe = jnp.where(gap == 0, 1.0, gap)
        return jnp.log(jnp.maximum(num_keys * opposite / safe, 1.0)) / safe

    def halve(_: Int[Array, ""], bracket: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = bracket
        middle = (low + high) / 2
        scores = middle[..., None] * distances
        scores = jnp.where(mask, scores, -jnp.inf)
        weights = jnp.exp(scores - jnp.max(scores, axis=-1, keepdims=True))
        too_high = jnp.sum(weights * distances, axis=-1) > 0
        return jnp.where(too_high, low, middle), jnp.where(too_high, middle, high)

    # Each step halves the bracket: 64 reach the last bit of a double.
    start = (-reach(below, above), reach(above, below))
    low, high = jax.lax.fori_loop(0, 64, halve, start)
    at_the_top, at_the_bottom = above == 0, below == 0
    solution = jnp.where(at_the_bottom, -jnp.inf, (low + high) / 2)
    solution = jnp.where(at_the_top, jnp.inf, solution)
    return jnp.where(at_the_top & at_the_bottom, 1.0, solution)
