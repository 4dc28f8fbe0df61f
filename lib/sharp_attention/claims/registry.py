"""What a claim is, how its verdict is computed, and the list of all of them.

A statement of a paper is *declared* once, beside the function that measures it.
Its verdict is never typed: it follows from the quoted value, the measured one, the
tolerance and the way in which the two are to be compared.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from sharp_attention._checks import check_choice, require

__all__ = [
    "Claim",
    "Comparison",
    "Measurement",
    "Statement",
    "Status",
    "declare",
    "evaluate",
    "statements",
]

Paper = Literal["softmax-not-enough", "single-location", "ours"]
Comparison = Literal["equal", "at most", "at least"]
Confidence = Literal["A", "B", "C", "D"]
Status = Literal["reproduced", "reproduced at smaller scale", "differs", "not run here"]


@dataclass(frozen=True)
class Measurement:
    """What this library computes for a claim.

    Attributes
    ----------
    value : the computed number, in the unit of the quoted one
    interval : (low, high) around it; None where the computation is exact
    """

    value: float
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class Statement:
    """A claim as it is declared: everything but its verdict.

    Attributes
    ----------
    id : short, hyphenated, unique
    paper : which paper states it; "ours" for what goes beyond both
    place : where it stands ("Lemma 2.1", "Table 1", "first seed note")
    statement : in our own words, one sentence
    quoted_value : the number to compare with; for a property, the bound that the
        measured violation, ratio or gap is held against
    comparison : how the computed value is held against the quoted one
    tolerance : absolute
    expected : the verdict that we expect
    chapter : file name of the chapter that treats it, without ending
    confidence : of the quote, A (two sources agree) to D (derived here)
    measure : computes the value; None where it can't be run here
    command : what recomputes it, or what would run it
    smaller_scale : whether the measurement is at a smaller scale than the paper's
    """

    id: str
    paper: Paper
    place: str
    statement: str
    quoted_value: float
    comparison: Comparison
    tolerance: float
    expected: Status
    chapter: str
    confidence: Confidence
    measure: Callable[[], Measurement] | None
    command: str
    smaller_scale: bool
    test: str

    def __post_init__(self) -> None:
        check_choice("paper", self.paper, get_args(Paper))
        check_choice("comparison", self.comparison, get_args(Comparison))
        check_choice("confidence", self.confidence, get_args(Confidence))
        check_choice("expected", self.expected, get_args(Status))
        require(self.tolerance >= 0, "tolerance", ">= 0", self.tolerance)


@dataclass(frozen=True)
class Claim:
    """A statement with its verdict: one row of the ledger."""

    id: str
    paper: str
    place: str
    statement: str
    quoted_value: float
    computed_value: float | None
    interval: tuple[float, float] | None
    tolerance: float
    comparison: str
    status: Status
    expected: Status
    chapter: str
    test: str
    command: str
    seconds: float
    confidence: str


_STATEMENTS: dict[str, Statement] = {}


def declare(
    id: str,
    *,
    paper: Paper,
    place: str,
    statement: str,
    quoted_value: float,
    comparison: Comparison = "equal",
    tolerance: float = 0.0,
    expected: Status = "reproduced",
    chapter: str,
    confidence: Confidence,
    command: str | None = None,
    smaller_scale: bool = False,
) -> Callable[[Callable[[], Measurement]], Callable[[], Measurement]]:
    """Enter a statement in the ledger; decorates the function that measures it.

    A statement that can't be run here is entered with ``expected="not run here"``
    and the `command` that would run it; its function is kept for the record and
    never called.
    """

    def enter(measure: Callable[[], Measurement]) -> Callable[[], Measurement]:
        require(id not in _STATEMENTS, "id", "unique in the ledger", id)
        runs = expected != "not run here"
        require(runs or command is not None, "command", "given if not run here", None)
        subject = measure.__module__.rsplit(".", 1)[-1]
        _STATEMENTS[id] = Statement(
            id=id,
            paper=paper,
            place=place,
            statement=statement,
            quoted_value=quoted_value,
            comparison=comparison,
            tolerance=tolerance,
            expected=expected,
            chapter=chapter,
            confidence=confidence,
            measure=measure if runs else None,
            command=command or f"sharp-attention claims --check --only {id}",
            smaller_scale=smaller_scale,
            test=f"tests/claims/test_{subject}.py::test_claim_holds[{id}]",
        )
        return measure

    return enter


def statements() -> list[Statement]:
    """All statements, in the order of declaration."""
    return list(_STATEMENTS.values())


def evaluate(statement: Statement) -> Claim:
    """Measure one statement now and compute its verdict (nothing is cached here)."""
    start = time.perf_counter()
    measured = statement.measure() if statement.measure is not None else None
    seconds = time.perf_counter() - start
    return Claim(
        id=statement.id,
        paper=statement.paper,
        place=statement.place,
        statement=statement.statement,
        quoted_value=statement.quoted_value,
        computed_value=None if measured is None else float(measured.value),
        interval=None if measured is None else measured.interval,
        tolerance=statement.tolerance,
        comparison=statement.comparison,
        status=_verdict(statement, measured),
        expected=statement.expected,
        chapter=statement.chapter,
        test=statement.test,
        command=statement.command,
        seconds=seconds,
        confidence=statement.confidence,
    )


def _verdict(statement: Statement, measured: Measurement | None) -> Status:
    if measured is None:
        return "not run here"
    low, high = measured.interval or (measured.value, measured.value)
    quoted, tolerance = statement.quoted_value, statement.tolerance
    # NaN compares false everywhere, so a failed computation can only differ.
    agrees = {
        "equal": low - tolerance <= quoted <= high + tolerance,
        "at most": high <= quoted + tolerance,
        "at least": low >= quoted - tolerance,
    }[statement.comparison]
    if not agrees:
        return "differs"
    return "reproduced at smaller scale" if statement.smaller_scale else "reproduced"
