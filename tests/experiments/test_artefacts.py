import hashlib
import json
from pathlib import Path

import pandas as pd
import pytest

import toy_experiment as toy
from sharp_attention.experiments import artefacts, catalogue, places, sweep
from sharp_attention.experiments.fingerprint import versions

SHIPPED = sorted(places.results_folder("x").parent.glob("*/manifest.json"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("toy")
    sweep.run(toy.plan(output))
    return output


def test_manifest_has_the_agreed_entries(folder: Path) -> None:
    manifest = artefacts.read_manifest("toy", folder)
    seconds = manifest.pop("seconds")
    assert isinstance(seconds, float)
    assert manifest == {
        "command": "sharp-attention reproduce toy --quick",
        "seeds": [0, 1],
        "versions": versions(),
        "device": "cpu",
        "files": {
            name: {"sha256": hashlib.sha256((folder / name).read_bytes()).hexdigest()}
            for name in ("table.csv", "weights/all.bin")
        },
    }


def test_table_comes_back_bit_by_bit(folder: Path) -> None:
    table = artefacts.read_table("toy", "table.csv", folder)
    assert table["third"].tolist() == [1 / 3, 2 / 3, 2 / 3, 1.0]
    assert table["size"].tolist() == [1, 1, 2, 2]


def test_table_is_read_from_where_reproduce_writes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "results_folder", lambda name: folder)
    pd.testing.assert_frame_equal(
        artefacts.read_table("toy", "table.csv"),
        artefacts.read_table("toy", "table.csv", folder),
    )


@pytest.mark.parametrize("read", [artefacts.read_manifest, artefacts.read_table])
def test_what_is_missing_is_named_with_its_command(tmp_path: Path, read) -> None:
    file = [] if read is artefacts.read_manifest else ["table.csv"]
    with pytest.raises(FileNotFoundError, match="sharp-attention reproduce toy"):
        read("toy", *file, tmp_path)


def test_damage_is_seen(tmp_path: Path) -> None:
    sweep.run(toy.plan(tmp_path))
    assert artefacts.damaged_files(tmp_path) == []
    (tmp_path / "table.csv").write_text("size\n1\n")
    (tmp_path / "weights" / "all.bin").unlink()
    assert artefacts.damaged_files(tmp_path) == ["table.csv", "weights/all.bin"]


def test_there_are_shipped_artefacts() -> None:
    assert SHIPPED


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.parent.name)
class TestShipped:
    def test_is_whole(self, path: Path) -> None:
        assert artefacts.damaged_files(path.parent) == []

    def test_is_made_by_a_full_run_of_a_known_experiment(self, path: Path) -> None:
        command = json.loads(path.read_text())["command"]
        subject, _, kind = path.parent.name.rpartition("-")
        if kind == "benchmark":  # measured, not reproduced
            assert f"tests/benchmarks/{subject.replace('-', '_')}.py" in command
            return
        assert path.parent.name in catalogue.names()
        full = f"sharp-attention reproduce {path.parent.name} --full"
        assert command.startswith(full)

    def test_holds_nothing_that_the_manifest_does_not_name(self, path: Path) -> None:
        folder = path.parent
        present = {
            file.relative_to(folder).as_posix()
            for file in folder.rglob("*")
            if file.is_file() and ".reproduce" not in file.parts
        }
        assert present == set(json.loads(path.read_text())["files"]) | {path.name}
