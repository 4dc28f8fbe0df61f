"""Single-location regression: laws of what is sampled, and arguments."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sharp_attention.tasks.single_location import (
    MaxSLR,
    SpikedSLR,
    check_task,
    draw_teachers,
    sample,
)

DIM, MANY = 40, 20_000
BOTH = [SpikedSLR(2.0, 3), MaxSLR(2.0, 3)]


def fields(samples):
    """Scores and values of the teachers, (samples, tokens)."""
    scale = samples.key.size**-0.5
    return (
        scale * np.asarray(samples.tokens @ samples.key),
        scale * np.asarray(samples.tokens @ samples.value),
    )


def assert_mean(values, right, axis=0):
    """Five standard errors."""
    count = values.shape[axis]
    error = values.std(axis=axis) / math.sqrt(count)
    assert (np.abs(values.mean(axis=axis) - right) < 5 * error + 1e-6).all()


def test_teachers():
    key, value = draw_teachers(jax.random.key(0), 300)
    assert key @ key == pytest.approx(300, rel=1e-6)
    assert value @ value == pytest.approx(300, rel=1e-6)
    assert abs(key @ value) < 1e-4
    other, _ = draw_teachers(jax.random.key(1), 300)
    assert abs(key @ other) < 5 * math.sqrt(300)


@pytest.mark.parametrize("task", BOTH, ids=["spiked", "max"])
def test_shapes_and_the_target(task):
    samples = sample(jax.random.key(0), task, DIM, 7)
    assert samples.tokens.shape == (7, 3, DIM)
    assert samples.tokens.dtype == jnp.float32
    _, values = fields(samples)
    chosen = values[np.arange(7), np.asarray(samples.position)]
    np.testing.assert_allclose(samples.target, chosen, rtol=1e-5)
    again = sample(jax.random.key(0), task, DIM, 7)
    np.testing.assert_array_equal(again.tokens, samples.tokens)


def test_the_spike():
    samples = sample(jax.random.key(0), SpikedSLR(4.0, 3), DIM, MANY)
    scores, values = fields(samples)
    position = np.asarray(samples.position)
    assert_mean(position == 1, 1 / 3)
    own = scores[np.arange(MANY), position]
    assert_mean(own, 2.0)
    assert_mean((own - 2.0) ** 2, 1.0)
    rest = scores[np.arange(MANY), (position + 1) % 3]
    assert_mean(rest, 0.0)
    assert_mean(rest**2, 1.0)
    assert_mean(values[np.arange(MANY), position], 0.0)
    other = np.asarray(samples.tokens)[:, 0] @ np.eye(DIM)[0]
    # One entry is shifted by sqrt(nu / D) k*_1 where the first token counts.
    shift = math.sqrt(4.0 / DIM) * float(samples.key[0]) / 3
    assert_mean(other, shift)


@pytest.mark.parametrize("signal", [0.0, 2.0, math.inf])
def test_the_chosen_token_of_the_max_task(signal):
    samples = sample(jax.random.key(0), MaxSLR(signal, 3), DIM, MANY)
    scores, _ = fields(samples)
    position = np.asarray(samples.position)
    assert_mean(scores, 0.0)
    assert_mean(scores**2, 1.0)
    if math.isinf(signal):
        np.testing.assert_array_equal(position, scores.argmax(axis=1))
        return
    odds = np.exp(signal * scores)
    posterior = odds / odds.sum(axis=1, keepdims=True)
    is_chosen = position[:, None] == np.arange(3)
    # Calibrated: on the whole, and where the posterior is large.
    assert_mean((is_chosen - posterior) * posterior, 0.0)
    assert_mean(is_chosen[:, 0] - posterior[:, 0], 0.0)


def test_random_lengths():
    samples = sample(jax.random.key(0), SpikedSLR(1.0, {1: 0.25, 4: 0.75}), DIM, MANY)
    length = np.asarray(samples.length)
    assert set(length.tolist()) == {1, 4}
    assert_mean(length == 4, 0.75)
    assert (np.asarray(samples.position) < length).all()
    assert not np.asarray(samples.tokens)[length == 1, 1:].any()
    np.testing.assert_array_equal(samples.mask.sum(axis=1), length)


def test_label_noise():
    samples = sample(jax.random.key(0), MaxSLR(1.0, 2, noise=0.5), DIM, MANY)
    _, values = fields(samples)
    chosen = values[np.arange(MANY), np.asarray(samples.position)]
    assert_mean((np.asarray(samples.target) - chosen) ** 2, 0.25)


def test_given_teachers_and_many_dimensions():
    key, value = draw_teachers(jax.random.key(5), 10_000)
    samples = sample(jax.random.key(0), SpikedSLR(1.0, 2), 10_000, 3, (key, value))
    np.testing.assert_array_equal(samples.key, key)
    assert samples.tokens.shape == (3, 2, 10_000)


def test_lengths():
    task = SpikedSLR(1.0, {2: 0.5, 10**60: 0.5, 7: 0.0})
    assert task.length_probabilities == {2: 0.5, 10**60: 0.5}
    assert task.max_length == 10**60
    assert task.mean_length == pytest.approx(5e59)
    assert SpikedSLR(1.0, 10**400).mean_length == math.inf
    assert MaxSLR(1.0, 4).length_probabilities == {4: 1.0}


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: SpikedSLR(-1.0, 3), ValueError, "signal must be >= 0"),
        (lambda: MaxSLR(-1.0, 3), ValueError, "signal must be >= 0"),
        (lambda: SpikedSLR(math.inf, 3), ValueError, "signal must be finite"),
        (lambda: MaxSLR(math.nan, 3), ValueError, "signal must be a number"),
        (lambda: SpikedSLR(1.0, 0), ValueError, "lengths must be >= 1"),
        (lambda: SpikedSLR(1.0, {}), ValueError, "lengths must be an integer or"),
        (lambda: SpikedSLR(1.0, {0: 1.0}), ValueError, "lengths must be >= 1"),
        (lambda: SpikedSLR(1.0, {2: 0.5, 3: 0.4}), ValueError, "they sum to 0.9"),
        (
            lambda: SpikedSLR(1.0, {2: 1.5, 3: -0.5}),
            ValueError,
            "probability of length",
        ),
        (lambda: MaxSLR(1.0, 3, noise=-0.1), ValueError, "noise must be >= 0"),
    ],
)
def test_bad_tasks(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    ("task", "dim", "count", "teacher", "message"),
    [
        (SpikedSLR(1.0, 3), 1, 5, None, "dim must be >= 2"),
        (SpikedSLR(1.0, 3), 8, 0, None, "num_samples must be >= 1"),
        (SpikedSLR(1.0, 10**10), 8, 5, None, "lengths must be < 2"),
        (SpikedSLR(1.0, 3), 8, 5, (np.ones(7), np.ones(8)), "teacher must be two"),
        (SpikedSLR(1.0, 3), 8, 5, (np.ones(8), np.full(8, np.nan)), "teacher must be"),
    ],
)
def test_bad_samples(task, dim, count, teacher, message):
    with pytest.raises(ValueError, match=message):
        sample(jax.random.key(0), task, dim, count, teacher)


def test_what_is_no_task_is_named():
    check_task(SpikedSLR(1.0, 3))
    with pytest.raises(TypeError, match="task must be a SpikedSLR or a MaxSLR"):
        check_task(3)
