"""Max retrieval: read out the class of the item with the largest priority.

The toy task of "Softmax is not Enough" (arXiv 2410.01104), as secondary sources
describe it: an item is a priority, uniform on (0, 1), beside a one-hot class; the
query is one number, uniform on (0, 1), that says nothing; the target is the class of
the item with the largest priority.
The task is sharp: its answer depends on one item, however many there are.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from sharp_attention._checks import check_integer, require

__all__ = ["NUM_CLASSES", "Sets", "item_features", "sample"]

NUM_CLASSES = 10


class Sets(NamedTuple):
    """A batch of sets.

    Attributes
    ----------
    priority : (batch, items), in (0, 1)
    item_class : (batch, items), in 0..9
    query : (batch,), in (0, 1)
    where : (batch, items), False for places that hold no item
    target : (batch,), the class of the item with the largest priority
    """

    priority: Float[Array, "batch items"]
    item_class: Int[Array, "batch items"]
    query: Float[Array, " batch"]
    where: Bool[Array, "batch items"]
    target: Int[Array, " batch"]

    @property
    def winner(self) -> Int[Array, " batch"]:
        """Index of the item with the largest priority."""
        return jnp.argmax(jnp.where(self.where, self.priority, -1.0), axis=-1)


def sample(
    rng_key: Array,
    num_sets: int,
    num_items: int,
    *,
    smallest_size: int | None = None,
) -> Sets:
    """Draw a batch of sets, all of the same size.

    Parameters
    ----------
    rng_key : JAX random key
    num_sets : batch size, >= 1
    num_items : places in a set, >= 1
    smallest_size : if given, one size for the whole batch is drawn uniformly from
        `smallest_size` to `num_items`, and the places beyond it are masked;
        if None every set has `num_items` items

    Raises
    ------
    TypeError, ValueError
        If a size is not an integer >= 1 or the smallest size exceeds the largest.
    """
    check_integer("num_sets", num_sets, at_least=1)
    check_integer("num_items", num_items, at_least=1)
    size_key, priority_key, class_key, query_key = jax.random.split(rng_key, 4)
    shape = (num_sets, num_items)
    size: int | Array = num_items
    if smallest_size is not None:
        check_integer("smallest_size", smallest_size, at_least=1)
        rule = f"at most num_items = {num_items}"
        require(smallest_size <= num_items, "smallest_size", rule, smallest_size)
        size = jax.random.randint(size_key, (), smallest_size, num_items + 1)
    where = jnp.broadcast_to(jnp.arange(num_items) < size, shape)
    priority = jax.random.uniform(priority_key, shape)
    item_class = jax.random.randint(class_key, shape, 0, NUM_CLASSES)
    winner = jnp.argmax(jnp.where(where, priority, -1.0), axis=-1)
    target = jnp.take_along_axis(item_class, winner[:, None], axis=-1)[:, 0]
    query = jax.random.uniform(query_key, (num_sets,))
    return Sets(priority, item_class, query, where, target)


def item_features(sets: Sets) -> Float[Array, "batch items features"]:
    """Give each item as the model sees it: priority, then its class as one-hot."""
    one_hot = jax.nn.one_hot(sets.item_class, NUM_CLASSES, dtype=sets.priority.dtype)
    return jnp.concatenate([sets.priority[..., None], one_hot], axis=-1)
