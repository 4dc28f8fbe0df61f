"""The same question and the same answer, with more and more text in between.

In a decoder, length and place are confounded: a later row sees more keys and asks
another question.  Here the row that is watched is always the same question, and the
token that answers it always stands at the same distance before it; what grows is
only the number of tokens before both::

    beginning | distractors | needle, question

The beginning is always the same, so that heads which rest on the first token can.
"""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from sharp_attention._checks import check_choice
from sharp_attention.attention.entropy import entropy
from sharp_attention.experiments import spread_texts
from sharp_attention.experiments.files import Row
from sharp_attention.models.pretrained import HeadVectors, PretrainedModel
from sharp_attention.models.pretrained.decoder import Decoder

__all__ = ["DISTRACTORS", "LENGTHS", "measure", "tokens_of"]

DISTRACTORS = ("facts", "prose")
"""Sentences of the needle's form about others, or prose of this book."""

LENGTHS = (64, 128, 256, 512, 1024)
NEEDLES = (
    ("Anna", 4731),
    ("Boris", 8264),
    ("Clara", 5907),
    ("David", 3186),
    ("Elena", 7450),
    ("Frank", 2593),
    ("Greta", 9018),
    ("Henry", 6372),
)
"""The even ones choose heads, the odd ones measure them."""

_BEGINNING = "These are notes about secret numbers. Remember them well."
_QUESTION = " Question: what is the secret number of {}? The secret number of {} is "
_FIRST = ("Ida", "Jonas", "Karla", "Leo", "Mona", "Nora", "Oscar", "Paula", "Quentin")
_LAST = ("Adams", "Brown", "Cole", "Diaz", "Evans", "Ford", "Gray", "Hill", "Irwin")


def measure(
    model: PretrainedModel, distractors: str, lengths: Sequence[int]
) -> tuple[list[Row], list[Row]]:
    """Ask for every needle among ever more distractors.

    Parameters
    ----------
    model : a decoder
    distractors : one of `DISTRACTORS`
    lengths : numbers of tokens in all

    Returns
    -------
    rows : for each length, layer and head
        `chosen_by`, the weight of the answer's first digit averaged over the needles
        that choose heads, and averaged over the others that weight, its logit minus
        the row's largest, the largest weight, the entropy (nats) and the spread
    answers : for each length and needle
        the model's probability of the right digit

    Raises
    ------
    ValueError
        If the model is an encoder, or there are no such distractors.
    """
    check_choice("distractors", distractors, DISTRACTORS)
    network = model.network
    if not isinstance(network, Decoder):
        raise ValueError(f"model must be a decoder; received {model.name!r}")
    rows: list[Row] = []
    answers: list[Row] = []
    for length in lengths:
        watched = []
        for number in range(len(NEEDLES)):
            tokens, target = tokens_of(model, number, distractors, length)
            chance, table = _ask(network, tokens, target)
            watched.append(table)
            name = NEEDLES[number][0]
            answers.append(
                {
                    "distractors": distractors,
                    "length": length,
                    "needle": name,
                    "probability": chance,
                }
            )
        choosing = np.mean(watched[0::2], axis=0)
        measuring = np.mean(watched[1::2], axis=0)
        rows += [
            {
                "distractors": distractors,
                "length": length,
                "layer": layer + 1,
                "head": head + 1,
                "chosen_by": float(choosing[layer, head, 0]),
                **dict(zip(_COLUMNS, map(float, measuring[layer, head]), strict=True)),
            }
            for layer, head in np.ndindex(*measuring.shape[:2])
        ]
    return rows, answers


_COLUMNS = ("target_weight", "target_gap", "max_weight", "entropy", "spread")


def tokens_of(
    model: PretrainedModel, number: int, distractors: str, length: int
) -> tuple[np.ndarray, int]:
    """Return the tokens of one question and where the answer's first digit stands.

    Parameters
    ----------
    model : whose tokenizer is used
    number : of the needle
    distractors : one of `DISTRACTORS`
    length : number of tokens in all

    Raises
    ------
    ValueError
        If `length` leaves no place for the question, or there are too few distractors.
    """
    encode = model.tokenizer.encode
    name, code = NEEDLES[number]
    needle = encode(f" The secret number of {name} is {code}.")
    tail = np.concatenate([needle, encode(_QUESTION.format(name, name))])
    head = encode(_BEGINNING)
    crowd = encode(_crowd(distractors))
    missing = length - len(head) - len(tail)
    if not 0 <= missing <= len(crowd):
        most = len(head) + len(tail) + len(crowd)
        message = f"length must be from {most - len(crowd)} to {most}"
        raise ValueError(f"{message}; received {length}")
    tokens = np.concatenate([head, crowd[len(crowd) - missing :], tail])
    digits = len(str(code)) + 1  # and the full stop
    return tokens, len(head) + missing + len(needle) - digits


def _crowd(distractors: str) -> str:
    if distractors == "prose":
        return " " + spread_texts.read("prose").replace("\n", " ")
    rng = np.random.default_rng(0)
    people = [f"{first} {last}" for first in _FIRST for last in _LAST]
    codes = rng.integers(1000, 10_000, len(people))
    return "".join(
        f" The secret number of {person} is {code}."
        for person, code in zip(people, codes, strict=True)
    )


def _ask(
    network: Decoder, tokens: np.ndarray, target: int
) -> tuple[float, Float[np.ndarray, "layers heads columns"]]:
    """Watch the last row: the chance of the right digit, and `_COLUMNS` by head."""
    features, seen = network.visit(tokens, lambda v: np.asarray(_watch(v, target)))
    scores = network.embedding @ features[-1]
    chance = jax.nn.softmax(scores)[int(tokens[target])]
    return float(chance), np.stack(seen)


@jax.jit
def _watch(vectors: HeadVectors, target: Array | int) -> Float[Array, "heads columns"]:
    kv_heads, _, head_dim = vectors.key.shape
    last = vectors.query[:, -1].reshape(kv_heads, -1, head_dim)
    logits = jnp.einsum("kgd,knd->kgn", last, vectors.key)
    rows = logits.reshape(-1, logits.shape[-1])
    weights = jax.nn.softmax(rows, axis=-1)
    largest = rows.max(axis=-1)
    columns = (
        weights[:, target],
        rows[:, target] - largest,
        weights.max(axis=-1),
        entropy(rows),
        largest - rows.min(axis=-1),
    )
    return jnp.stack(columns, axis=-1)
