"""What `make test` says and how it ends."""

import sys

import pytest

import check


@pytest.mark.parametrize(
    ("bad", "tests", "status"), [("", 0, 0), ("Second", 0, 1), ("", 1, 1)]
)
def test_one_failure_of_any_kind_is_a_failure(monkeypatch, capfd, bad, tests, status):
    code = "import sys; print(sys.argv[1]); sys.exit(sys.argv[1] == sys.argv[2])"
    commands = {name: ["-c", code, name, bad] for name in ("First", "Second")}
    monkeypatch.setattr(check, "checks", lambda: commands)
    monkeypatch.setattr(check, "program", lambda command: [sys.executable, *command])
    monkeypatch.setattr(check, "tests", lambda more: ["-c", f"exit({tests})"])
    assert check.main([]) == status
    said = capfd.readouterr().out
    assert said.index("== First") < said.index("== Second") < said.index("== Tests")
    assert ("Failed so far: Second." in said) == bool(bad)


def test_every_chapter_is_executed() -> None:
    command = check.tests([])
    assert "--nbmake" in command
    assert set(check.chapters()) < set(command)
