"""The ledger as a whole: every claim can be found, tested and broken."""

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from sharp_attention.claims import page, registry

TOP = Path(__file__).parents[2]
STATEMENTS = registry.statements()
RUNNABLE = [entry for entry in STATEMENTS if entry.measure is not None]
IDS = [entry.id for entry in STATEMENTS]


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


@pytest.fixture(scope="module")
def tested() -> dict[str, dict[str, set[str]]]:
    """For each test file of a subject, the ids that each of its two tests takes."""
    found = {}
    for path in {entry.test.split("::")[0] for entry in STATEMENTS}:
        module = load(TOP / path)
        found[path] = {
            name: set(parameters(getattr(module, name)))
            for name in ("test_claim_holds", "test_claim_fails_under_mutation")
        }
    return found


def test_there_are_claims() -> None:
    assert STATEMENTS


def test_ids_are_unique_and_fit_for_a_link() -> None:
    assert len(set(IDS)) == len(IDS)
    for name in IDS:
        assert name == name.lower().replace(" ", "-").replace("_", "-")


@pytest.mark.parametrize("entry", STATEMENTS, ids=IDS)
class TestEach:
    def test_test_file_exists(self, entry: registry.Statement) -> None:
        assert (TOP / entry.test.split("::")[0]).is_file()

    def test_chapter_exists(self, entry: registry.Statement) -> None:
        endings = (".ipynb", ".md")
        chapter = TOP / "book" / entry.chapter
        assert any(chapter.with_suffix(ending).is_file() for ending in endings)

    def test_has_a_place_on_the_page(self, entry: registry.Statement) -> None:
        assert any(entry.chapter in chapters for chapters in page.PARTS.values())

    def test_statement_is_a_sentence(self, entry: registry.Statement) -> None:
        assert entry.statement.endswith(".")
        assert entry.place


@pytest.mark.parametrize("entry", RUNNABLE, ids=lambda entry: entry.id)
class TestEachThatRuns:
    def test_is_asserted(self, entry: registry.Statement, tested) -> None:
        assert entry.id in tested[entry.test.split("::")[0]]["test_claim_holds"]

    def test_is_broken_on_purpose(self, entry: registry.Statement, tested) -> None:
        broken = tested[entry.test.split("::")[0]]["test_claim_fails_under_mutation"]
        assert entry.id in broken
