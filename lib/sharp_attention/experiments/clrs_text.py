"""CLRS-Text at a small scale: adaptive temperature in training and at test.

A character decoder is trained from scratch on questions of 4 to 8 items and tested on
4 to 32, task by task.
Three arms share strings, their order, places and initial weights:

arm            trained with   tested with
=============  =============  ===========
softmax        softmax        softmax
adaptive-test  softmax        adaptive temperature, the weights of ``softmax``
adaptive       adaptive       adaptive temperature

The polynomial is the paper's, and nothing is tuned on sizes beyond 8.
The criterion for a result that allows no conclusion is `clrs_table.verdict`, which was
written before any result was read.
"""

import functools
import io
from collections import Counter
from collections.abc import Sequence

import numpy as np
from safetensors.numpy import save as safetensors_bytes

from sharp_attention.experiments.clrs_scoring import evaluate
from sharp_attention.experiments.clrs_training import (
    STEPS_PER_LOSS,
    TRAINING_SIZES,
    Recipe,
    data_checksum,
    train,
    training_texts,
)
from sharp_attention.experiments.files import Row, csv_bytes
from sharp_attention.experiments.records import (
    CellResult,
    Experiment,
    Outcome,
    Parameters,
    Scale,
)
from sharp_attention.experiments.workspace import Workspace
from sharp_attention.tasks import clrs_text

__all__ = ["ARMS", "EXPERIMENT", "TASKS", "TEST_SIZES"]

ARMS = {
    "softmax": ("softmax", "softmax"),
    "adaptive-test": ("softmax", "adaptive"),
    "adaptive": ("adaptive", "adaptive"),
}
"""The rule of the weights in training and at test, arm by arm."""

TASKS = (
    "minimum",
    "binary_search",
    "quickselect",
    "insertion_sort",
    "find_maximum_subarray_kadane",
)

TEST_SIZES = (*TRAINING_SIZES, 10, 12, 16, 24, 32)

_NUM_STEPS = {
    "quick": {"minimum": 1800},
    "full": {
        "minimum": 1800,
        "binary_search": 900,
        "quickselect": 600,
        "insertion_sort": 200,
        "find_maximum_subarray_kadane": 300,
    },
}

_TEST_SEED = 20_000

_SHIPPED_SIZES = (4, 8, 12)
"""Tests of `minimum` whose texts are kept beside two models, to be read again."""


def grid(scale: Scale, seeds: Sequence[int]) -> list[Parameters]:
    """Return one cell for each task and seed; both trainings of a seed are in it."""
    if scale == "quick":
        cells = [("minimum", seed) for seed in seeds]
    else:
        # Two seeds of everything first: a run that is cut short says something of all.
        cells = [(task, seed) for task in TASKS for seed in seeds[:2]]
        cells += [(task, seed) for task in TASKS[:2] for seed in seeds[2:]]
    return [
        {
            "scale": scale,
            "algorithm": task,
            "seed": seed,
            "num_steps": _NUM_STEPS[scale][task],
            "batch": 32,
            "dim": 64,
            "num_layers": 2,
        }
        for task, seed in cells
    ]


def compute(parameters: Parameters, workspace: Workspace) -> Outcome:
    """Train under both rules, then test the three arms at every size."""
    is_quick = parameters["scale"] == "quick"
    recipe = Recipe(**{n: v for n, v in parameters.items() if n != "scale"})
    checksum = data_checksum(recipe)
    models, losses = {}, []
    for rule in ("softmax", "adaptive"):
        models[rule], curve = train(recipe, weights=rule, workspace=workspace)
        losses += _loss_rows(recipe, rule, curve)
    tests = test_texts(recipe.algorithm, 256 if is_quick else 512)
    span = span_of_training(recipe)
    majority, known_answers = _baselines(recipe, tests)
    rows: list[Row] = []
    heads: list[Row] = []
    for arm, (trained, used) in ARMS.items():
        start: Row = {"algorithm": recipe.algorithm, "seed": recipe.seed, "arm": arm}
        for size, texts in tests.items():
            row, seen = evaluate(models[trained], texts, span=span, weights=used)
            known = {"majority": majority[size], "answer_known": known_answers[size]}
            rows.append({**start, "size": size, **row, **known, "data": checksum})
            heads += [{**start, "size": size, **line} for line in seen]
    files = {"losses.csv": csv_bytes(losses), "heads.csv": csv_bytes(heads)}
    if recipe.algorithm == TASKS[0] and recipe.seed == 0:
        for rule, model in models.items():
            files[f"{rule}.safetensors"] = safetensors_bytes(model.to_arrays())
        files["texts.npz"] = _texts_bytes(tests)
    return Outcome(rows, files)


@functools.lru_cache(maxsize=2)
def test_texts(algorithm: str, num_texts: int) -> dict[int, clrs_text.Batch]:
    """Draw the questions to test with, size by size.

    Sizes that share a length of the rows share a compilation as well.
    """
    examples = {
        size: clrs_text.generate(algorithm, size, num_texts, seed=_TEST_SEED + size)
        for size in TEST_SIZES
    }
    batches = {}
    for group in ((4, 5, 6, 7, 8), (10, 12, 16), (24, 32)):
        texts = [example for size in group for example in examples[size]]
        length = clrs_text.encode(texts).characters.shape[1]
        for size in group:
            batches[size] = clrs_text.encode(examples[size], length)
    return batches


def span_of_training(recipe: Recipe) -> int:
    """Give the length of the rows in training: all places lie below it."""
    texts = training_texts(recipe.algorithm, recipe.texts_per_size)
    return texts.characters.shape[1] - 1


def _baselines(
    recipe: Recipe, tests: dict[int, clrs_text.Batch]
) -> tuple[dict[int, int], dict[int, int]]:
    """Count, size by size, the most frequent answer and the answers of training.

    Whoever always gives one answer is right in so many texts; whoever gives no answer
    that training has not shown, in at most so many.
    """
    known = set(_answers(training_texts(recipe.algorithm, recipe.texts_per_size)))
    answers = {size: _answers(texts) for size, texts in tests.items()}
    majority = {n: max(Counter(found).values()) for n, found in answers.items()}
    return majority, {n: sum(a in known for a in f) for n, f in answers.items()}


def _answers(texts: clrs_text.Batch) -> list[bytes]:
    columns = zip(texts.characters, texts.is_answer, strict=True)
    return [row[asked].tobytes() for row, asked in columns]


def _texts_bytes(tests: dict[int, clrs_text.Batch]) -> bytes:
    arrays = {}
    for size in _SHIPPED_SIZES:
        arrays[f"characters-{size}"] = tests[size].characters.astype(np.int8)
        arrays[f"is_answer-{size}"] = tests[size].is_answer
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def _loss_rows(recipe: Recipe, rule: str, losses: np.ndarray) -> list[Row]:
    return [
        {
            "algorithm": recipe.algorithm,
            "seed": recipe.seed,
            "trained_with": rule,
            "step": (place + 1) * STEPS_PER_LOSS,
            "loss": float(loss),
        }
        for place, loss in enumerate(losses)
    ]


def collect(results: Sequence[CellResult]) -> dict[str, bytes]:
    """Put all runs into one table; heads, losses and two sets of weights beside it."""
    files = {"accuracy.csv": csv_bytes([row for cell in results for row in cell.rows])}
    for name in ("heads.csv", "losses.csv"):
        tables = [cell.files[name].read_bytes().splitlines(True) for cell in results]
        lines = [line for table in tables for line in table[1:]]
        files[name] = b"".join(tables[0][:1] + lines)
    for cell in results:
        for name, path in cell.files.items():
            if name.endswith(".safetensors"):
                files[f"weights/{name}"] = path.read_bytes()
            elif name == "texts.npz":
                files[name] = path.read_bytes()
    return files


EXPERIMENT = Experiment(
    name="clrs-text",
    description="CLRS-Text from 4 to 32 items, three arms, small models from scratch.",
    version=1,
    num_seeds={"quick": 1, "full": 5},
    grid=grid,
    compute=compute,
    collect=collect,
)
