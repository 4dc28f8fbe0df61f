"""Transformers with random weights, to watch dispersion in: Theorem 2.2 and its edges.

The theorem of "Softmax is not Enough" (ICML 2025) says that with a finite vocabulary
and global heads every attention weight of every layer falls like 1/n, whatever the
weights of the network are.  So random ones will do.
Both styles (BERT: each item attends to all; GPT: to itself and those before it), four
ways to treat positions and a few broken assumptions can be chosen.

Memory: an intermediate array takes 4 · heads · block_size · length bytes, 8 MB at
16,384 items, two heads and blocks of 64, where the logits of one layer at once would
take 2 GB.  Time grows with the square of the length: about 5 s per layer for those
16,384 items on one core.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from sharp_attention._checks import check_finite, check_integer, check_real, require
from sharp_attention._typing import ArrayLike
from sharp_attention.models.positions import View
from sharp_attention.models.watched_block import Architecture, Block, HeadStatistics

__all__ = [
    "Architecture",
    "Evaluation",
    "HeadStatistics",
    "RandomTransformer",
    "evaluate",
    "evaluate_counts",
]


class Evaluation(eqx.Module):
    """What one pass leaves behind; a row is a query, float32 throughout.

    Attributes
    ----------
    output : features of the rows after the last block
    heads : statistics of the weights, arrays of shape (layers, heads, rows)
    """

    output: Float[Array, "rows width"]
    heads: HeadStatistics


class RandomTransformer(eqx.Module):
    """A vocabulary of embedded tokens and a stack of blocks."""

    embedding: Float[Array, "vocabulary width"]
    blocks: tuple[Block, ...]
    architecture: Architecture = eqx.field(static=True)

    @classmethod
    def initialise(
        cls,
        seed: int,
        architecture: Architecture | None = None,
        *,
        vocabulary: int = 16,
        width: int = 32,
        num_heads: int = 2,
        num_layers: int = 2,
        logit_scale: float = 1.0,
    ) -> "RandomTransformer":
        """Draw every weight from a Gaussian, by NumPy: the same with every JAX.

        Parameters
        ----------
        seed : >= 0, of NumPy's default generator
        architecture : BERT-style without positions if None
        vocabulary, width, num_heads, num_layers : integers >= 1; the heads share out
            the width
        logit_scale : > 0, standard deviation of the logits of unrelated items

        Raises
        ------
        TypeError, ValueError
            If a number is out of its range, or `width` is no multiple of twice
            `num_heads` (rotations need pairs).
        """
        check_integer("seed", seed, at_least=0)
        sizes = {"vocabulary": vocabulary, "width": width}
        sizes |= {"num_heads": num_heads, "num_layers": num_layers}
        for name, size in sizes.items():
            check_integer(name, size, at_least=1)
        check_real("logit_scale", logit_scale, above=0)
        rule = f"a multiple of 2 · num_heads = {2 * num_heads}"
        require(width % (2 * num_heads) == 0, "width", rule, width)
        rng = np.random.default_rng(seed)
        embedding = jnp.asarray(rng.normal(size=(vocabulary, width)), jnp.float32)
        chosen = architecture or Architecture()
        blocks = tuple(
            Block.initialise(rng, chosen, width, num_heads, logit_scale)
            for _ in range(num_layers)
        )
        return cls(embedding, blocks, chosen)

    @property
    def view(self) -> View:
        """What each query sees of the items."""
        return self.architecture.view(num_heads=len(self.blocks[0].query))

    def embed(self, tokens: ArrayLike) -> Float[Array, "length width"]:
        """Look tokens up in the vocabulary.

        Raises
        ------
        ValueError
            If `tokens` are not one row of integers from 0 to vocabulary − 1.
        """
        row = np.asarray(tokens)
        is_row = row.ndim == 1 and row.size >= 1 and row.dtype.kind in "iu"
        require(is_row, "tokens", "one row of integers", tokens)
        is_known = row.min() >= 0 and row.max() < len(self.embedding)
        rule = f"from 0 to {len(self.embedding) - 1}"
        require(bool(is_known), "tokens", rule, tokens)
        return self.embedding[row]


def evaluate(
    model: RandomTransformer,
    features: ArrayLike,
    *,
    rows: ArrayLike | None = None,
    block_size: int = 64,
) -> Evaluation:
    """Run the model and watch every head, a block of queries at a time.

    Parameters
    ----------
    model : the transformer
    features : (length, width), from ``model.embed(tokens)`` or, to leave the finite
        vocabulary, any vectors
    rows : places of the queries to report, from 0 to length − 1; all if None.
        The last layer computes only these
    block_size : queries at a time, >= 1

    Raises
    ------
    TypeError, ValueError
        If a shape, a row or `block_size` is out of its range, or a feature is not
        finite.
    """
    check_integer("block_size", block_size, at_least=1)
    check_finite("features", features)
    current = jnp.asarray(features, dtype=jnp.float32)
    width = model.embedding.shape[1]
    fits = current.ndim == 2 and current.shape[1] == width and len(current) >= 1
    require(fits, "features", f"of shape (length >= 1, {width})", current.shape)
    places = np.arange(len(current))
    reported = places if rows is None else _checked_rows(rows, len(current))
    view, seen = model.view, []
    for block in model.blocks[:-1]:
        current, heads = block(current, places, view, block_size)
        seen.append(jax.tree.map(lambda leaf: leaf[:, reported], heads))
    output, heads = model.blocks[-1](current, reported, view, block_size)
    return Evaluation(output, _stack([*seen, heads]))


def evaluate_counts(model: RandomTransformer, counts: ArrayLike) -> Evaluation:
    """Run a BERT-style model without positions on a bag of tokens, exactly.

    There equal tokens have equal features, so each token of the vocabulary is computed
    once and counts with its multiplicity: the cost does not depend on the number of
    items, which may be 1e12.  An independent check of `evaluate`.

    Parameters
    ----------
    model : of style "bert" with positions "none"
    counts : (vocabulary,), how often each token occurs, >= 0, not all 0

    Returns
    -------
    One row per token of the vocabulary: what a query with this token sees.

    Raises
    ------
    TypeError, ValueError
        If the model is causal or knows places, or `counts` are out of their range.
    """
    chosen = model.architecture
    is_symmetric = chosen.style == "bert" and chosen.positions == "none"
    rule = 'of style "bert" with positions "none"'
    require(is_symmetric, "model.architecture", rule, chosen)
    check_real("counts", counts, at_least=0)
    bag = np.asarray(counts, dtype=np.float64)
    vocabulary = np.arange(len(model.embedding))
    fits = bag.shape == vocabulary.shape and bool(bag.any())
    require(fits, "counts", f"{len(vocabulary)} numbers, not all 0", counts)
    with np.errstate(divide="ignore"):
        log_counts = np.log(bag).astype(np.float32)
    current, view, seen = model.embedding, model.view, []
    for block in model.blocks:
        current, heads = block(current, vocabulary, view, len(vocabulary), log_counts)
        seen.append(heads)
    return Evaluation(current, _stack(seen))


def _stack(layers: list[HeadStatistics]) -> HeadStatistics:
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *layers)


def _checked_rows(rows: ArrayLike, length: int) -> np.ndarray:
    array = np.asarray(rows)
    is_row = array.ndim == 1 and array.size >= 1 and array.dtype.kind in "iu"
    fits = is_row and array.min() >= 0 and array.max() < length
    require(bool(fits), "rows", f"a row of integers from 0 to {length - 1}", rows)
    return array
