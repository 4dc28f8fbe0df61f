"""What an exercise is, and the list of all of them.

An exercise is declared once, as a decorator of the function that answers it rightly.
The stub that readers fill in is made from that function's name, arguments and
docstring, so that book, student edition and checker can't differ.
"""

import difflib
import importlib
import inspect
import pkgutil
import sys
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sharp_attention._checks import require

__all__ = ["Answer", "Exercise", "Property", "exercise", "exercises", "find", "stub"]

Answer = Callable[..., Any]
"""What a reader hands in: a function that returns numbers."""

Property = Callable[..., str | None]
"""Told (answer's values, the case's arguments...); returns a symptom, or None."""


@dataclass(frozen=True)
class Exercise:
    """A code exercise.

    Attributes
    ----------
    name : "chapter/short-name"
    right : the function that answers it; its docstring is the reader's task
    cases : arguments to try, each under the words that a message has for them,
        the simplest first
    lookalikes : for each symptom a wrong function that shows it
    properties : what right values have, and a wrong answer may lack
    tolerance : relative to the largest right value of a case
    """

    name: str
    right: Answer
    cases: Mapping[str, tuple[Any, ...]]
    lookalikes: Mapping[str, Answer]
    properties: tuple[Property, ...]
    tolerance: float

    @property
    def chapter(self) -> str:
        """File name of the chapter, without ending."""
        return self.name.split("/")[0]

    @property
    def function(self) -> str:
        """Name of the function that the reader writes."""
        return self.right.__name__


_EXERCISES: dict[str, Exercise] = {}

SINGLE_PRECISION = 1e-5
"""A reader's answer may be computed in float32."""


def exercise(
    name: str,
    *,
    cases: Mapping[str, tuple[Any, ...]],
    lookalikes: Mapping[str, Answer],
    properties: tuple[Property, ...] = (),
    tolerance: float = SINGLE_PRECISION,
) -> Callable[[Answer], Answer]:
    """Enter an exercise in the list; decorates the function that answers it."""

    def enter(right: Answer) -> Answer:
        require(name not in _EXERCISES, "name", "unique among the exercises", name)
        require(name.count("/") == 1, "name", "chapter/short-name", name)
        _EXERCISES[name] = Exercise(
            name, right, cases, lookalikes, properties, tolerance
        )
        return right

    return enter


def exercises() -> list[Exercise]:
    """All exercises, chapter by chapter."""
    package = sys.modules[__name__].__package__ or ""
    for module in pkgutil.iter_modules(sys.modules[package].__path__):
        importlib.import_module(f"{package}.{module.name}")
    return list(_EXERCISES.values())


def find(name: str) -> Exercise:
    """Return the exercise of that name.

    Raises
    ------
    ValueError
        If there is none; the message has the nearest names.
    """
    known = {found.name: found for found in exercises()}
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.3) or sorted(known)
    require(name in known, "name", f"an exercise, such as {', '.join(near)}", name)
    return known[name]


def stub(name: str) -> str:
    """Return the code cell that a reader fills in, the check at its end."""
    found = find(name)
    parameters = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in inspect.signature(found.right).parameters.values()
    ]
    task = inspect.getdoc(found.right) or ""
    ending = "\n" if "\n" in task else ""
    body = textwrap.indent(f'"""{task}{ending}"""\n...', "    ")
    return (
        "from sharp_attention.exercises import check\n\n\n"
        f"def {found.function}{inspect.Signature(parameters)}:\n"
        f"{body}\n\n\n"
        f'check("{name}", {found.function})'
    )
