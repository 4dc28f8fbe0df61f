import json
import math
from pathlib import Path

import pytest

from sharp_attention.claims import ledger, registry
from sharp_attention.claims.registry import Measurement
from sharp_attention.experiments import places
from toy_claims import statement


class Counted:
    """A measurement that counts how often it is taken."""

    def __init__(self, value: float = 0.5) -> None:
        self.calls, self.value = 0, value

    def __call__(self) -> Measurement:
        self.calls += 1
        return Measurement(self.value, (self.value, self.value))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(places, "cache_folder", lambda: tmp_path)
    return tmp_path / "claims"


def test_a_verdict_is_computed_once_for_each_state_of_the_project(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted = Counted()
    chosen = [statement(measure=counted)]
    first = ledger.evaluate_all(chosen)
    assert ledger.evaluate_all(chosen) == first
    assert counted.calls == 1
    monkeypatch.setattr(ledger, "fingerprint", lambda: "another")
    ledger.evaluate_all(chosen)
    assert counted.calls == 2


def test_refresh_computes_again() -> None:
    counted = Counted()
    chosen = [statement(measure=counted)]
    ledger.evaluate_all(chosen)
    counted.value = 0.75
    (claim,) = ledger.evaluate_all(chosen, refresh=True)
    assert claim.computed_value == 0.75
    assert ledger.evaluate_all(chosen) == [claim]


def test_only_what_is_missing_is_computed_and_the_order_is_kept() -> None:
    one, two = Counted(), Counted()
    first, second = statement(measure=one, id="one"), statement(measure=two, id="two")
    ledger.evaluate_all([second])
    claims = ledger.evaluate_all([first, second])
    assert [claim.id for claim in claims] == ["one", "two"]
    assert (one.calls, two.calls) == (1, 1)


@pytest.mark.parametrize("value", [math.nan, math.inf, 1 / 3])
def test_the_cache_gives_back_every_number(value: float) -> None:
    chosen = [
        statement(measure=Counted(value), quoted_value=math.inf, comparison="at most"),
        statement(None, id="not-run"),
    ]
    fresh, cached = ledger.evaluate_all(chosen), ledger.evaluate_all(chosen)
    assert repr(fresh) == repr(cached)
    assert isinstance(cached[0].interval, tuple)


def test_a_crash_names_the_claim_and_keeps_the_others(cache: Path) -> None:
    def crash() -> Measurement:
        raise ZeroDivisionError("by zero")

    counted = Counted()
    chosen = [statement(id="good", measure=counted), statement(id="bad", measure=crash)]
    with pytest.raises(RuntimeError, match="claim bad: ZeroDivisionError: by zero"):
        ledger.evaluate_all(chosen)
    ledger.evaluate_all(chosen[:1])
    assert counted.calls == 1


def test_progress_starts_with_what_is_cached() -> None:
    heard: list[tuple[int, int]] = []
    chosen = [statement(id=name) for name in ("a", "b", "c")]
    ledger.evaluate_all(chosen[:1])
    ledger.evaluate_all(chosen, report=lambda *counts: heard.append(counts))
    assert heard == [(1, 3), (2, 3), (3, 3)]


def test_old_caches_are_pruned(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(ledger.KEPT_CACHES + 2):
        monkeypatch.setattr(ledger, "fingerprint", lambda n=number: f"state-{n}")
        ledger.evaluate_all([statement()])
    left = sorted(path.stem for path in cache.glob("*.json"))
    assert left == [f"state-{number}" for number in range(2, ledger.KEPT_CACHES + 2)]


def test_the_cache_is_a_list_of_records(cache: Path) -> None:
    ledger.evaluate_all([statement()])
    (path,) = cache.glob("*.json")
    (record,) = json.loads(path.read_text())
    assert record["id"] == "half"
    assert record["status"] == "reproduced"


def test_all_claims_are_those_that_were_declared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    entries = {"b": statement(id="b"), "a": statement(id="a")}
    monkeypatch.setattr(registry, "_STATEMENTS", entries)
    assert [claim.id for claim in ledger.all_claims()] == ["b", "a"]
