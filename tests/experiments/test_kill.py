"""The promise of the sweep, kept by the real command: a kill costs one cell."""

import hashlib
import signal
import time
from pathlib import Path

import pandas as pd
import pytest

import command

# 88 cells, so that there is time to stop the run while it is under way.
ARGUMENTS = ("reproduce", "dispersion-sweep", "--quick", "--seeds", "4")
CELLS = 88


def records(output: Path) -> dict[Path, tuple[int, int]]:
    """Return inode and time of change of each finished cell."""
    found = output.glob(".reproduce/*/record.json")
    return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in found}


def run_until(num_cells: int, output: Path, how: signal.Signals) -> int:
    """Run, stop as soon as so many cells are finished, and return the exit code."""
    run = command.start(*ARGUMENTS, "--output", str(output), "--resume")
    deadline = time.monotonic() + 120
    while len(records(output)) < num_cells:
        assert run.poll() is None, "the run ended before it could be stopped"
        assert time.monotonic() < deadline, "the cells were not finished in time"
        time.sleep(0.005)
    run.send_signal(how)
    code = run.wait(timeout=60)
    assert len(records(output)) < CELLS
    assert not (output / "manifest.json").exists()
    return code


@pytest.mark.medium
def test_killed_then_interrupted_then_resumed_equals_undisturbed(
    tmp_path: Path,
) -> None:
    stopped, undisturbed = tmp_path / "stopped", tmp_path / "undisturbed"

    assert run_until(5, stopped, signal.SIGKILL) == -signal.SIGKILL
    after_kill = records(stopped)
    assert run_until(len(after_kill) + 5, stopped, signal.SIGINT) == 130
    after_interrupt = records(stopped)
    resumed = command.run(*ARGUMENTS, "--output", str(stopped), "--resume")
    assert resumed.returncode == 0, resumed.stderr
    assert f"{len(after_interrupt)} of {CELLS} cells are finished" in resumed.stderr
    finally_there = records(stopped)

    assert len(finally_there) == CELLS
    assert after_kill.items() <= after_interrupt.items() <= finally_there.items(), (
        "a finished cell was computed again"
    )
    full = command.run(*ARGUMENTS, "--output", str(undisturbed))
    assert full.returncode == 0, full.stderr
    checksums = [
        hashlib.sha256((folder / "dispersion.csv").read_bytes()).hexdigest()
        for folder in (stopped, undisturbed)
    ]
    assert checksums[0] == checksums[1]


@pytest.mark.slow
def test_a_training_that_is_killed_costs_one_cell(tmp_path: Path) -> None:
    """The same with cells that take seconds each and train a network."""
    arguments = ("reproduce", "max-retrieval", "--quick", "--seeds", "2")
    stopped, undisturbed = tmp_path / "stopped", tmp_path / "undisturbed"
    run = command.start(*arguments, "--output", str(stopped))
    deadline = time.monotonic() + 300
    while not records(stopped):
        assert run.poll() is None, "the run ended before it could be stopped"
        assert time.monotonic() < deadline, "no cell was finished in time"
        time.sleep(0.05)
    run.send_signal(signal.SIGKILL)
    assert run.wait(timeout=60) == -signal.SIGKILL
    after_kill = records(stopped)
    assert len(after_kill) == 1

    resumed = command.run(*arguments, "--output", str(stopped), "--resume")
    assert resumed.returncode == 0, resumed.stderr
    assert after_kill.items() <= records(stopped).items(), "the cell was computed again"
    full = command.run(*arguments, "--output", str(undisturbed))
    assert full.returncode == 0, full.stderr
    table = "accuracy.csv"
    assert (stopped / table).read_bytes() == (undisturbed / table).read_bytes()

    # A quick look shows what the full run is about.
    shares = pd.read_csv(stopped / table).eval("correct / num_sets")
    num_items = pd.read_csv(stopped / table)["num_items"]
    assert shares[num_items == 16].min() >= 0.95
    assert shares[num_items == 256].max() < 0.85
