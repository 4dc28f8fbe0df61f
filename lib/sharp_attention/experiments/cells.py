"""The cells of a run on disk: one folder each, finished once its record is there.

Layout below the output folder of an experiment::

    .reproduce/KEY/record.json      parameters, rows, seconds; written last
    .reproduce/KEY/files/...        further results of the cell
    .reproduce/KEY/workspace/...    what an unfinished cell saved on the way

KEY is `Job.key`. A record is whole or absent, so a kill at any moment costs at most
the cell that was being computed. Nothing here is deleted except the workspace of a
cell that is finished.
"""

import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sharp_attention.experiments.files import json_bytes, write_atomically
from sharp_attention.experiments.fingerprint import library_fingerprint
from sharp_attention.experiments.records import CellResult, Job, Outcome
from sharp_attention.experiments.workspace import Workspace

__all__ = ["Cells"]


@dataclass(frozen=True)
class Cells:
    """All cells below one output folder."""

    output: Path

    def is_finished(self, job: Job) -> bool:
        """Whether the result of `job` can be read."""
        return self._record(job).is_file()

    def workspace(self, job: Job) -> Workspace:
        """Return the scratch space of `job`; its folder need not exist."""
        return Workspace(self._folder(job) / "workspace")

    def finished(self, jobs: Iterable[Job]) -> list[CellResult]:
        """Read those of `jobs` that are finished, in their order."""
        return [self.load(job) for job in jobs if self.is_finished(job)]

    def load(self, job: Job) -> CellResult:
        """Read the result of a finished cell.

        Raises
        ------
        FileNotFoundError
            If it is not finished.
        """
        record = json.loads(self._record(job).read_text(encoding="utf-8"))
        folder = self._folder(job) / "files"
        return CellResult(
            parameters=record["parameters"],
            rows=record["rows"],
            files={name: folder / name for name in record["files"]},
            seconds=record["seconds"],
            library=record["library"],
        )

    def save(self, job: Job, outcome: Outcome, seconds: float) -> None:
        """Write the result of `job` atomically, then give back its scratch space."""
        for name, content in outcome.files.items():
            write_atomically(self._folder(job) / "files" / name, content)
        record = {
            "experiment": job.experiment.name,
            "version": job.experiment.version,
            "parameters": dict(job.parameters),
            "device": job.device,
            "library": library_fingerprint(),
            "seconds": seconds,
            "files": sorted(outcome.files),
            "rows": [dict(row) for row in outcome.rows],
        }
        write_atomically(self._record(job), json_bytes(record))
        shutil.rmtree(self.workspace(job).folder, ignore_errors=True)

    def _folder(self, job: Job) -> Path:
        return self.output / ".reproduce" / job.key

    def _record(self, job: Job) -> Path:
        return self._folder(job) / "record.json"
