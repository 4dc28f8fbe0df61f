"""What an experiment is, what a cell of its grid gives, and what a run is asked for.

An experiment is a frozen record of three functions: `grid` lists the cells,
`compute` turns one cell into rows, `collect` turns all the rows into data files.
None of them prints, chooses a device or knows where files lie; the sweep does.

When is an old cell still good? A finished cell is known by the experiment's name
and `version`, by its parameters and by the kind of device (`Job.key`).
So whoever changes what a cell computes raises `version` by one, and all older cells
are ignored from then on; an edit elsewhere in the library keeps hours of work.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from sharp_attention._checks import check_choice, check_integer, require
from sharp_attention.experiments.files import Row
from sharp_attention.experiments.workspace import Workspace

__all__ = [
    "CellResult",
    "Device",
    "Experiment",
    "Job",
    "Outcome",
    "Parameters",
    "Plan",
    "Scale",
]

Scale: TypeAlias = Literal["quick", "full"]
"""quick: a look in seconds to minutes; full: the shipped artefact."""

Device: TypeAlias = Literal["cpu", "gpu"]
"""Kind of device that computes a cell."""

Parameters: TypeAlias = Mapping[str, Any]
"""What distinguishes one cell of the grid: strings, numbers and booleans by name."""


@dataclass(frozen=True)
class Outcome:
    """What one cell computes.

    Attributes
    ----------
    rows : lines of tables; plain values, and the same columns where they meet
    files : further results (weights, arrays) by file name
    """

    rows: Sequence[Row]
    files: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class CellResult:
    """A finished cell as it was read back from disk.

    Attributes
    ----------
    parameters, rows : of the cell
    files : where the further results lie, by file name
    seconds : how long the cell took
    library : fingerprint of the library that computed it
    """

    parameters: Parameters
    rows: Sequence[Row]
    files: Mapping[str, Path]
    seconds: float
    library: str


@dataclass(frozen=True)
class Experiment:
    """One entry of the catalogue.

    Attributes
    ----------
    name : hyphenated; also the name of the folder of its results
    description : one sentence
    version : raised by one whenever a cell's result changes
    num_seeds : how many seeds a run takes at each scale unless told otherwise
    grid : (scale, seeds) -> parameters of the cells, in the order of the tables
    compute : (parameters, workspace) -> `Outcome`; pure up to its own workspace, and
        importable by name, so that it can be sent to another machine
    collect : results in the order of the grid -> content of the data files by path
    """

    name: str
    description: str
    version: int
    num_seeds: Mapping[Scale, int]
    grid: Callable[[Scale, Sequence[int]], Sequence[Parameters]]
    compute: Callable[[Parameters, Workspace], Outcome]
    collect: Callable[[Sequence[CellResult]], Mapping[str, bytes]]

    def __post_init__(self) -> None:
        hyphenated = re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", self.name) is not None
        require(hyphenated, "name", "lower case words with hyphens", self.name)
        check_integer("version", self.version, at_least=1)
        for scale in get_args(Scale):
            check_integer("num_seeds", self.num_seeds.get(scale), at_least=1)


@dataclass(frozen=True)
class Job:
    """One cell of one experiment on one kind of device, ready to be computed."""

    experiment: Experiment
    parameters: Parameters
    device: Device

    @property
    def key(self) -> str:
        """16 hexadecimal digits for all that decides the cell's result."""
        identity = {
            "experiment": self.experiment.name,
            "version": self.experiment.version,
            "parameters": dict(self.parameters),
            "device": self.device,
        }
        text = json.dumps(identity, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Plan:
    """What one call of ``sharp-attention reproduce`` is asked for.

    Attributes
    ----------
    experiment : from the catalogue
    scale : quick or full
    num_seeds : seeds are 0, 1, …; None takes the experiment's own number
    device : kind of device that computes every cell
    output : folder of the data files, the manifest and the cells
    """

    experiment: Experiment
    scale: Scale
    num_seeds: int | None
    device: Device
    output: Path

    def __post_init__(self) -> None:
        check_choice("scale", self.scale, get_args(Scale))
        check_choice("device", self.device, get_args(Device))
        if self.num_seeds is not None:
            check_integer("seeds", self.num_seeds, at_least=1)

    @property
    def seeds(self) -> list[int]:
        """The seeds of the run."""
        default = self.experiment.num_seeds[self.scale]
        return list(range(self.num_seeds or default))

    @property
    def jobs(self) -> list[Job]:
        """All cells, in the order of the grid."""
        cells = self.experiment.grid(self.scale, self.seeds)
        return [Job(self.experiment, cell, self.device) for cell in cells]

    @property
    def command(self) -> str:
        """The command that asks for the same numbers."""
        seeds = "" if self.num_seeds is None else f" --seeds {self.num_seeds}"
        name = self.experiment.name
        return f"sharp-attention reproduce {name} --{self.scale}{seeds}"
