from pathlib import Path

import pytest

from sharp_attention.experiments import fingerprint, places


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in a small clone that is also the running library."""
    package = tmp_path / "lib" / "sharp_attention"
    results = tmp_path / "book" / "results" / "toy"
    for folder in (package, results):
        folder.mkdir(parents=True)
    (package / "__init__.py").write_text("CONSTANT = 1\n")
    (tmp_path / "requirements.txt").write_text("jax==0.10.2\n")
    (results / "table.csv").write_text("a\n1\n")
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.setattr(places, "package_folder", lambda: package)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_is_short_and_repeatable() -> None:
    assert fingerprint.fingerprint() == fingerprint.fingerprint()
    assert len(fingerprint.fingerprint()) == 16
    assert int(fingerprint.library_fingerprint(), 16) >= 0


@pytest.mark.parametrize(
    "changed",
    [
        "lib/sharp_attention/__init__.py",
        "lib/sharp_attention/new.py",
        "requirements.txt",
        "book/results/toy/table.csv",
        "book/results/toy/new.csv",
    ],
)
def test_notices_what_can_change_a_number(clone: Path, changed: str) -> None:
    before = fingerprint.fingerprint()
    (clone / changed).write_text("CONSTANT = 2\n")
    assert fingerprint.fingerprint() != before


@pytest.mark.parametrize(
    "changed",
    [
        "README.md",
        "lib/sharp_attention/py.typed",
        "book/results/toy/.reproduce/record.json",
        "book/results/toy/.table.csv.partial",
    ],
)
def test_ignores_what_cannot(clone: Path, changed: str) -> None:
    before = fingerprint.fingerprint()
    (clone / changed).parent.mkdir(exist_ok=True)
    (clone / changed).write_text("anything")
    assert fingerprint.fingerprint() == before


def test_library_fingerprint_ignores_data(clone: Path) -> None:
    before = fingerprint.library_fingerprint()
    (clone / "requirements.txt").write_text("")
    assert fingerprint.library_fingerprint() == before
    (clone / "lib" / "sharp_attention" / "__init__.py").write_text("")
    assert fingerprint.library_fingerprint() != before


def test_a_renamed_file_counts(clone: Path) -> None:
    before = fingerprint.fingerprint()
    table = clone / "book" / "results" / "toy" / "table.csv"
    table.rename(table.with_name("other.csv"))
    assert fingerprint.fingerprint() != before


def test_another_version_of_a_package_counts(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = fingerprint.fingerprint()
    versions = fingerprint.versions() | {"jax": "0.0"}
    monkeypatch.setattr(fingerprint, "versions", lambda: versions)
    assert fingerprint.fingerprint() != before


def test_versions_name_python_and_the_packages() -> None:
    assert list(fingerprint.versions()) == ["python", *fingerprint.PACKAGES]
