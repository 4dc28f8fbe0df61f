"""The cells of a run on disk: one folder each, finished once its record is there.

Layout below the output folder of an experiment::

    .reproduce/KEY/record.json      parameters, rows, seconds; written last
    .reproduce/KEY/files/...        further results of the cell
    .reproduce/KEY/workspace/...    what an unfinished cell saved on the way

KEY is `Job.key`. A record is whole or absent, so a kill at any moment costs at most
the cell that was being computed. Nothing here is deleted except the workspace of a
cell that is finished. A record that something else has damaged counts as absent, and
so does one whose files are gone; the next result takes its place.
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
        return self.record(job).is_file() and not self.is_damaged(job)

    def is_damaged(self, job: Job) -> bool:
        """Whether there is a record of `job` that does not hold a result."""
        try:
            result = self.load(job)
        except FileNotFoundError:
            return False
        except ValueError:
            return True
        return not all(path.is_file() for path in result.files.values())

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
        ValueError
            If its record is damaged, naming it.
        """
        path, folder = self.record(job), self._folder(job) / "files"
        text = path.read_bytes()
        try:
            record = json.loads(text)
            return CellResult(
                parameters=record["parameters"],
                rows=record["rows"],
                files={name: folder / name for name in record["files"]},
                seconds=record["seconds"],
                library=record["library"],
            )
        except (ValueError, KeyError, TypeError) as error:
            message = f"{path} is damaged: {type(error).__name__}: {error}"
            raise ValueError(message) from error

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
        write_atomically(self.record(job), json_bytes(record))
        shutil.rmtree(self.workspace(job).folder, ignore_errors=True)

    def record(self, job: Job) -> Path:
        """Where the record of `job` is, or will be."""
        return self._folder(job) / "record.json"

    def _folder(self, job: Job) -> Path:
        return self.output / ".reproduce" / job.key
