"""Checkers for the exercises of the book: they name a symptom, not the answer.

One module per chapter declares that chapter's exercises; modules are found by
themselves, so that a new chapter is a new file and nothing else.
"""

from sharp_attention.exercises.checking import WrongAnswerError, check, diagnose
from sharp_attention.exercises.registry import Exercise, exercises, find, stub

__all__ = [
    "Exercise",
    "WrongAnswerError",
    "check",
    "diagnose",
    "exercises",
    "find",
    "stub",
]
