import json
from pathlib import Path

import pytest

import toy_experiment as toy
from sharp_attention.experiments.cells import Cells
from sharp_attention.experiments.fingerprint import library_fingerprint
from sharp_attention.experiments.records import Job, Outcome

JOB = Job(toy.EXPERIMENT, {"size": 1, "seed": 0}, "cpu")
OTHER = Job(toy.EXPERIMENT, {"size": 2, "seed": 0}, "cpu")
OUTCOME = Outcome(rows=[{"third": 1 / 3}], files={"weights.bin": b"\x00\xff"})


@pytest.fixture
def cells(tmp_path: Path) -> Cells:
    return Cells(tmp_path)


def test_a_finished_cell_is_read_back(cells: Cells) -> None:
    assert not cells.is_finished(JOB)
    cells.save(JOB, OUTCOME, 1.5)
    assert cells.is_finished(JOB)
    result = cells.load(JOB)
    assert result.parameters == JOB.parameters
    assert result.rows == OUTCOME.rows
    assert result.seconds == 1.5
    assert result.library == library_fingerprint()
    assert result.files["weights.bin"].read_bytes() == b"\x00\xff"


def test_only_finished_cells_are_listed_in_the_order_asked_for(cells: Cells) -> None:
    assert cells.finished([JOB, OTHER]) == []
    cells.save(OTHER, OUTCOME, 0.0)
    assert len(cells.finished([JOB, OTHER])) == 1
    cells.save(JOB, OUTCOME, 0.0)
    sizes = [result.parameters["size"] for result in cells.finished([OTHER, JOB])]
    assert sizes == [2, 1]


def test_a_cell_that_is_not_finished_cannot_be_loaded(cells: Cells) -> None:
    with pytest.raises(FileNotFoundError):
        cells.load(JOB)


def test_scratch_space_goes_when_the_cell_is_finished(cells: Cells) -> None:
    workspace = cells.workspace(JOB)
    workspace.save({"step": 3})
    cells.workspace(OTHER).save({"step": 4})
    cells.save(JOB, OUTCOME, 0.0)
    assert not workspace.folder.exists()
    assert cells.workspace(OTHER).load({"step": 0}) == {"step": 4}


def test_the_record_says_what_the_cell_was(cells: Cells, tmp_path: Path) -> None:
    cells.save(JOB, OUTCOME, 0.25)
    path = tmp_path / ".reproduce" / JOB.key / "record.json"
    record = json.loads(path.read_text())
    assert record == {
        "experiment": "toy",
        "version": 1,
        "parameters": {"size": 1, "seed": 0},
        "device": "cpu",
        "library": library_fingerprint(),
        "seconds": 0.25,
        "files": ["weights.bin"],
        "rows": [{"third": 1 / 3}],
    }


def test_a_full_disk_leaves_the_cell_unfinished(
    cells: Cells, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, content: bytes) -> None:
        raise OSError("no space left")

    cells.workspace(JOB).save({"step": 3})
    monkeypatch.setattr("sharp_attention.experiments.cells.write_atomically", refuse)
    with pytest.raises(OSError, match="no space left"):
        cells.save(JOB, OUTCOME, 0.0)
    assert not cells.is_finished(JOB)
    assert cells.workspace(JOB).load({"step": 0}) == {"step": 3}


@pytest.mark.parametrize(
    "content", [b"", b'{"rows": [', b"[]", b"{}", b"\xff", b'{"rows": []}']
)
def test_a_damaged_record_counts_as_unfinished_and_is_named(
    cells: Cells, content: bytes
) -> None:
    cells.save(JOB, OUTCOME, 0.0)
    assert not cells.is_damaged(JOB)
    cells.record(JOB).write_bytes(content)
    assert cells.is_damaged(JOB)
    assert not cells.is_finished(JOB)
    with pytest.raises(ValueError, match=r"record\.json is damaged"):
        cells.load(JOB)
    cells.save(JOB, OUTCOME, 0.0)
    assert cells.is_finished(JOB)


def test_a_cell_whose_files_are_gone_is_unfinished(cells: Cells) -> None:
    cells.save(JOB, OUTCOME, 0.0)
    cells.load(JOB).files["weights.bin"].unlink()
    assert cells.is_damaged(JOB)
    assert cells.finished([JOB]) == []
