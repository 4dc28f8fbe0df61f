import json
import math
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import command
import toy_experiment as toy
from sharp_attention.claims import registry
from sharp_attention.cli import app
from sharp_attention.experiments import catalogue, executors, places
from toy_claims import statement


def invoke(*arguments: str) -> Result:
    """Run the command inside this process, where it can be watched."""
    return CliRunner().invoke(app, list(arguments))


@pytest.fixture
def _toy_experiment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "find", lambda name: toy.EXPERIMENT)
    # `reproduce` prepares the environment of a fresh process.
    monkeypatch.setenv("XLA_FLAGS", "")
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    toy.COMPUTED.clear()


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict:
    """Replace the ledger by one that the test fills."""
    entries: dict[str, registry.Statement] = {}
    monkeypatch.setattr(registry, "_STATEMENTS", entries)
    monkeypatch.setattr(places, "cache_folder", lambda: tmp_path)
    return entries


class TestProcess:
    """What only the installed command in a process of its own can show."""

    def test_help_is_instant_because_jax_is_not_imported(self) -> None:
        code = (
            "import sys, sharp_attention.cli; "
            "print([m for m in ('jax', 'pandas', 'matplotlib') if m in sys.modules])"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True)
        assert done.stdout.strip() == b"[]"

    def test_info_names_versions_devices_precision_and_places(self) -> None:
        done = command.run("info")
        assert done.returncode == 0, done.stderr
        lines = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
        assert {"sharp-attention", "python", "jax", "devices"} <= set(lines)
        assert "float32" in lines["precision"]
        assert Path(lines["results"]).parts[-2:] == ("results", "NAME")
        assert len(lines["fingerprint"]) == 16

    def test_info_works_outside_a_clone(self, tmp_path: Path) -> None:
        done = command.run("info", cwd=tmp_path, SHARP_ATTENTION_CACHE=str(tmp_path))
        assert done.returncode == 0, done.stderr
        assert str(tmp_path) in done.stdout

    def test_a_missing_gpu_is_one_clear_line(self) -> None:
        done = command.run(
            "reproduce", "dispersion-sweep", "--device", "gpu", JAX_PLATFORMS="cpu"
        )
        assert done.returncode == 2
        assert done.stderr.startswith("error: device must be one that JAX sees")
        assert done.stderr.count("\n") == 1


@pytest.mark.usefixtures("_toy_experiment")
class TestReproduce:
    def test_writes_files_and_prints_the_manifest(self, tmp_path: Path) -> None:
        done = invoke("reproduce", "toy", "--quick", "--output", str(tmp_path))
        assert done.exit_code == 0, done.output
        manifest = tmp_path / "manifest.json"
        assert done.stdout == f"{manifest}\n"
        assert json.loads(manifest.read_text())["command"] == (
            "sharp-attention reproduce toy --quick"
        )

    def test_full_is_the_default(self, tmp_path: Path) -> None:
        invoke("reproduce", "toy", "--output", str(tmp_path))
        assert len(toy.COMPUTED) == 9

    def test_number_of_seeds(self, tmp_path: Path) -> None:
        invoke("reproduce", "toy", "--seeds", "1", "--output", str(tmp_path))
        assert json.loads((tmp_path / "manifest.json").read_text())["seeds"] == [0]

    @pytest.mark.parametrize(
        ("scale", "folder"),
        [("--full", "book/results/toy"), ("--quick", "results/toy")],
    )
    def test_a_quick_look_does_not_replace_what_the_book_ships(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scale: str, folder: str
    ) -> None:
        monkeypatch.setattr(places, "clone", lambda: tmp_path)
        monkeypatch.chdir(tmp_path)
        done = invoke("reproduce", "toy", scale)
        assert done.stdout == f"{tmp_path / folder / 'manifest.json'}\n"

    @pytest.mark.parametrize(
        ("runs_before", "options", "message", "computed"),
        [
            (0, [], "", 4),
            (0, ["--resume"], "Nothing to resume", 4),
            (1, ["--resume"], "4 of 4 cells are finished", 0),
            (1, [], "computing all of them again (--resume would keep them)", 4),
        ],
        ids=["first", "nothing to resume", "resumed", "anew"],
    )
    def test_says_what_becomes_of_earlier_cells(
        self, tmp_path: Path, runs_before, options, message, computed
    ) -> None:
        arguments = ("reproduce", "toy", "--quick", "--output", str(tmp_path))
        for _ in range(runs_before):
            invoke(*arguments)
        toy.COMPUTED.clear()
        done = invoke(*arguments, *options)
        assert message in done.stderr
        assert len(toy.COMPUTED) == computed

    def test_says_which_records_are_damaged(self, tmp_path: Path) -> None:
        arguments = ("reproduce", "toy", "--quick", "--output", str(tmp_path))
        invoke(*arguments)
        record = min(tmp_path.glob(".reproduce/*/record.json"))
        record.write_bytes(b"")
        done = invoke(*arguments, "--resume")
        assert done.exit_code == 0
        assert "3 of 4 cells are finished" in done.stderr
        assert f"{record} is damaged: its cell is computed again." in done.stderr

    def test_says_when_cells_are_of_another_state_of_the_library(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        arguments = ("reproduce", "toy", "--quick", "--output", str(tmp_path))
        invoke(*arguments)
        monkeypatch.setattr(
            "sharp_attention.experiments.sweep.library_fingerprint", lambda: "another"
        )
        done = invoke(*arguments, "--resume")
        assert "4 of them were computed by another state of the library" in done.stderr

    def test_ctrl_c_says_how_to_go_on(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def stop(compute: object, tasks: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(executors, "in_this_process", stop)
        done = invoke("reproduce", "toy", "--quick", "--output", str(tmp_path / "a b"))
        assert done.exit_code == 130
        assert (
            "go on with: sharp-attention reproduce toy --quick --device cpu "
            f"--output '{tmp_path}/a b' --resume" in done.stderr
        )

    def test_a_failing_cell_says_which_and_how_to_go_on(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(parameters: object, workspace: object) -> None:
            raise ZeroDivisionError("by zero")

        failing = toy.experiment(compute=fail)
        monkeypatch.setattr(catalogue, "find", lambda name: failing)
        done = invoke("reproduce", "toy", "--output", str(tmp_path))
        assert done.exit_code == 2
        assert "error: cell size=1, seed=0: ZeroDivisionError: by zero" in done.stderr
        assert "--resume" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["dispersion-swep"], "NAME must be one of dispersion-sweep"),
        (["dispersion-sweep", "--device", "tpu"], "device must be one of 'auto'"),
        (["dispersion-sweep", "--seeds", "0"], "seeds"),
        (["dispersion-sweep", "--seeds", "two"], "seeds"),
        ([], "Missing argument"),
    ],
    ids=["name", "device", "no seeds", "not a number", "no name"],
)
def test_reproduce_refuses(
    arguments: list[str], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XLA_FLAGS", "")
    done = invoke("reproduce", *arguments)
    assert done.exit_code == 2
    assert words in done.stderr
    assert "Traceback" not in done.output


def test_traceback_is_there_for_those_who_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "")
    done = invoke("--traceback", "reproduce", "nothing")
    assert isinstance(done.exception, ValueError)


class TestClaims:
    def test_prints_a_verdict_for_each(self, ledger: dict) -> None:
        ledger["half"] = statement()
        ledger["wrong"] = statement(0.6, id="wrong", expected="differs")
        done = invoke("claims", "--check")
        assert done.exit_code == 0
        rows = [line.split() for line in done.stdout.splitlines()]
        assert rows[1] == ["half", "0.5", "0.5", "✓", "reproduced"]
        assert rows[2] == ["wrong", "0.5", "0.6", "✗", "differs"]
        assert "every verdict is as expected" in done.stderr

    def test_check_fails_if_one_that_should_hold_does_not(self, ledger: dict) -> None:
        ledger["half"] = statement()
        ledger["wrong"] = statement(0.6, id="wrong")
        done = invoke("claims", "--check")
        assert done.exit_code == 1
        assert "not as expected: wrong" in done.stderr

    def test_check_fails_if_one_that_should_differ_holds(self, ledger: dict) -> None:
        ledger["half"] = statement(expected="differs")
        assert invoke("claims", "--check").exit_code == 1

    def test_nan_is_no_agreement(self, ledger: dict) -> None:
        ledger["half"] = statement(math.nan)
        assert invoke("claims", "--check").exit_code == 1

    def test_without_check_it_only_reports(self, ledger: dict) -> None:
        ledger["wrong"] = statement(0.6, id="wrong")
        done = invoke("claims")
        assert done.exit_code == 0
        assert "(expected: reproduced)" in " ".join(done.stdout.split())

    @pytest.mark.parametrize(
        ("options", "shown"),
        [
            (["--paper", "single-location"], ["b"]),
            (["--status", "differs"], ["c"]),
            (["--only", "a"], ["a"]),
            (["--paper", "softmax-not-enough", "--status", "reproduced"], ["a"]),
        ],
    )
    def test_filters(self, ledger: dict, options: list[str], shown: list[str]) -> None:
        ledger["a"] = statement(id="a")
        ledger["b"] = statement(id="b", paper="single-location")
        ledger["c"] = statement(0.6, id="c", expected="differs")
        done = invoke("claims", "--json", *options)
        assert [record["id"] for record in json.loads(done.stdout)] == shown

    def test_a_filter_on_the_verdict_does_not_hide_a_surprise(
        self, ledger: dict
    ) -> None:
        ledger["c"] = statement(0.6, id="c")
        assert invoke("claims", "--check", "--status", "reproduced").exit_code == 1

    def test_json_is_json_even_for_infinite_numbers(self, ledger: dict) -> None:
        ledger["half"] = statement(math.nan, quoted_value=math.inf)

        def refuse(constant: str) -> None:
            raise AssertionError(f"{constant} is not JSON")

        text = invoke("claims", "--json").stdout
        (record,) = json.loads(text, parse_constant=refuse)
        assert record["quoted_value"] == "inf"
        assert record["computed_value"] == "nan"

    def test_verdicts_are_cached_until_refreshed(self, ledger: dict) -> None:
        ledger["half"] = statement()
        invoke("claims")
        ledger["half"] = statement(0.6)
        assert invoke("claims", "--check").exit_code == 0
        assert invoke("claims", "--check", "--refresh").exit_code == 1

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (["--only", "halve"], "only must be one of 'half'; received 'halve'"),
            (["--paper", "third"], "paper must be one of 'softmax-not-enough'"),
            (["--status", "true"], "status must be one of 'reproduced'"),
        ],
    )
    def test_refuses(self, ledger: dict, options: list[str], words: str) -> None:
        ledger["half"] = statement()
        done = invoke("claims", *options)
        assert done.exit_code == 2
        assert words in done.stderr
