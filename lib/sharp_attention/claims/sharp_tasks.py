"""Claims about sharp functions, and why heads of bounded spread must fail on them."""

import functools
import math
from collections.abc import Callable

import numpy as np

from sharp_attention._typing import Float64
from sharp_attention.claims import _weights
from sharp_attention.claims.registry import Measurement, declare
from sharp_attention.models import random_transformer
from sharp_attention.theory import dispersion, sharpness

__all__: list[str] = []

_definition = functools.partial(
    declare,
    paper="softmax-not-enough",
    place="section 1",
    chapter="sharp-functions",
    confidence="A",
)
_corollary = functools.partial(
    declare,
    paper="softmax-not-enough",
    place="corollary in appendix B (name and number unconfirmed)",
    chapter="dispersion-lemma",
    confidence="A",
)
_ours = functools.partial(_corollary, paper="ours", confidence="D")
_SIZES = (4, 17, 64, 256)


def _counts(function: Callable[[np.ndarray], object]) -> Float64:
    """How many of n distinct numbers the function hangs on, for several n."""
    rng = np.random.default_rng(0)
    rows = [rng.uniform(size=size) for size in _SIZES]
    return np.array(
        [sharpness.sensitive_items(function, row, row + 1e-9) for row in rows],
        dtype=np.float64,
    )


@_definition(
    "sharp-functions-hang-on-one",
    statement="Maximum, minimum and look-up hang on one item, however many there are "
    "(measured: largest number of items).",
    quoted_value=1.0,
)
def _sharp_functions_hang_on_one() -> Measurement:
    functions = (np.max, np.min, lambda row: row[3])
    return Measurement(float(max(_counts(function).max() for function in functions)))


@_definition(
    "average-hangs-on-all",
    statement="The average hangs on all items (measured: smallest share of them).",
    quoted_value=1.0,
)
def _average_hangs_on_all() -> Measurement:
    return Measurement(float((_counts(np.mean) / np.array(_SIZES)).min()))


def _moved_by_one_item() -> Float64:
    """How far one item among 24 moves a head's output, over the values' diameter."""
    rng = np.random.default_rng(0)
    logits, values = rng.uniform(0, 3, (500, 2, 24)), rng.normal(size=(500, 2, 24, 4))
    logits[:, 1, 1:], values[:, 1, 1:] = logits[:, 0, 1:], values[:, 0, 1:]
    outputs = np.einsum("bin,bind->bid", _weights.softmax(logits), values)
    union = values.reshape(500, 48, 4)
    distances = np.linalg.norm(union[:, :, None] - union[:, None], axis=-1)
    gaps = np.linalg.norm(outputs[:, 0] - outputs[:, 1], axis=-1)
    return np.asarray(gaps / distances.max(axis=(1, 2)))


@_ours(
    "output-gap-bound",
    statement="Two inputs that differ in one item only have attention outputs no "
    "further apart than the largest possible weight times the diameter of the values "
    "(measured: largest distance over bound).",
    quoted_value=1.0,
    comparison="at most",
    tolerance=1e-12,
)
def _output_gap_bound() -> Measurement:
    bound = dispersion.output_gap_bound(3.0, 24, 1.0)
    return Measurement(float((_moved_by_one_item() / bound).max()))


@_ours(
    "output-gap-rate",
    statement="That distance falls at least like exp(delta/theta)/n (measured: largest "
    "bound over this, for the diameter 1).",
    quoted_value=1.0,
    comparison="at most",
    tolerance=1e-12,
)
def _output_gap_rate() -> Measurement:
    ratios = [
        dispersion.output_gap_bound(spread, size, 1.0) * size / math.exp(spread)
        for spread in (0.0, 3.0, 10.0)
        for size in (1, 16, 10**9)
    ]
    return Measurement(float(max(ratios)))


@_corollary(
    "labels-become-inseparable",
    statement="A whole random transformer moves its output less and less when one "
    "token, and with it the right answer, changes (measured: distance at 10,000 items "
    "over that at 100).",
    quoted_value=0.02,
    comparison="at most",
)
def _labels_become_inseparable() -> Measurement:
    model = random_transformer.RandomTransformer.initialise(0)
    gaps = []
    for size in (100, 10_000):
        crowd = np.full(16, (size - 1) / 14)
        crowd[:2] = 0.0
        outputs = [
            random_transformer.evaluate_counts(model, crowd + np.eye(16)[winner]).output
            for winner in (0, 1)
        ]
        gaps.append(float(np.linalg.norm(outputs[0][2] - outputs[1][2])))
    return Measurement(gaps[1] / gaps[0])
