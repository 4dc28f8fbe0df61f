"""Write the answers of CLRS-Text character by character: the slow way to score them.

`clrs_scoring.evaluate` needs one pass; this is what it stands for.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from sharp_attention.models.decoder import Decoder
from sharp_attention.models.places import fitted_places
from sharp_attention.tasks import clrs_text

__all__ = ["greedy"]


def greedy(
    model: Decoder, texts: clrs_text.Batch, *, span: int, weights: str
) -> Int[np.ndarray, "texts length"]:
    """Replace the answers by what a model writes, the likeliest character each time.

    Parameters
    ----------
    model : trained
    texts : questions with answers; of the answers only the columns are used
    span : the length of the rows in training
    weights : "softmax" or "adaptive", in every head

    Returns
    -------
    the characters, with as many written as the true answers have; a model that ends
    early writes on after its empty line
    """
    written = jnp.where(texts.is_answer, 0, texts.characters)
    columns = np.flatnonzero(texts.is_answer.any(axis=0))
    for column in columns:
        best = _next(model, written, int(column), span, weights)
        asked = texts.is_answer[:, column]
        written = written.at[:, column].set(jnp.where(asked, best, written[:, column]))
    return np.asarray(written)


def _next(
    model: Decoder,
    characters: Int[Array, "texts length"],
    column: int,
    span: int,
    weights: str,
) -> Int[Array, " texts"]:
    before = characters[:, :-1]
    # The places of the whole row: those of a shorter one could have another gap.
    places = fitted_places(len(before), before.shape[1], span)[:, :column]
    read = before[:, :column]
    logits = model(read, places, read > 0, num_queries=1, weights=weights)
    return jnp.argmax(logits[:, -1], axis=-1)
