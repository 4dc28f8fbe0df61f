"""Whether a decoder answers a question of CLRS-Text, and what its heads do meanwhile.

An answer counts if every character of it is right, its empty line included.
It is scored by one pass over the question and the true answer: greedy decoding gives
the true answer if and only if every character of it has the largest logit after the
true ones before it, since by induction they are then what greedy decoding has written.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int

from sharp_attention._checks import check_choice, check_integer, require
from sharp_attention.experiments.clrs_training import answer_columns
from sharp_attention.experiments.files import Row
from sharp_attention.models.decoder import Decoder
from sharp_attention.models.places import fitted_places
from sharp_attention.tasks.clrs_text import Batch

__all__ = ["evaluate"]

_TEXTS_PER_BLOCK = 64


def evaluate(
    model: Decoder, texts: Batch, *, span: int, weights: str
) -> tuple[Row, list[Row]]:
    """Put questions of one size to a model.

    Parameters
    ----------
    model : trained
    texts : questions with their true answers, a multiple of 64
    span : the length of the rows in training, which `fitted_places` keep to
    weights : "softmax" or "adaptive", in every head

    Returns
    -------
    the number of texts, how many are answered right to the last character and how
    many of the characters are right; and for each head the means over texts of
    entropy (nats), spread and top weight at the place that writes the first character
    of the answer
    """
    check_choice("weights", weights, ("softmax", "adaptive"))
    check_integer("span", span, at_least=1)
    num_texts = len(texts.characters)
    whole = num_texts % _TEXTS_PER_BLOCK == 0
    require(whole, "texts", f"a multiple of {_TEXTS_PER_BLOCK}", num_texts)
    blocks = (num_texts // _TEXTS_PER_BLOCK, _TEXTS_PER_BLOCK, -1)
    right, seen = jax.device_get(
        _measure(
            model,
            texts.characters.reshape(blocks),
            texts.is_answer.reshape(blocks),
            span,
            _num_columns(texts),
            weights,
        )
    )
    asked = texts.is_answer[:, -right.shape[-1] :]
    right = right.reshape(asked.shape) | ~asked
    row = {
        "num_texts": num_texts,
        "correct": int(right.all(axis=-1).sum()),
        "characters": int(asked.sum()),
        "characters_correct": int((right & asked).sum()),
    }
    return row, _head_rows(seen)


@functools.partial(jax.jit, static_argnames=("span", "num_answers", "weights"))
def _measure(
    model: Decoder,
    characters: Int[Array, "blocks texts length"],
    is_answer: Bool[Array, "blocks texts length"],
    span: int,
    num_answers: int,
    weights: str,
) -> tuple[Bool[Array, "blocks texts answers"], dict[str, Array]]:
    def block(data: tuple[Array, Array]) -> tuple[Array, dict[str, Array]]:
        texts, asked = data
        before = texts[:, :-1]
        places = fitted_places(len(before), before.shape[1], span)
        logits = model(
            before, places, before > 0, num_queries=num_answers, weights=weights
        )
        right = jnp.argmax(logits, axis=-1) == texts[:, -num_answers:]
        first = jnp.argmax(asked[:, -num_answers:], axis=-1)
        seen = model.watch(
            before, places, before > 0, num_queries=num_answers, weights=weights
        )._asdict()
        chosen = {
            name: jnp.take_along_axis(values, first[None, :, None, None], axis=-1)
            for name, values in seen.items()
        }
        return right, {n: jnp.mean(v[..., 0], axis=1) for n, v in chosen.items()}

    return jax.lax.map(block, (characters, is_answer))


def _num_columns(texts: Batch) -> int:
    """Columns to score, rounded up to a power of two to spare compilations."""
    needed = 1 << (answer_columns(texts) - 1).bit_length()
    return min(texts.characters.shape[1] - 1, needed)


def _head_rows(seen: dict[str, np.ndarray]) -> list[Row]:
    _, layers, heads = seen["entropy"].shape
    means = {n: values.mean(axis=0, dtype=np.float64) for n, values in seen.items()}
    return [
        {
            "layer": layer,
            "head": head,
            **{name: float(values[layer, head]) for name, values in means.items()},
        }
        for layer in range(layers)
        for head in range(heads)
    ]
