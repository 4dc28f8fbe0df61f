from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

import toy_experiment as toy
from sharp_attention.experiments import artefacts, sweep
from sharp_attention.experiments.cells import Cells
from sharp_attention.experiments.records import CellResult, Outcome, Parameters
from sharp_attention.experiments.workspace import Workspace


@pytest.fixture(autouse=True)
def no_cells_yet() -> None:
    toy.COMPUTED.clear()


def data_files(folder: Path) -> dict[str, bytes]:
    names = artefacts.read_manifest("toy", folder)["files"]
    return {name: (folder / name).read_bytes() for name in names}


def stop_after(num_cells: int) -> Callable[..., Iterator]:
    """Return an executor that is stopped by Ctrl-C after so many cells."""

    def execute(compute: Callable, tasks: Sequence) -> Iterator:
        yield from map(compute, tasks[:num_cells])
        raise KeyboardInterrupt

    return execute


def backwards(compute: Callable, tasks: Sequence) -> Iterator:
    return map(compute, reversed(tasks))


def test_a_run_writes_data_files_and_manifest(tmp_path: Path) -> None:
    manifest = sweep.run(toy.plan(tmp_path))
    assert manifest == tmp_path / "manifest.json"
    assert (tmp_path / "table.csv").read_text() == (
        "size,seed,third\n"
        "1,0,0.3333333333333333\n1,1,0.6666666666666666\n"
        "2,0,0.6666666666666666\n2,1,1.0\n"
    )
    assert (tmp_path / "weights" / "all.bin").read_bytes() == bytes(
        [1, 0, 1, 1, 2, 0, 2, 1]
    )
    assert artefacts.damaged_files(tmp_path) == []


def test_stopped_and_resumed_equals_undisturbed(tmp_path: Path) -> None:
    sweep.run(toy.plan(tmp_path / "undisturbed"))
    stopped = toy.plan(tmp_path / "stopped")
    toy.COMPUTED.clear()
    with pytest.raises(KeyboardInterrupt):
        sweep.run(stopped, executor=stop_after(3))
    assert not (tmp_path / "stopped" / "manifest.json").exists()
    assert len(toy.COMPUTED) == 3
    sweep.run(stopped, resume=True)
    assert len(toy.COMPUTED) == 4, "a finished cell was computed again"
    assert data_files(tmp_path / "stopped") == data_files(tmp_path / "undisturbed")


def test_order_of_computation_does_not_show(tmp_path: Path) -> None:
    sweep.run(toy.plan(tmp_path / "forwards"))
    sweep.run(toy.plan(tmp_path / "backwards"), executor=backwards)
    assert data_files(tmp_path / "forwards") == data_files(tmp_path / "backwards")


def test_without_resume_everything_is_computed_again(tmp_path: Path) -> None:
    sweep.run(toy.plan(tmp_path))
    sweep.run(toy.plan(tmp_path))
    assert len(toy.COMPUTED) == 8


def test_without_resume_nothing_is_deleted_before_it_is_replaced(
    tmp_path: Path,
) -> None:
    plan = toy.plan(tmp_path)
    sweep.run(plan)
    with pytest.raises(KeyboardInterrupt):
        sweep.run(plan, executor=stop_after(0))
    assert len(Cells(tmp_path).finished(plan.jobs)) == 4
    assert artefacts.damaged_files(tmp_path) == []


def test_cells_are_shared_between_scales_and_numbers_of_seeds(tmp_path: Path) -> None:
    sweep.run(toy.plan(tmp_path))
    sweep.run(toy.plan(tmp_path, scale="full"), resume=True)
    assert len(toy.COMPUTED) == 9
    sweep.run(toy.plan(tmp_path, num_seeds=1), resume=True)
    assert len(toy.COMPUTED) == 9
    assert len((tmp_path / "table.csv").read_text().splitlines()) == 3


def test_another_version_computes_again(tmp_path: Path) -> None:
    sweep.run(toy.plan(tmp_path))
    newer = toy.plan(tmp_path, experiment=toy.experiment(version=2))
    assert sweep.survey(newer).finished == 0
    sweep.run(newer, resume=True)
    assert len(toy.COMPUTED) == 8


def test_survey_counts_cells_of_another_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = toy.plan(tmp_path)
    assert sweep.survey(plan) == sweep.Survey(4, 0, 0)
    with pytest.raises(KeyboardInterrupt):
        sweep.run(plan, executor=stop_after(3))
    assert sweep.survey(plan) == sweep.Survey(4, 3, 0)
    monkeypatch.setattr(sweep, "library_fingerprint", lambda: "another")
    assert sweep.survey(plan) == sweep.Survey(4, 3, 3)


def test_a_damaged_record_is_computed_again(tmp_path: Path) -> None:
    plan = toy.plan(tmp_path)
    sweep.run(plan)
    whole = data_files(tmp_path)
    record = Cells(tmp_path).record(plan.jobs[1])
    record.write_bytes(b"")
    assert sweep.survey(plan) == sweep.Survey(4, 3, 0, (record,))
    toy.COMPUTED.clear()
    sweep.run(plan, resume=True)
    assert len(toy.COMPUTED) == 1
    assert data_files(tmp_path) == whole


def test_progress_starts_with_what_is_kept(tmp_path: Path) -> None:
    heard: list[tuple[int, int]] = []
    with pytest.raises(KeyboardInterrupt):
        sweep.run(toy.plan(tmp_path), executor=stop_after(2))
    sweep.run(toy.plan(tmp_path), resume=True, report=lambda *c: heard.append(c))
    assert heard == [(2, 4), (3, 4), (4, 4)]


def fail_at_size_two(parameters: Parameters, workspace: Workspace) -> Outcome:
    if parameters["size"] == 2:
        raise ZeroDivisionError("two")
    return toy.compute(parameters, workspace)


def test_a_cell_that_fails_is_named_and_the_others_are_kept(tmp_path: Path) -> None:
    plan = toy.plan(tmp_path, experiment=toy.experiment(compute=fail_at_size_two))
    words = "cell size=2, seed=0: ZeroDivisionError: two"
    with pytest.raises(sweep.CellError, match=words) as caught:
        sweep.run(plan)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert sweep.survey(plan).finished == 2


def test_equal_cells_are_refused(tmp_path: Path) -> None:
    twice = toy.experiment(grid=lambda scale, seeds: [{"size": 1, "seed": 0}] * 2)
    with pytest.raises(ValueError, match="grid must be free of equal cells"):
        sweep.run(toy.plan(tmp_path, experiment=twice))


class Interruptible:
    """Counts to ten, saves itself at each step and is stopped once, at five."""

    def __init__(self) -> None:
        self.steps: list[int] = []
        self.is_stopped_at = 5

    def compute(self, parameters: Parameters, workspace: Workspace) -> Outcome:
        step = (workspace.load({"step": 0}) or {"step": 0})["step"]
        while step < 10:
            if step == self.is_stopped_at:
                raise KeyboardInterrupt
            self.steps.append(step)
            step += 1
            workspace.save({"step": step})
        return Outcome(rows=[{"step": step}])

    @staticmethod
    def collect(results: Sequence[CellResult]) -> dict[str, bytes]:
        return {"steps.txt": str([result.rows for result in results]).encode()}


@pytest.mark.parametrize(
    ("resume", "steps_afterwards"),
    [(True, list(range(5, 10))), (False, list(range(10)))],
    ids=["resumed", "anew"],
)
def test_a_long_cell_goes_on_from_what_it_saved_only_if_asked(
    tmp_path: Path, resume: bool, steps_afterwards: list[int]
) -> None:
    long = Interruptible()
    experiment = toy.experiment(
        grid=lambda scale, seeds: [{"length": 10}],
        compute=long.compute,
        collect=long.collect,
    )
    plan = toy.plan(tmp_path, experiment=experiment)
    with pytest.raises(KeyboardInterrupt):
        sweep.run(plan)
    long.is_stopped_at, long.steps = -1, []
    sweep.run(plan, resume=resume)
    assert long.steps == steps_afterwards
    assert not Cells(tmp_path).workspace(plan.jobs[0]).folder.exists()
