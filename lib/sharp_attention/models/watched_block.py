"""One transformer block whose attention heads are watched while they work.

A block is x + O attention(norm x), then x + MLP(norm x); per head q = Q x, k = K x,
v = V x and the logits are q·k / √head_dim.
Queries are taken a few at a time, so that an intermediate array holds
heads · block_size · length floats and never the full square of the length.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from sharp_attention._checks import check_choice, check_integer
from sharp_attention.attention import entropy
from sharp_attention.attention.activations import softmax
from sharp_attention.models.positions import (
    EVERYWHERE,
    Positions,
    View,
    alibi_slopes,
    rotate,
)

__all__ = ["Architecture", "Block", "HeadStatistics"]

Style = Literal["bert", "gpt"]
Activation = Literal["gelu", "step"]


@dataclass(frozen=True)
class Architecture:
    """The choices that the assumptions of Theorem 2.2 are about.

    Attributes
    ----------
    style : "bert", each item attends to all items, or "gpt", to none after it
    positions : how heads know places, see the module `positions`
    window : how many places away an item is still seen with positions "window"
    is_normalised : whether an RMS norm stands before attention and feed-forward map
    activation : of the feed-forward map; "step" is not continuous
    """

    style: Style = "bert"
    positions: Positions = "none"
    window: int = 16
    is_normalised: bool = True
    activation: Activation = "gelu"

    def __post_init__(self) -> None:
        check_choice("style", self.style, get_args(Style))
        check_choice("positions", self.positions, get_args(Positions))
        check_choice("activation", self.activation, get_args(Activation))
        check_integer("window", self.window, at_least=0)

    def view(self, num_heads: int) -> View:
        """Return what each query sees."""
        behind = self.window if self.positions == "window" else EVERYWHERE
        is_alibi = self.positions == "alibi"
        return View(
            behind=jnp.asarray(behind),
            ahead=jnp.asarray(0 if self.style == "gpt" else behind),
            slopes=alibi_slopes(num_heads) if is_alibi else jnp.zeros(num_heads),
            is_rotary=self.positions == "rotary",
        )


class HeadStatistics(NamedTuple):
    """What a head's row of weights looks like, over the items that the row sees.

    Attributes
    ----------
    max_weight, min_weight : largest and smallest weight of one item
    entropy : of the weights, nats
    spread : largest minus smallest logit
    """

    max_weight: Float[Array, "*heads rows"]
    min_weight: Float[Array, "*heads rows"]
    entropy: Float[Array, "*heads rows"]
    spread: Float[Array, "*heads rows"]


class Block(eqx.Module):
    """One layer: a multi-head attention and a feed-forward map."""

    query: Float[Array, "heads head_dim width"]
    key: Float[Array, "heads head_dim width"]
    value: Float[Array, "heads head_dim width"]
    output: Float[Array, "heads width head_dim"]
    inner: Float[Array, "hidden width"]
    outer: Float[Array, "width hidden"]
    is_normalised: bool = eqx.field(static=True)
    activation: Activation = eqx.field(static=True)

    @classmethod
    def initialise(
        cls,
        rng: np.random.Generator,
        architecture: Architecture,
        width: int,
        num_heads: int,
        logit_scale: float,
    ) -> "Block":
        """Draw Gaussian weights of variance 1 / fan-in.

        Queries and keys are scaled so that the logits of unrelated normalised items
        have standard deviation `logit_scale`; the feed-forward map is twice as wide.
        """
        head_dim = width // num_heads

        def draw(variance: float, *shape: int) -> Array:
            weights = rng.normal(scale=variance**0.5, size=shape)
            return jnp.asarray(weights, dtype=jnp.float32)

        return cls(
            query=draw(logit_scale / width, num_heads, head_dim, width),
            key=draw(logit_scale / width, num_heads, head_dim, width),
            value=draw(1 / width, num_heads, head_dim, width),
            output=draw(1 / width, num_heads, width, head_dim),
            inner=draw(1 / width, 2 * width, width),
            outer=draw(1 / (2 * width), width, 2 * width),
            is_normalised=architecture.is_normalised,
            activation=architecture.activation,
        )

    @eqx.filter_jit
    def __call__(
        self,
        features: Float[Array, "length width"],
        rows: Int[np.ndarray | Array, " rows"],
        view: View,
        block_size: int,
        log_counts: Float[np.ndarray | Array, " length"] | None = None,
    ) -> tuple[Float[Array, "rows width"], HeadStatistics]:
        """Compute the features of some rows and the statistics of their weights.

        Parameters
        ----------
        features : of all items
        rows : places of the queries
        view : what they see
        block_size : queries at a time
        log_counts : logarithm of how often each item is there; once if None, −inf for
            an item that is not there but whose features are wanted
        """
        attended, statistics = self._attend(
            self._norm(features), rows, view, block_size, log_counts
        )
        middle = features[rows] + jnp.einsum("hwd,hqd->qw", self.output, attended)
        hidden = self._norm(middle) @ self.inner.T
        if self.activation == "gelu":
            hidden = jax.nn.gelu(hidden)
        else:
            hidden = jnp.where(hidden > 0, 1.0, 0.0)
        return middle + hidden @ self.outer.T, statistics

    def _attend(
        self,
        normal: Float[Array, "length width"],
        rows: Int[np.ndarray | Array, " rows"],
        view: View,
        block_size: int,
        log_counts: Float[np.ndarray | Array, " length"] | None,
    ) -> tuple[Float[Array, "heads rows head_dim"], HeadStatistics]:
        queries, keys, values = (
            jnp.einsum("hdw,nw->hnd", matrix, normal)
            for matrix in (self.query, self.key, self.value)
        )
        if view.is_rotary:
            queries, keys = rotate(queries), rotate(keys)

        def attend(row: Int[Array, ""]) -> tuple[Array, HeadStatistics]:
            distance = row - jnp.arange(len(normal))
            logits = jnp.einsum("hd,hkd->hk", queries[:, row], keys)
            logits = logits / keys.shape[-1] ** 0.5 - view.penalty(distance)
            weights, statistics = _watch(logits, view.sees(distance), log_counts)
            return jnp.einsum("hk,hkd->hd", weights, values), statistics

        attended = jax.lax.map(attend, jnp.asarray(rows), batch_size=block_size)
        return jax.tree.map(lambda leaf: jnp.moveaxis(leaf, 0, 1), attended)

    def _norm(
        self, features: Float[Array, "length width"]
    ) -> Float[Array, "length width"]:
        if not self.is_normalised:
            return features
        mean_square = jnp.mean(features**2, axis=-1, keepdims=True)
        return features / jnp.sqrt(mean_square + 1e-6)


def _watch(
    logits: Float[Array, "heads keys"],
    where: Bool[Array, " keys"],
    log_counts: Float[np.ndarray | Array, " keys"] | None,
) -> tuple[Float[Array, "heads keys"], HeadStatistics]:
    """Mass on each key, all its copies together, and the statistics of one copy."""
    counted = logits if log_counts is None else logits + log_counts
    where = where & jnp.isfinite(counted)
    sums = entropy.partial_statistics(counted, where=where)
    log_total = entropy.log_normaliser(sums)
    mass = softmax(counted, where=where)
    nats = entropy.entropy_from_statistics(sums)
    if log_counts is not None:
        nats = nats + mass @ jnp.where(jnp.isfinite(log_counts), log_counts, 0.0)
    largest = jnp.max(logits, axis=-1, where=where, initial=-jnp.inf)
    smallest = jnp.min(logits, axis=-1, where=where, initial=jnp.inf)
    return mass, HeadStatistics(
        max_weight=jnp.exp(largest - log_total),
        min_weight=jnp.exp(smallest - log_total),
        entropy=nats,
        spread=largest - smallest,
    )
