"""Risks of maps that escape dispersion: against sampling, limits, the Bayes risk."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from sharp_attention.attention import activations, escapes
from sharp_attention.tasks.single_location import SpikedSLR
from sharp_attention.theory.single_location import escape_risks, population

SIGNAL, LENGTH = 4.0, 5
TASK = SpikedSLR(SIGNAL, LENGTH)


def windowed(scores: np.ndarray) -> np.ndarray:
    near = np.asarray(activations.softmax(1.5 * scores[:, :3]))
    return np.pad(near, ((0, 0), (0, LENGTH - 3)))


def sampled(weigh: Callable, length: int) -> tuple[float, float]:
    """Risk at the best read-out, with its standard error."""
    rng = np.random.default_rng(length)
    count = 100_000
    scores = rng.standard_normal((count, length)).astype(np.float32)
    needle = rng.integers(length, size=count)
    scores[np.arange(count), needle] += math.sqrt(SIGNAL)
    weights = np.asarray(weigh(scores), np.float64)
    kept, squares = weights[np.arange(count), needle], np.sum(weights**2, axis=1)
    read_out = kept.mean() / squares.mean()
    # At the best read-out the risk does not depend on it to first order.
    losses = 1 - 2 * read_out * kept + read_out**2 * squares
    return float(losses.mean()), float(losses.std() / math.sqrt(count))


CASES = {
    "stick-breaking": (
        lambda x: activations.stick_breaking(1.3 * x - 0.7),
        LENGTH,
        lambda: escape_risks.stick_breaking(TASK, 1.3, -0.7),
    ),
    "windowed": (windowed, LENGTH, lambda: escape_risks.windowed(TASK, 3, 1.5)),
    "hard": (escapes.hard, LENGTH, lambda: escape_risks.hard(TASK)),
    "log-n": (
        lambda x: activations.scalable_softmax(x, scale=0.9),
        LENGTH,
        lambda: escape_risks.log_n(TASK, 0.9),
    ),
    "sparsemax": (
        lambda x: activations.sparsemax(0.9 * x),
        2,
        lambda: escape_risks.two_tokens(SIGNAL, "sparsemax", 0.9),
    ),
    "entmax-1.5": (
        lambda x: activations.entmax(0.9 * x),
        2,
        lambda: escape_risks.two_tokens(SIGNAL, "entmax-1.5", 0.9),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_exact_risk_is_the_sampled_one(name: str) -> None:
    weigh, length, exact = CASES[name]
    value = exact()
    mean, error = sampled(weigh, length)
    assert abs(mean - value) < 5 * error


@pytest.mark.medium
def test_log_n_is_softmax_at_one_length_and_not_at_two() -> None:
    risk, sharpness = escape_risks.best_log_n(TASK)
    assert risk == pytest.approx(population.bayes_risk(TASK), abs=1e-9)
    assert sharpness * math.log(LENGTH) == pytest.approx(2.0, rel=1e-3)
    mixed = SpikedSLR(SIGNAL, {2: 0.5, 32: 0.5})
    assert escape_risks.best_log_n(mixed)[0] > population.bayes_risk(mixed) + 0.01


def test_whole_window_is_softmax() -> None:
    risk, _ = escape_risks.best_windowed(TASK, LENGTH)
    assert risk == pytest.approx(population.bayes_risk(TASK), abs=1e-9)


@pytest.mark.parametrize("name", ["sparsemax", "entmax-1.5"])
def test_steep_sparse_maps_are_the_hard_maximum(name: str) -> None:
    steep = escape_risks.two_tokens(SIGNAL, name, 1e5)
    hard = escape_risks.hard(SpikedSLR(SIGNAL, 2))
    assert steep == pytest.approx(hard, abs=1e-4)
    best, _ = escape_risks.best_two_tokens(SIGNAL, name)
    assert population.bayes_risk(SpikedSLR(SIGNAL, 2)) < best < hard


def test_best_stick_breaking_is_a_minimum() -> None:
    risk, slope, offset = escape_risks.best_stick_breaking(TASK)
    assert population.bayes_risk(TASK) < risk < 1 - 1 / LENGTH
    for d_slope, d_offset in ((0.05, 0), (-0.05, 0), (0, 0.05), (0, -0.05)):
        near = escape_risks.stick_breaking(TASK, slope + d_slope, offset + d_offset)
        assert near > risk


def test_one_token_is_always_found() -> None:
    one = SpikedSLR(SIGNAL, 1)
    assert escape_risks.windowed(one, 1, 1.0) == pytest.approx(0, abs=1e-12)


def test_bad_arguments() -> None:
    mixed = SpikedSLR(SIGNAL, {2: 0.5, 32: 0.5})
    with pytest.raises(ValueError, match="task must be of one length"):
        escape_risks.stick_breaking(mixed, 1.0)
    with pytest.raises(ValueError, match="width must be at most 5"):
        escape_risks.windowed(TASK, 6, 1.0)
    with pytest.raises(ValueError, match="name must be one of"):
        escape_risks.two_tokens(SIGNAL, "softmax", 1.0)
    with pytest.raises(ValueError, match="slope must be > 0"):
        escape_risks.two_tokens(SIGNAL, "sparsemax", 0.0)
