"""Hold a reader's answer against an exercise and say what is wrong with it."""

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sharp_attention.exercises.registry import Answer, Exercise, find

__all__ = ["EMPTY", "WrongAnswerError", "check", "diagnose"]

EMPTY = "is still empty"


class WrongAnswerError(Exception):
    """An answer does not pass; the message names the symptom."""

    def _render_traceback_(self) -> list[str]:
        # What a notebook shows: the message, without the inside of the checker.
        return [f"Not yet. {self}"]


class _Unusable(Exception):
    """The answer gives no numbers to compare; the message says why."""


def check(name: str, answer: Any) -> None:
    """Print that an answer passes, or say what is wrong with it.

    An answer that is still empty is told so, and no more, so that a notebook with
    empty answers runs to its end.

    Parameters
    ----------
    name : the exercise, "chapter/short-name"
    answer : the function itself, not its value

    Raises
    ------
    WrongAnswerError
        If the answer is wrong.
    ValueError
        If there is no exercise of that name.
    """
    message = diagnose(name, answer)
    if message is None:
        cases = list(find(name).cases)
        print(f"Right: {find(name).function} passes ({', '.join(cases)}).")
    elif EMPTY in message:
        print(message)
    else:
        raise WrongAnswerError(message)


def diagnose(name: str, answer: Any) -> str | None:
    """Return the symptom of a wrong answer, None for a right one.

    The symptoms are tried from the telling to the general: the exercise's own
    lookalikes, properties of right values, shape and NaN, then sign, factor, offset,
    and at last the first case in which the answer is wrong.
    """
    exercise = find(name)
    if not callable(answer):
        kind = type(answer).__name__
        return f"check needs the function {exercise.function}, not a {kind}."
    try:
        got = _values(exercise, answer)
    except _Unusable as unusable:
        return str(unusable)
    right = _values(exercise, exercise.right)
    if _agree(exercise, got, right):
        return None
    return next(_symptoms(exercise, got, right))


def _values(exercise: Exercise, answer: Answer) -> list[np.ndarray]:
    """Return the answer's values in all cases, or raise what stands in the way."""
    return [
        _value(exercise, answer, label, arguments)
        for label, arguments in exercise.cases.items()
    ]


def _value(
    exercise: Exercise, answer: Answer, label: str, arguments: tuple[Any, ...]
) -> np.ndarray:
    name = exercise.function
    # An answer that changes its arguments must not spoil the next one's.
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            value = answer(*copies)
    except NotImplementedError:
        raise _Unusable(f"{name} {EMPTY}: it raises NotImplementedError.") from None
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        raise _Unusable(f"{name} stops with an error for {label}: {told}") from error
    if value is None or value is ...:
        raise _Unusable(f"{name} {EMPTY}: it returns nothing for {label}.")
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        kind = type(value).__name__
        raise _Unusable(f"{name} returns a {kind}, not numbers, for {label}.") from None


def _agree(
    exercise: Exercise, got: Sequence[np.ndarray], right: Sequence[np.ndarray]
) -> bool:
    return all(
        _close(g, r, exercise.tolerance) for g, r in zip(got, right, strict=True)
    )


def _close(got: np.ndarray, right: np.ndarray, tolerance: float) -> bool:
    if got.shape != right.shape:
        return False
    finite = np.abs(right[np.isfinite(right)])
    # A zero that rounding has left at 1e-16 sets no scale.
    scale = largest if (largest := float(finite.max(initial=0.0))) > 1e-12 else 1.0
    close = np.isclose(got, right, rtol=0, atol=tolerance * scale, equal_nan=True)
    return bool(close.all())


def _symptoms(
    exercise: Exercise, got: list[np.ndarray], right: list[np.ndarray]
) -> Iterator[str]:
    yield from _lookalikes(exercise, got)
    wrong = [
        (label, arguments, g, r)
        for (label, arguments), g, r in zip(
            exercise.cases.items(), got, right, strict=True
        )
        if not _close(g, r, exercise.tolerance)
    ]
    for label, arguments, g, r in wrong:
        if g.shape != r.shape:
            yield f"For {label} the answer has the shape {g.shape}, not {r.shape}."
        if np.isnan(g).any() and not np.isnan(r).any():
            yield f"For {label} there is a NaN: infinity minus infinity, or 0/0?"
        for symptom in (rule(g, *arguments) for rule in exercise.properties):
            if symptom is not None:
                yield f"For {label}, {symptom}"
    yield from _general(exercise, got, right)
    label, _, g, r = wrong[0]
    if label != next(iter(exercise.cases)):
        yield f"Right for {next(iter(exercise.cases))}, wrong for {label}."
    where = np.unravel_index(np.nanargmax(np.abs(g - r)), g.shape)
    side = "large" if g[where] > r[where] else "small"
    place = f" at index {tuple(map(int, where))}" if where else ""
    yield f"For {label} the answer{place} is {g[where]:.3g}, which is too {side}."


def _lookalikes(exercise: Exercise, got: list[np.ndarray]) -> Iterator[str]:
    for symptom, wrong in exercise.lookalikes.items():
        if _agree(exercise, got, _values(exercise, wrong)):
            yield symptom


def _general(
    exercise: Exercise, got: list[np.ndarray], right: list[np.ndarray]
) -> Iterator[str]:
    """Yield the symptoms that all cases share: sign, factor, offset."""
    g, r = (np.concatenate([v.ravel() for v in values]) for values in (got, right))
    if len(g) < 2 or not (np.isfinite(g).all() and np.isfinite(r).all()):
        return
    if _close(-g, r, exercise.tolerance):
        yield "The size is right everywhere, and the sign is wrong."
    factor = float(g @ r / (r @ r)) if r.any() else 0.0
    if factor and _close(g / factor, r, exercise.tolerance):
        yield "Every value is off by one and the same factor: is a constant missing?"
    if _close(g - np.mean(g - r), r, exercise.tolerance):
        yield "Every value is off by one and the same amount."
