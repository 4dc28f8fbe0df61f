import math

import pytest

from sharp_attention.claims import registry
from sharp_attention.claims.registry import Measurement
from toy_claims import statement


@pytest.fixture
def empty_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_STATEMENTS", {})


AGREES = [
    pytest.param("equal", 0.5, 0.0, 0.5, None, id="equal"),
    pytest.param("equal", 0.5, 0.1, 0.6, None, id="equal at the tolerance"),
    pytest.param("equal", 0.5, 0.0, 0.9, (0.4, 1.2), id="within the interval"),
    pytest.param("equal", 0.5, 0.1, 0.9, (0.6, 1.2), id="interval and tolerance"),
    pytest.param("at most", 0.5, 0.0, 0.5, None, id="at the bound from below"),
    pytest.param("at most", 0.5, 0.0, -9.0, None, id="far below the bound"),
    pytest.param("at most", 0.5, 0.0, 0.3, (0.1, 0.5), id="whole interval below"),
    pytest.param("at least", 0.5, 0.0, 0.5, None, id="at the bound from above"),
    pytest.param("at least", 0.5, 0.0, 9.0, None, id="far above the bound"),
    pytest.param("at least", 0.5, 0.1, 0.4, None, id="below within the tolerance"),
    pytest.param("at most", math.inf, 0.0, 9.0, None, id="no bound"),
]

DIFFERS = [
    pytest.param("equal", 0.5, 0.1, 0.601, None, id="beyond the tolerance"),
    pytest.param("equal", 0.5, 0.0, 0.9, (0.6, 1.2), id="interval misses"),
    pytest.param("equal", 0.5, 0.1, math.nan, None, id="NaN is never equal"),
    pytest.param("at most", 0.5, 0.0, math.nan, None, id="NaN is not at most"),
    pytest.param("at least", 0.5, 0.0, math.nan, None, id="NaN is not at least"),
    pytest.param("equal", 0.5, 0.0, 0.5, (math.nan, math.nan), id="NaN interval"),
    pytest.param("at most", 0.5, 0.0, 0.4, (0.3, 0.6), id="interval above the bound"),
    pytest.param("at least", 0.5, 0.0, 0.6, (0.4, 0.7), id="interval below the bound"),
    pytest.param("at least", 0.5, 0.0, 0.4999, None, id="a little too low"),
    pytest.param("at most", 0.5, 0.0, math.inf, None, id="infinite"),
]


def verdict(comparison, quoted, tolerance, measured, interval, **changes) -> str:
    entry = statement(
        measured,
        interval,
        comparison=comparison,
        quoted_value=quoted,
        tolerance=tolerance,
        **changes,
    )
    return registry.evaluate(entry).status


@pytest.mark.parametrize(
    ("comparison", "quoted", "tolerance", "measured", "interval"), AGREES
)
def test_reproduced(comparison, quoted, tolerance, measured, interval) -> None:
    assert verdict(comparison, quoted, tolerance, measured, interval) == "reproduced"


@pytest.mark.parametrize(
    ("comparison", "quoted", "tolerance", "measured", "interval"), DIFFERS
)
def test_differs(comparison, quoted, tolerance, measured, interval) -> None:
    assert verdict(comparison, quoted, tolerance, measured, interval) == "differs"


def test_agreement_at_smaller_scale_says_so() -> None:
    small = {"smaller_scale": True, "expected": "reproduced at smaller scale"}
    at_half = ("equal", 0.5, 0.0)
    assert verdict(*at_half, 0.5, None, **small) == "reproduced at smaller scale"
    assert verdict(*at_half, 0.6, None, **small) == "differs"


def test_verdict_does_not_look_at_what_is_expected() -> None:
    assert verdict("equal", 0.5, 0.0, 0.5, None, expected="differs") == "reproduced"


def test_a_claim_carries_its_statement_and_the_measurement() -> None:
    entry = statement(0.75, (0.25, 1.0))
    claim = registry.evaluate(entry)
    for name in ("id", "paper", "place", "statement", "quoted_value", "tolerance"):
        assert getattr(claim, name) == getattr(entry, name)
    for name in ("chapter", "test", "command", "confidence", "expected"):
        assert getattr(claim, name) == getattr(entry, name)
    assert claim.computed_value == 0.75
    assert claim.interval == (0.25, 1.0)
    assert claim.seconds >= 0


def declare(id: str = "half", **changes: object):
    fields = {
        "paper": "ours",
        "place": "own derivation",
        "statement": "One half is one half.",
        "quoted_value": 0.5,
        "chapter": "dispersion-lemma",
        "confidence": "D",
    }
    return registry.declare(id, **(fields | changes))


@pytest.mark.usefixtures("empty_ledger")
class TestDeclare:
    def test_enters_the_statement_and_leaves_the_function(self) -> None:
        def half() -> Measurement:
            return Measurement(0.5)

        assert declare()(half) is half
        (entry,) = registry.statements()
        assert entry.measure is half
        subject = __name__.rsplit(".", 1)[-1]
        assert entry.test == f"tests/claims/test_{subject}.py::test_claim_holds[half]"
        assert entry.command == "sharp-attention claims --check --only half"

    def test_keeps_the_order_of_declaration(self) -> None:
        for name in ("second", "first", "third"):
            declare(name)(lambda: Measurement(0.5))
        ids = [entry.id for entry in registry.statements()]
        assert ids == ["second", "first", "third"]

    def test_refuses_an_id_twice(self) -> None:
        declare()(lambda: Measurement(0.5))
        with pytest.raises(ValueError, match="id must be unique in the ledger"):
            declare()(lambda: Measurement(0.5))

    def test_what_cannot_run_here_is_never_called(self) -> None:
        def explode() -> Measurement:
            raise AssertionError("called")

        command = "sharp-attention reproduce clrs-text --full"
        declare(expected="not run here", command=command)(explode)
        (entry,) = registry.statements()
        claim = registry.evaluate(entry)
        assert claim.status == "not run here"
        assert claim.computed_value is None
        assert claim.interval is None
        assert claim.command == command

    def test_what_cannot_run_here_needs_a_command(self) -> None:
        with pytest.raises(ValueError, match="command must be given if not run here"):
            declare(expected="not run here")(lambda: Measurement(0.5))


@pytest.mark.parametrize("tolerance", [-1e-9, math.nan])
def test_bad_tolerance_is_refused(tolerance: float) -> None:
    with pytest.raises(ValueError, match="tolerance must be >= 0"):
        statement(tolerance=tolerance)


@pytest.mark.parametrize("field", ["paper", "comparison", "confidence", "expected"])
def test_words_that_are_not_on_the_list_are_refused(field: str) -> None:
    # The type checker of the tests, or else the check of the record.
    with pytest.raises((TypeError, ValueError), match=field):
        statement(**{field: "something else"})
