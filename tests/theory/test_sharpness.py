"""Which functions hang on a bounded number of items, and which on all."""

import numpy as np
import pytest

from sharp_attention.theory.sharpness import sensitive_items

SIZES = [4, 17, 64]


def numbers(size: int) -> tuple[np.ndarray, np.ndarray]:
    items = np.random.default_rng(size).uniform(size=size)
    return items, items + 1e-9


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("function", "count"),
    [
        pytest.param(np.max, 1, id="maximum"),
        pytest.param(np.min, 1, id="minimum"),
        pytest.param(lambda x: x[2], 1, id="lookup"),
        pytest.param(lambda x: np.sort(x)[-2], 1, id="runner-up"),
        pytest.param(np.ptp, 2, id="range"),
        pytest.param(np.argmax, 0, id="place-of-the-maximum"),
        pytest.param(lambda x: 7.0, 0, id="constant"),
    ],
)
def test_sharp_functions(function, count, size):
    assert sensitive_items(function, *numbers(size)) == count


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "function", [np.mean, np.sum, np.std], ids=["mean", "sum", "std"]
)
def test_functions_of_all_items(function, size):
    assert sensitive_items(function, *numbers(size)) == size


@pytest.mark.parametrize("size", SIZES)
def test_parity_hangs_on_every_bit(size):
    bits = np.arange(size) % 3 == 0
    assert sensitive_items(lambda b: b.sum() % 2, bits, ~bits) == size


def test_and_hangs_on_all_or_on_one():
    """The count belongs to the input: one 0 among many hides the others."""
    assert sensitive_items(np.all, np.ones(9, bool), np.zeros(9, bool)) == 9
    one_false = np.arange(9) > 0
    assert sensitive_items(np.all, one_false, ~one_false) == 1


def test_items_with_features():
    """Class of the item of largest priority: only the winner's class matters."""
    items = np.array([[0.1, 0], [0.9, 1], [0.5, 2]])
    reclassed = items + np.array([0.0, 5.0])
    assert sensitive_items(lambda x: x[x[:, 0].argmax(), 1], items, reclassed) == 1


def test_integer_items_take_real_replacements():
    assert sensitive_items(np.max, [1, 2, 3], [1.5, 2.5, 3.5]) == 1


@pytest.mark.parametrize(
    ("items", "replacements", "text"),
    [
        pytest.param([], [], "items must be", id="no-items"),
        pytest.param(1.0, 1.0, "items must be", id="scalar"),
        pytest.param([1, 2], [1], "replacements must be", id="shape"),
    ],
)
def test_bad_input(items, replacements, text):
    with pytest.raises(ValueError, match=text):
        sensitive_items(np.max, items, replacements)
