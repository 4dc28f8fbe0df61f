"""One attention head over a set, between feed-forward maps.

The model of the max-retrieval experiment of "Softmax is not Enough"
(arXiv 2410.01104), as secondary sources describe its appendix A.3: item and query
encoders with two layers of width 128 and GELU, one head, no residual, no positions,
and a two-layer readout.
Whether there are biases and how weights start is not known: here the encoders and
the readout have biases, the head's three matrices have none, and every entry starts
uniform within one over the square root of its fan-in.

Notation
--------
h_i = W2 a(W1 x_i + b1) + b2     item encoder, a = activation
h_q = query encoder of the query
e_i = <Q h_q, K h_i> / sqrt(dim)     attention logits
z   = sum_i w_i V h_i                attended vector, w = weights(e)
"""

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from sharp_attention._checks import check_choice, check_integer, require
from sharp_attention.attention import activations

__all__ = ["SetAttention", "SetOutput", "TwoLayer"]

Activation = Literal["gelu", "relu"]
Weights = Callable[..., Array]


class SetOutput(NamedTuple):
    """What the model computes on a batch.

    Attributes
    ----------
    class_logits : (batch, classes)
    attention_logits : (batch, items)
    weights : (batch, items), of the attention head
    """

    class_logits: Float[Array, "batch classes"]
    attention_logits: Float[Array, "batch items"]
    weights: Float[Array, "batch items"]


class TwoLayer(eqx.Module):
    """A feed-forward map with one hidden layer."""

    inner: Float[Array, "hidden inputs"]
    inner_bias: Float[Array, " hidden"]
    outer: Float[Array, "outputs hidden"]
    outer_bias: Float[Array, " outputs"]
    activation: Activation = eqx.field(static=True)

    @classmethod
    def initialise(
        cls,
        rng_key: Array,
        inputs: int,
        hidden: int,
        outputs: int,
        activation: Activation = "gelu",
    ) -> "TwoLayer":
        """Draw weights and biases uniform within 1/sqrt(fan-in)."""
        keys = jax.random.split(rng_key, 4)
        return cls(
            inner=_uniform(keys[0], (hidden, inputs), inputs),
            inner_bias=_uniform(keys[1], (hidden,), inputs),
            outer=_uniform(keys[2], (outputs, hidden), hidden),
            outer_bias=_uniform(keys[3], (outputs,), hidden),
            activation=activation,
        )

    def hidden(self, inputs: Float[Array, "... inputs"]) -> Float[Array, "... hidden"]:
        """Apply the first layer and its activation."""
        before = inputs @ self.inner.T + self.inner_bias
        return jax.nn.gelu(before) if self.activation == "gelu" else jax.nn.relu(before)

    def __call__(
        self, inputs: Float[Array, "... inputs"]
    ) -> Float[Array, "... outputs"]:
        """Apply both layers."""
        return self.hidden(inputs) @ self.outer.T + self.outer_bias


class SetAttention(eqx.Module):
    """The model; call it, or ask for its attention logits alone."""

    item_encoder: TwoLayer
    query_encoder: TwoLayer
    query_map: Float[Array, "dim dim"]
    key_map: Float[Array, "dim dim"]
    value_map: Float[Array, "dim dim"]
    readout: TwoLayer

    @classmethod
    def initialise(
        cls,
        rng_key: Array,
        *,
        num_features: int = 11,
        num_classes: int = 10,
        dim: int = 128,
        activation: Activation = "gelu",
    ) -> "SetAttention":
        """Draw a model.

        Raises
        ------
        TypeError, ValueError
            If a size is not an integer >= 1 or the activation is unknown.
        """
        for name, size in {
            "num_features": num_features,
            "num_classes": num_classes,
            "dim": dim,
        }.items():
            check_integer(name, size, at_least=1)
        check_choice("activation", activation, ("gelu", "relu"))
        keys = jax.random.split(rng_key, 6)
        square = (dim, dim)
        return cls(
            TwoLayer.initialise(keys[0], num_features, dim, dim, activation),
            TwoLayer.initialise(keys[1], 1, dim, dim, activation),
            _uniform(keys[2], square, dim),
            _uniform(keys[3], square, dim),
            _uniform(keys[4], square, dim),
            TwoLayer.initialise(keys[5], dim, dim, num_classes, activation),
        )

    def __call__(
        self,
        items: Float[Array, "batch items features"],
        query: Float[Array, " batch"],
        *,
        weights: Weights = activations.softmax,
        where: Bool[Array, "batch items"] | None = None,
    ) -> SetOutput:
        """Classify each set, with the head's two projections absorbed.

        A set has one query, so <Q h_q, K h_i> = <W2' K' Q h_q, a_i> + const with the
        hidden layer a_i of the item encoder: per item only the first layer is left.
        The values are pooled before they are projected.
        Exactly the model of `plain`, several times cheaper.

        Parameters
        ----------
        items, query : features of the items; one number per set
        weights : map from logits to weights, called with `where`
        where : False for places that hold no item
        """
        hidden = self.item_encoder.hidden(items)
        logits = self._logits(hidden, query)
        attention = weights(logits, where=where)
        pooled = jnp.sum(attention[..., None] * hidden, axis=-2)
        mass = jnp.sum(attention, axis=-1, keepdims=True)
        encoder = self.item_encoder
        attended = pooled @ encoder.outer.T + mass * encoder.outer_bias
        class_logits = self.readout(attended @ self.value_map.T)
        return SetOutput(class_logits, logits, attention)

    def plain(
        self,
        items: Float[Array, "batch items features"],
        query: Float[Array, " batch"],
        *,
        weights: Weights = activations.softmax,
        where: Bool[Array, "batch items"] | None = None,
    ) -> SetOutput:
        """Classify each set as the formulas above are written: a key and a value each.

        The reference against which `__call__` is tested.
        """
        encoded = self.item_encoder(items)
        keys, values = encoded @ self.key_map.T, encoded @ self.value_map.T
        head_query = self.query_encoder(query[..., None]) @ self.query_map.T
        logits = jnp.einsum("bid,bd->bi", keys, head_query) / keys.shape[-1] ** 0.5
        attention = weights(logits, where=where)
        attended = jnp.einsum("bi,bid->bd", attention, values)
        return SetOutput(self.readout(attended), logits, attention)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Give all parameters by name, ready to be written to a file."""
        leaves, _ = jax.tree_util.tree_flatten_with_path(self)
        return {
            jax.tree_util.keystr(path, simple=True, separator="."): np.asarray(leaf)
            for path, leaf in leaves
        }

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, np.ndarray], *, activation: Activation = "gelu"
    ) -> "SetAttention":
        """Build a model from what `to_arrays` gave.

        Raises
        ------
        ValueError
            If a parameter is missing, unknown or of another shape than the rest asks.
        """
        require("key_map" in arrays, "arrays", "a set-attention model", list(arrays))
        dim = arrays["key_map"].shape[0]
        shape = jax.eval_shape(
            lambda: cls.initialise(jax.random.key(0), dim=dim, activation=activation)
        )
        paths, structure = jax.tree_util.tree_flatten_with_path(shape)
        wanted = {
            jax.tree_util.keystr(path, simple=True, separator="."): leaf.shape
            for path, leaf in paths
        }
        found = {name: array.shape for name, array in arrays.items()}
        require(found == wanted, "arrays", f"of shapes {wanted}", found)
        leaves = [jnp.asarray(arrays[name]) for name in wanted]
        return jax.tree_util.tree_unflatten(structure, leaves)

    def attention_logits(
        self,
        items: Float[Array, "batch items features"],
        query: Float[Array, " batch"],
    ) -> Float[Array, "batch items"]:
        """Give the head's logits e_i alone."""
        return self._logits(self.item_encoder.hidden(items), query)

    def _logits(
        self,
        hidden: Float[Array, "batch items hidden"],
        query: Float[Array, " batch"],
    ) -> Float[Array, "batch items"]:
        encoder = self.item_encoder
        head_query = self.query_encoder(query[..., None]) @ self.query_map.T
        direction = head_query @ self.key_map / self.key_map.shape[0] ** 0.5
        level = direction @ encoder.outer_bias
        absorbed = direction @ encoder.outer
        return jnp.sum(hidden * absorbed[:, None, :], axis=-1) + level[:, None]


def _uniform(rng_key: Array, shape: tuple[int, ...], fan_in: int) -> Array:
    bound = fan_in**-0.5
    return jax.random.uniform(rng_key, shape, minval=-bound, maxval=bound)
