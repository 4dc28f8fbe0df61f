"""The ledger as a whole: every claim can be found, tested and broken."""

import importlib.util
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from sharp_attention.claims import page, registry

TOP = Path(__file__).parents[2]
STATEMENTS = registry.statements()


def file_of(entry: registry.Statement) -> str:
    return entry.test.split("::")[0]


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"claims_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def parameters(test: object) -> Iterator[str]:
    """Yield every string among the parameters of a parametrised test."""
    for mark in test.pytestmark:
        for entry in mark.args[1] if mark.name == "parametrize" else ():
            values = getattr(entry, "values", entry)  # pytest.param or plain
            yield from (value for value in _flat(values) if isinstance(value, str))


def _flat(values: object) -> Iterator[object]:
    if isinstance(values, tuple | list):
        for value in values:
            yield from _flat(value)
    else:
        yield values


def mutations(test: object) -> Iterator[tuple[str, object]]:
    """Yield each claim of a parametrised test with what breaks it."""
    for mark in test.pytestmark:
        for entry in mark.args[1] if mark.name == "parametrize" else ():
            claim, *rest = getattr(entry, "values", entry)
            yield claim, next(part for part in rest if not isinstance(part, str))


@pytest.fixture(scope="module")
def tested() -> dict[str, dict[str, set[str]]]:
    """For each test file of a subject, the ids that each of its two tests takes."""
    found = {}
    for path in {file_of(entry) for entry in STATEMENTS}:
        module = load(TOP / path)
        found[path] = {
            name: set(parameters(getattr(module, name)))
            for name in ("test_claim_holds", "test_claim_fails_under_mutation")
        }
    return found


def lacking(condition: Callable[[registry.Statement], bool]) -> list[str]:
    """Return the ids of the statements that do not meet `condition`."""
    return [entry.id for entry in STATEMENTS if not condition(entry)]


def test_there_are_claims() -> None:
    assert STATEMENTS


def test_ids_are_unique_and_fit_for_a_link() -> None:
    assert len({entry.id for entry in STATEMENTS}) == len(STATEMENTS)
    assert lacking(lambda e: re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", e.id)) == []


def test_statements_are_sentences_with_a_place() -> None:
    assert lacking(lambda e: e.statement.endswith(".") and e.place) == []


def test_test_files_exist() -> None:
    assert lacking(lambda e: (TOP / file_of(e)).is_file()) == []


def test_chapters_exist() -> None:
    book = {path.stem for path in (TOP / "book").iterdir() if path.is_file()}
    assert lacking(lambda e: e.chapter in book) == []


def test_chapters_have_a_place_on_the_page() -> None:
    chapters = {chapter for part in page.PARTS.values() for chapter in part}
    assert lacking(lambda e: e.chapter in chapters) == []


@pytest.mark.parametrize(
    "test", ["test_claim_holds", "test_claim_fails_under_mutation"]
)
def test_every_claim_that_runs_is_asserted_and_broken_on_purpose(
    test: str, tested: dict[str, dict[str, set[str]]]
) -> None:
    assert lacking(lambda e: not e.measure or e.id in tested[file_of(e)][test]) == []


def test_the_sweep_over_mutations_knows_the_name_of_each() -> None:
    """With ``--run-slow -k under_mutation`` every claim is broken by one of these."""
    named = {}
    for path in {file_of(entry) for entry in STATEMENTS}:
        test = load(TOP / path).test_claim_fails_under_mutation
        for claim, breaks in mutations(test):
            named[claim] = getattr(breaks, "name", None) or breaks.__name__
    assert lacking(lambda e: not e.measure or named.get(e.id)) == []
