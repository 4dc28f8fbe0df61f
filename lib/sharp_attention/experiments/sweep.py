"""Run an experiment: each cell once, kept as soon as it is known, then the data files.

The data files depend on the cells' records alone, and those are read back from disk
in the order of the grid. So a run that was killed and resumed, or spread over many
workers, ends with the same bytes as one that was left alone.

With `resume`, finished cells are kept and unfinished ones go on from what they
saved. Without it every cell is computed again, and its new record replaces the old
one when it is done; nothing is deleted before.
"""

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import jax

from sharp_attention._checks import require
from sharp_attention.experiments import artefacts
from sharp_attention.experiments.cells import Cells
from sharp_attention.experiments.executors import Executor, in_this_process
from sharp_attention.experiments.fingerprint import library_fingerprint
from sharp_attention.experiments.records import Job, Outcome, Plan
from sharp_attention.experiments.workspace import Workspace

__all__ = ["CellError", "Report", "Survey", "run", "survey"]

Report = Callable[[int, int], None]
"""Told (finished cells, all cells) at the start and after each cell."""


class CellError(RuntimeError):
    """A cell could not be computed; the others are kept."""


@dataclass(frozen=True)
class Survey:
    """What an output folder holds of a plan.

    Attributes
    ----------
    cells : how many the plan has
    finished : how many of them can be reused
    by_other_library : how many of the finished ones were computed by a library whose
        source differs from the present one (the experiment's version is the same)
    damaged : records that can't be read, or whose files are gone; these cells count as
        unfinished
    """

    cells: int
    finished: int
    by_other_library: int
    damaged: tuple[Path, ...] = ()


@dataclass(frozen=True)
class _Task:
    job: Job
    workspace: Workspace
    starts_anew: bool


def survey(plan: Plan) -> Survey:
    """Look at what earlier runs of `plan` have left in its output folder."""
    cells, jobs = Cells(plan.output), plan.jobs
    finished = cells.finished(jobs)
    present = library_fingerprint()
    other = sum(result.library != present for result in finished)
    damaged = tuple(cells.record(job) for job in jobs if cells.is_damaged(job))
    return Survey(len(jobs), len(finished), other, damaged)


def run(
    plan: Plan,
    *,
    resume: bool = False,
    executor: Executor = in_this_process,
    report: Report = lambda finished, cells: None,
) -> Path:
    """Compute the cells of `plan` and write its data files and manifest.

    Parameters
    ----------
    plan : what to compute and where to write
    resume : whether finished cells and saved states of earlier runs are used
    executor : who computes
    report : told about the progress

    Returns
    -------
    Path of the manifest, which is written last.

    Raises
    ------
    CellError
        If a cell fails; the finished ones are on disk.
    """
    cells, jobs = Cells(plan.output), plan.jobs
    distinct = len({job.key for job in jobs})
    require(distinct == len(jobs), "grid", "free of equal cells", len(jobs) - distinct)
    tasks = [
        _Task(job, cells.workspace(job), starts_anew=not resume)
        for job in jobs
        if not (resume and cells.is_finished(job))
    ]
    finished = len(jobs) - len(tasks)
    report(finished, len(jobs))
    for job, outcome, seconds in executor(_compute, tasks):
        cells.save(job, outcome, seconds)
        finished += 1
        report(finished, len(jobs))
    return artefacts.write(plan, [cells.load(job) for job in jobs])


def _compute(task: _Task) -> tuple[Job, Outcome, float]:
    job, workspace = task.job, task.workspace
    if task.starts_anew:
        shutil.rmtree(workspace.folder, ignore_errors=True)
    start = time.perf_counter()
    try:
        # Whoever spreads cells over devices has chosen one for this thread.
        chosen = jax.config.jax_default_device  # type: ignore[attr-defined]
        with jax.default_device(chosen or jax.devices(job.device)[0]):
            outcome = job.experiment.compute(job.parameters, workspace)
    except Exception as error:
        cell = ", ".join(f"{name}={value}" for name, value in job.parameters.items())
        raise CellError(f"cell {cell}: {type(error).__name__}: {error}") from error
    return job, outcome, time.perf_counter() - start
