"""CLRS-Text: thirty classical algorithms as questions and answers in characters.

Markeeva et al. (2024, arXiv 2406.04229) turn the CLRS benchmark into text.
The strings here come from their own generator, the package ``dm-clrs``, so that a
question is theirs to the last character; no hints, three decimals, cut not rounded::

    minimum:
    key: [0.417 0.72 0.0 0.302]
    min:
    2

A question ends with the name of what is asked and a colon; an answer ends with an
empty line.
The size n counts what the algorithm works on: numbers, nodes, characters.

The generator is no requirement of the library: without it `generate` names the
command that installs it, and everything else works.
"""

import functools
import json
from collections.abc import Sequence
from importlib import resources
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int

from sharp_attention._checks import check_choice, check_integer, require
from sharp_attention.tasks import clrs_generator

__all__ = [
    "ALGORITHMS",
    "ALPHABET",
    "SMALLEST_SIZES",
    "Batch",
    "Example",
    "decode",
    "encode",
    "generate",
    "recorded",
]

ALGORITHMS = (
    "activity_selector",
    "articulation_points",
    "bellman_ford",
    "bfs",
    "binary_search",
    "bridges",
    "bubble_sort",
    "dag_shortest_paths",
    "dfs",
    "dijkstra",
    "find_maximum_subarray_kadane",
    "floyd_warshall",
    "graham_scan",
    "heapsort",
    "insertion_sort",
    "jarvis_march",
    "kmp_matcher",
    "lcs_length",
    "matrix_chain_order",
    "minimum",
    "mst_kruskal",
    "mst_prim",
    "naive_string_matcher",
    "optimal_bst",
    "quickselect",
    "quicksort",
    "segments_intersect",
    "strongly_connected_components",
    "task_scheduling",
    "topological_sort",
)
"""The names of the thirty algorithms, as the questions begin."""

ALPHABET = "\n ,-.:[]_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""The characters that a text may hold; number 0 is the padding, these count from 1."""


class Example(NamedTuple):
    """A question and its answer, both ending as the generator ends them."""

    question: str
    answer: str


class Batch(NamedTuple):
    """Texts as numbers, right-aligned, so that all of them end in the last column.

    Attributes
    ----------
    characters : (texts, length), 0 for the padding on the left
    is_answer : (texts, length), True for the characters of the answer
    """

    characters: Int[np.ndarray, "texts length"]
    is_answer: Bool[np.ndarray, "texts length"]


SMALLEST_SIZES = dict.fromkeys(ALGORITHMS, 2) | {
    "kmp_matcher": 3,
    "naive_string_matcher": 3,
    "segments_intersect": 1,
    "strongly_connected_components": 4,
}
"""The smallest size that the generator can make, algorithm by algorithm."""


def generate(
    algorithm: str, size: int, num_examples: int, *, seed: int
) -> list[Example]:
    """Draw questions of one size with the official generator.

    Parameters
    ----------
    algorithm : one of `ALGORITHMS`
    size : n, at least its entry in `SMALLEST_SIZES`; ``segments_intersect`` asks for
        the same four points whatever it is
    num_examples : how many, >= 0
    seed : 0 … 2³² − 1; the examples are a function of algorithm, size and seed, and a
        longer list begins with the shorter one

    Raises
    ------
    TypeError, ValueError
        If the algorithm is unknown, a number is no integer or out of range, or the
        generator can't make the size.
    ModuleNotFoundError
        With the command that installs the generator, where that is missing.
    """
    check_choice("algorithm", algorithm, ALGORITHMS)
    check_integer("size", size, at_least=1)
    check_integer("num_examples", num_examples, at_least=0)
    check_integer("seed", seed, at_least=0)
    smallest = SMALLEST_SIZES[algorithm]
    rule = f"at least {smallest}, which the generator needs for {algorithm}"
    require(size >= smallest, "size", rule, size)
    require(seed < 2**32, "seed", "below 2**32", seed)
    draw = clrs_generator.sampler(algorithm, size, seed)
    return [Example(*draw()) for _ in range(num_examples)]


def recorded() -> dict[str, list[Example]]:
    """Return two questions of size 4 for each algorithm, without the generator.

    They are what `generate` gives at seed 0.
    """
    file = resources.files("sharp_attention.tasks") / "clrs_samples.json"
    table = json.loads(file.read_text(encoding="utf-8"))
    return {name: [Example(*pair) for pair in table[name]] for name in ALGORITHMS}


def encode(examples: Sequence[Example], length: int | None = None) -> Batch:
    """Turn texts into numbers.

    Parameters
    ----------
    examples : at least one
    length : of the rows; None takes the longest text

    Raises
    ------
    ValueError
        If there is no example, a text is longer than `length`, or a character is not
        in `ALPHABET`.
    """
    require(len(examples) > 0, "examples", "at least one", len(examples))
    texts = [example.question + example.answer for example in examples]
    longest = max(map(len, texts))
    length = longest if length is None else length
    require(longest <= length, "length", f"at least {longest}", length)
    characters = np.zeros((len(texts), length), np.int32)
    is_answer = np.zeros((len(texts), length), bool)
    for row, (text, example) in enumerate(zip(texts, examples, strict=True)):
        characters[row, length - len(text) :] = [_number(c) for c in text]
        is_answer[row, length - len(example.answer) :] = True
    return Batch(characters, is_answer)


def decode(numbers: Int[np.ndarray, " length"]) -> str:
    """Turn a row of numbers back into text, without its padding."""
    return "".join(ALPHABET[number - 1] for number in numbers if number > 0)


@functools.cache
def _number(character: str) -> int:
    known = character in ALPHABET and character != ""
    require(known, "text", "made of the characters of ALPHABET", character)
    return ALPHABET.index(character) + 1
