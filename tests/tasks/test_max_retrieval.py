"""Max retrieval: sets are what the task says, and the answer is the maximum's class."""

import jax
import numpy as np
import pytest

from sharp_attention.tasks import max_retrieval

SIZE, SMALLEST, NUM_SETS = 16, 5, 2000


def draw(seed: int, **options: object) -> max_retrieval.Sets:
    return max_retrieval.sample(jax.random.key(seed), NUM_SETS, SIZE, **options)


@pytest.fixture(scope="module")
def sets() -> max_retrieval.Sets:
    return draw(0)


@pytest.fixture(scope="module")
def batches() -> list[max_retrieval.Sets]:
    keys = jax.random.split(jax.random.key(1), 150)
    return [max_retrieval.sample(key, 4, SIZE, smallest_size=SMALLEST) for key in keys]


def test_target_is_the_class_of_the_largest_priority(sets) -> None:
    rows = zip(*(np.asarray(column) for column in sets), strict=True)
    for priority, item_class, _, where, target in rows:
        assert where.all()
        assert target == item_class[priority.argmax()]


def test_winner_is_the_largest_among_the_items_that_are_there(batches) -> None:
    for sets in batches:
        size = int(sets.where[0].sum())
        priority = np.asarray(sets.priority)[:, :size]
        np.testing.assert_array_equal(sets.winner, priority.argmax(axis=-1))
        chosen = np.asarray(sets.item_class)[np.arange(4), np.asarray(sets.winner)]
        np.testing.assert_array_equal(sets.target, chosen)


def test_a_batch_has_one_size_and_its_items_come_first(batches) -> None:
    for sets in batches:
        where = np.asarray(sets.where)
        assert (where == where[0]).all()
        assert (np.diff(where[0].astype(int)) <= 0).all()


def test_sizes_are_uniform_from_the_smallest_to_the_largest(batches) -> None:
    sizes = np.array([int(sets.where[0].sum()) for sets in batches])
    counts = np.bincount(sizes, minlength=SIZE + 1)
    assert counts[:SMALLEST].sum() == 0
    assert (counts[SMALLEST:] > 0).all()
    mean, deviation = (SMALLEST + SIZE) / 2, np.sqrt((12**2 - 1) / 12)
    assert abs(sizes.mean() - mean) < 5 * deviation / np.sqrt(len(sizes))


@pytest.mark.parametrize("column", ["priority", "query"])
def test_numbers_are_uniform_on_the_unit_interval(sets, column) -> None:
    values = np.asarray(getattr(sets, column)).ravel()
    error = 5 / np.sqrt(12 * values.size)
    assert values.min() >= 0
    assert values.max() < 1
    assert abs(values.mean() - 0.5) < error
    assert abs(values.var() - 1 / 12) < 5 * np.sqrt(1 / 180 / values.size)


def test_classes_are_equally_likely_and_say_nothing_of_priority(sets) -> None:
    classes = np.asarray(sets.item_class)
    shares = np.bincount(classes.ravel(), minlength=10) / classes.size
    assert abs(shares - 0.1).max() < 5 * np.sqrt(0.09 / classes.size)
    correlation = np.corrcoef(classes.ravel(), np.asarray(sets.priority).ravel())[0, 1]
    assert abs(correlation) < 5 / np.sqrt(classes.size)


def test_the_query_says_nothing_of_the_target(sets) -> None:
    correlation = np.corrcoef(sets.query, sets.target)[0, 1]
    assert abs(correlation) < 5 / np.sqrt(NUM_SETS)


def test_sets_depend_on_the_key_alone(sets) -> None:
    again, other = draw(0), draw(2)
    assert all(np.array_equal(a, b) for a, b in zip(sets, again, strict=True))
    assert not np.array_equal(sets.priority, other.priority)


def test_features_are_priority_and_class(sets) -> None:
    features = np.asarray(max_retrieval.item_features(sets))
    assert features.shape == (NUM_SETS, SIZE, 11)
    np.testing.assert_array_equal(features[..., 0], sets.priority)
    assert (features[..., 1:].sum(axis=-1) == 1).all()
    np.testing.assert_array_equal(features[..., 1:].argmax(axis=-1), sets.item_class)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [((0, 16), "num_sets must be >= 1"), ((4, 0), "num_items must be >= 1")],
)
def test_bad_sizes(arguments, words) -> None:
    with pytest.raises(ValueError, match=words):
        max_retrieval.sample(jax.random.key(0), *arguments)


@pytest.mark.parametrize(
    ("smallest", "words"),
    [
        (0, "smallest_size must be >= 1"),
        (17, "smallest_size must be at most num_items = 16; received 17"),
    ],
)
def test_bad_smallest_size(smallest, words) -> None:
    with pytest.raises(ValueError, match=words):
        draw(0, smallest_size=smallest)
