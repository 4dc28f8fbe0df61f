"""Starts of many descents on one instance, and what kind of head a descent ended at.

Starts come in three kinds: `random` heads know nothing, `informed` ones are the
teachers (k*, v*) plus noise, and `swapped` ones have exchanged the roles of key and
value, (v*, k*) plus noise: slr-population, section 5.5, has bad basins there.

End points are told apart by the squared cosines between the head and its teachers,
matched = m_k^2 / q_k + m_v^2 / q_v against swapped = m_kv^2 / q_k + m_vk^2 / q_v. The
law of the texts does not change under the reflection of v*, which turns the signs of
m_kv and m_vk: so the signs of these two do not count.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from sharp_attention._checks import check_choice, check_integer, check_real
from sharp_attention.algorithms.instances import Instance
from sharp_attention.algorithms.objective import Head
from sharp_attention.tasks.single_location import Overlaps

__all__ = ["FAMILIES", "KINDS", "draw_starts", "family"]

KINDS = ("random", "informed", "swapped")
"""What a start knows of the teachers."""

FAMILIES = ("matched", "reversed", "swapped", "lost")
"""Where a descent ends: with the teachers, with -k* and -v*, with them exchanged, or
with next to no knowledge of them."""

# Of two directions among D the squared cosines with the teachers sum up to 2 / D on
# average, and to more than this with probability exp(-0.1 D / 2), e^-10 at D = 200.
_KNOWLEDGE = 0.1


def draw_starts(
    rng_key: Array, drawn: Instance, kind: str, num_starts: int, spread: float = 1.0
) -> Head:
    """Draw heads to start from.

    Parameters
    ----------
    rng_key : JAX random key
    drawn : the instance, with its teachers
    kind : "random" (noise alone), "informed" (the teachers plus noise) or "swapped"
        (the teachers exchanged plus noise)
    num_starts : >= 1
    spread : standard deviation of the noise in each coordinate, >= 0; a teacher has
        coordinates of order 1

    Returns
    -------
    Head with vectors of shape (num_starts, dim), double

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.
    """
    check_choice("kind", kind, KINDS)
    check_integer("num_starts", num_starts, at_least=1)
    check_real("spread", spread, at_least=0)
    samples = drawn.samples
    with jax.enable_x64(True):
        teachers = [x.astype(jnp.float64) for x in (samples.key, samples.value)]
        shape = 2, num_starts, samples.key.size
        noise = spread * jax.random.normal(rng_key, shape, jnp.float64)
        if kind == "random":
            return Head(*noise)
        key, value = teachers if kind == "informed" else reversed(teachers)
        return Head(noise[0] + key, noise[1] + value)


def family(overlaps: Overlaps) -> np.ndarray:
    """Say where heads are by their overlaps, up to a reflection of v*.

    Parameters
    ----------
    overlaps : of heads, with fields of any shape

    Returns
    -------
    array of that shape: "matched", "reversed" (matched up to a sign of both vectors),
    "swapped", or "lost" where both sums of squared cosines are below 0.1
    """
    values = (np.asarray(value, np.float64) for value in overlaps.values())
    m_k, q_k, m_v, q_v, m_kv, m_vk, _ = np.broadcast_arrays(*values)
    tiny = np.finfo(np.float64).tiny  # a head that has vanished knows nothing
    q_k, q_v = np.maximum(q_k, tiny), np.maximum(q_v, tiny)
    matched = m_k**2 / q_k + m_v**2 / q_v
    swapped = m_kv**2 / q_k + m_vk**2 / q_v
    is_reversed = m_k * np.sqrt(q_v) + m_v * np.sqrt(q_k) < 0
    names = np.where(is_reversed, "reversed", "matched")
    names = np.where(swapped > matched, "swapped", names)
    return np.where(np.maximum(matched, swapped) < _KNOWLEDGE, "lost", names)
