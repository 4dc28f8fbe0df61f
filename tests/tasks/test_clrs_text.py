"""CLRS-Text: the official strings, their numbers, and what is refused."""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from sharp_attention.tasks import clrs_generator, clrs_text
from sharp_attention.tasks.clrs_text import Example

needs_generator = pytest.mark.skipif(
    not clrs_generator.is_installed(), reason="needs dm-clrs of requirements-models.txt"
)
CHECKSUMS = json.loads(
    Path(__file__).with_name("clrs_checksums.json").read_text(encoding="utf-8")
)
RECORDED = clrs_text.recorded()


def checksum(examples: list[Example]) -> str:
    text = "".join(example.question + example.answer for example in examples)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def numbers(text: str) -> list[float]:
    return [float(word) for word in text.strip("[]").split()]


def test_thirty_algorithms_and_three_sizes_have_checksums() -> None:
    assert len(clrs_text.ALGORITHMS) == len(set(clrs_text.ALGORITHMS)) == 30
    assert set(CHECKSUMS) == set(clrs_text.ALGORITHMS)
    assert all(set(sums) == {"4", "8", "16"} for sums in CHECKSUMS.values())


@needs_generator
@pytest.mark.parametrize("algorithm", clrs_text.ALGORITHMS)
def test_strings_are_those_that_were_recorded(algorithm: str) -> None:
    for size, expected in CHECKSUMS[algorithm].items():
        examples = clrs_text.generate(algorithm, int(size), 20, seed=0)
        assert checksum(examples) == expected, size
    assert clrs_text.generate(algorithm, 4, 2, seed=0) == RECORDED[algorithm]


@needs_generator
@pytest.mark.parametrize("algorithm", clrs_text.ALGORITHMS)
def test_smallest_sizes_can_be_made(algorithm: str) -> None:
    size = clrs_text.SMALLEST_SIZES[algorithm]
    assert len(clrs_text.generate(algorithm, size, 3, seed=1)) == 3


@needs_generator
def test_a_longer_list_begins_with_the_shorter_one() -> None:
    long, short = (clrs_text.generate("bfs", 5, n, seed=3) for n in (5, 2))
    assert long[:2] == short
    assert clrs_text.generate("bfs", 5, 2, seed=4) != short


@needs_generator
def test_importing_leaves_no_stand_in_behind() -> None:
    clrs_text.generate("minimum", 4, 1, seed=0)
    tensorflow = sys.modules.get("tensorflow")
    assert tensorflow is None or hasattr(tensorflow, "__version__")


def test_missing_generator_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clrs_generator, "is_installed", lambda: False)
    clrs_generator._import.cache_clear()
    with pytest.raises(ModuleNotFoundError, match="pip install --no-deps"):
        clrs_text.generate("minimum", 4, 1, seed=0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("maximum", 4, 1, 0), "algorithm must be one of 'activity_selector'"),
        (("minimum", 1, 1, 0), "size must be at least 2, which the generator needs"),
        (("kmp_matcher", 2, 1, 0), "size must be at least 3"),
        (("strongly_connected_components", 3, 1, 0), "size must be at least 4"),
        (("minimum", 4, -1, 0), "num_examples must be >= 0"),
        (("minimum", 4, 1, 2**32), "seed must be below"),
    ],
)
def test_what_cannot_be_made_is_refused(arguments: tuple, words: str) -> None:
    *first, seed = arguments
    with pytest.raises(ValueError, match=words):
        clrs_text.generate(*first, seed=seed)


@pytest.mark.parametrize("algorithm", clrs_text.ALGORITHMS)
def test_texts_have_the_form_of_the_benchmark(algorithm: str) -> None:
    for question, answer in RECORDED[algorithm]:
        assert question.startswith(f"{algorithm}:\n")
        assert question.endswith(":\n")
        assert answer.endswith("\n\n")
        assert set(question + answer) <= set(clrs_text.ALPHABET)


def test_answers_are_right() -> None:
    for question, answer in RECORDED["minimum"]:
        keys = numbers(question.split("key: ")[1].split("\n")[0])
        assert int(answer) == int(np.argmin(keys))
    for question, answer in RECORDED["insertion_sort"]:
        keys = numbers(question.split("key: ")[1].split("\n")[0])
        assert numbers(answer.strip()) == sorted(keys)


def test_texts_come_back_from_numbers() -> None:
    examples = [*RECORDED["minimum"], *RECORDED["insertion_sort"]]
    texts = clrs_text.encode(examples, 100)
    assert texts.characters.shape == (4, 100)
    for row, asked, example in zip(*texts, examples, strict=True):
        assert clrs_text.decode(row) == example.question + example.answer
        assert clrs_text.decode(row[asked]) == example.answer
        assert row[-1] > 0  # all texts end together


@pytest.mark.parametrize(
    ("examples", "length", "words"),
    [
        ([], None, "examples must be at least one"),
        ([Example("abc:\n", "1\n\n")], 7, "length must be at least 8"),
        ([Example("é", "1")], None, "text must be made of the characters of ALPHABET"),
    ],
)
def test_what_cannot_be_numbered_is_refused(examples, length, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        clrs_text.encode(examples, length)
