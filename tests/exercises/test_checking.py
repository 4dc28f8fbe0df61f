"""What the checker says."""

import numpy as np
import pytest
from scipy import special

from sharp_attention.exercises import WrongAnswerError, check, diagnose, registry
from sharp_attention.exercises.symptoms import rows_of_weights

ROWS = np.random.default_rng(0).normal(size=(3, 3))
NAME = "toy/weights"


@pytest.fixture(autouse=True)
def toy(monkeypatch):
    registry.exercises()  # else those of the book would be entered in the copy
    monkeypatch.setattr(registry, "_EXERCISES", dict(registry._EXERCISES))

    @registry.exercise(
        NAME,
        cases={"one row": (ROWS[0],), "three rows": (ROWS,)},
        lookalikes={"The temperature is 2.": lambda e: special.softmax(e / 2, axis=-1)},
        properties=(rows_of_weights,),
    )
    def weights(logits):
        """Return the softmax of each row."""
        return special.softmax(logits, axis=-1)


def right(logits):
    return special.softmax(logits, axis=-1)


def with_nan(logits):
    return np.where(logits == logits.max(), np.nan, right(logits))


def interrupted(logits):
    raise TypeError("no such thing")


def spoiling(logits):
    logits[...] = 0
    return right(logits)


@pytest.mark.parametrize(
    ("answer", "symptom"),
    [
        (lambda e: None, "still empty"),
        (lambda e: ..., "still empty"),
        (interrupted, "TypeError: no such thing"),
        (lambda e: "weights", "a str, not numbers"),
        (lambda e: special.softmax(e / 2, axis=-1), "temperature is 2"),
        (lambda e: np.exp(e), "add up to"),
        (lambda e: -right(e), "sign"),
        (lambda e: special.softmax(e, axis=0), "wrong axis"),
        (lambda e: right(e).ravel(), "has the shape (9,), not (3, 3)"),
        (with_nan, "NaN"),
        (lambda e: right(e)[..., ::-1], "at index (0,) is 0.486, which is too large"),
        (lambda e: right(e) if e.ndim == 1 else right(e)[::-1], "wrong for three rows"),
        (spoiling, "For one row"),
    ],
)
def test_symptom_is_named(answer, symptom):
    message = diagnose(NAME, answer)
    assert message is not None
    assert symptom in message


@pytest.mark.parametrize(
    ("change", "symptom"),
    [
        (lambda x: -x, "sign is wrong"),
        (lambda x: 3 * x, "same factor"),
        (lambda x: x + 1, "same amount"),
        (lambda x: x * x, "too large"),
    ],
)
def test_symptom_of_plain_numbers(change, symptom):
    registry.exercise(
        "toy/numbers", cases={"2": (2.0,), "3": (3.0,), "5": (5.0,)}, lookalikes={}
    )(lambda x: x)
    assert diagnose("toy/numbers", lambda x: x) is None
    assert symptom in (diagnose("toy/numbers", change) or "")


def test_value_in_place_of_the_function_is_told():
    assert "needs the function weights" in (diagnose(NAME, right(ROWS)) or "")


def test_right_answer_passes(capsys):
    assert diagnose(NAME, right) is None
    check(NAME, right)
    assert capsys.readouterr().out == "Right: weights passes (one row, three rows).\n"


def test_single_precision_passes():
    assert diagnose(NAME, lambda e: right(e.astype(np.float32))) is None


def test_empty_answer_is_told_without_an_error(capsys):
    check(NAME, lambda e: None)
    assert "weights is still empty" in capsys.readouterr().out


def test_not_implemented_counts_as_empty(capsys):
    def unfinished(logits):
        raise NotImplementedError

    check(NAME, unfinished)
    assert "is still empty" in capsys.readouterr().out


def test_wrong_answer_is_an_error_without_the_inside_of_the_checker():
    with pytest.raises(WrongAnswerError, match="temperature") as caught:
        check(NAME, lambda e: special.softmax(e / 2, axis=-1))
    assert caught.value._render_traceback_() == ["Not yet. The temperature is 2."]


def test_name_can_be_given_once():
    with pytest.raises(ValueError, match="unique"):
        registry.exercise(NAME, cases={}, lookalikes={})(right)
