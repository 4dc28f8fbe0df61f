"""Exercises of the chapter on size generalisation."""

from typing import Any

import numpy as np
from scipy import special

from sharp_attention.exercises.registry import exercise
from sharp_attention.exercises.symptoms import rows_of_weights
from sharp_attention.theory.single_location import size_generalisation

__all__ = ["weights_by_length"]

_RNG = np.random.default_rng(27)
_LOGITS = 2.0 * _RNG.standard_normal((4, 12))
_ALL = np.ones((4, 12), dtype=bool)
_SEEN = np.arange(12) < np.array([[12], [7], [3], [5]])


def _weights(
    logits: Any,
    where: Any,
    trained_length: int,
    *,
    lengths: Any = None,
    power: float = 0.5,
    axis: int = -1,
) -> Any:
    lengths = np.sum(where, axis=-1, keepdims=True) if lengths is None else lengths
    factor = (np.log(lengths) / np.log(trained_length)) ** power
    return special.softmax(np.where(where, factor * logits, -np.inf), axis=axis)


def _hidden_weigh(logits: Any, where: Any, trained_length: int) -> Any:
    lengths = np.sum(where, axis=-1, keepdims=True)
    return _weights(logits, np.ones_like(where), trained_length, lengths=lengths)


def _bare_ratio(logits: Any, where: Any, trained_length: int) -> Any:
    lengths = np.sum(where, axis=-1, keepdims=True)
    factor = np.sqrt(lengths / trained_length)
    return special.softmax(np.where(where, factor * logits, -np.inf), axis=-1)


def _factor_outside(logits: Any, where: Any, trained_length: int) -> Any:
    factor = np.sqrt(np.log(np.sum(where, -1, keepdims=True)) / np.log(trained_length))
    return factor * _weights(logits, where, trained_length, power=0.0)


@exercise(
    "size-generalisation/weights-by-length",
    cases={
        "the length of training": (_LOGITS, _ALL, 12),
        "longer texts": (_LOGITS, _ALL, 4),
        "texts of different lengths": (_LOGITS, _SEEN, 4),
    },
    lookalikes={
        "The mask is missing: places without a token get weight and count as length.": (
            lambda logits, where, trained_length: _weights(
                logits, np.ones_like(where), trained_length
            )
        ),
        "Places without a token still get weight.": _hidden_weigh,
        "The length of a text is counted with its empty places.": (
            lambda logits, where, trained_length: _weights(
                logits, where, trained_length, lengths=np.shape(where)[-1]
            )
        ),
        "Longer texts get flatter weights: is the ratio upside down?": (
            lambda *a: _weights(*a, power=-0.5)
        ),
        "The weights are sharpened too fast with the length.": (
            lambda *a: _weights(*a, power=1.0)
        ),
        "The sharpness follows the length itself; a logarithm is missing.": _bare_ratio,
        "The weights do not depend on the length of training.": (
            lambda *a: _weights(*a, power=0.0)
        ),
        "The factor is on the weights; it belongs on the logits.": _factor_outside,
        "The weights of one place add up to 1 over all texts: wrong axis.": (
            lambda *a: _weights(*a, axis=0)
        ),
    },
    properties=(rows_of_weights,),
)
def weights_by_length(logits: Any, where: Any, trained_length: int) -> Any:
    """Return softmax weights, sharpened as the length of each text asks for.

    `logits` and `where` have the shape (texts, places); a text has tokens only where
    `where` is True.
    The factor on the logits keeps b = beta / sqrt(log L) as it was at `trained_length`
    tokens.
    """
    found = np.zeros(np.shape(logits))
    for row, (text, is_there) in enumerate(zip(logits, where, strict=True)):
        length = int(np.sum(is_there))
        factor = size_generalisation.length_rescaling(trained_length, length)
        found[row, is_there] = special.softmax(factor * text[is_there])
    return found
