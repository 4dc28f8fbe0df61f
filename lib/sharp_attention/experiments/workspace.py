"""The folder in which a cell that runs for minutes saves its state on the way."""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import equinox as eqx

from sharp_attention.experiments.files import write_atomically

__all__ = ["Workspace"]

State = TypeVar("State")


@dataclass(frozen=True)
class Workspace:
    """Scratch space of one cell: kept while it is unfinished, then deleted.

    A cell that is computed a second time after a kill finds here what it saved, and
    must then end with the same result as if it had never been stopped.
    So save everything that the next step depends on: parameters, state of the
    optimiser, random key, number of the step.
    """

    folder: Path

    def save(self, state: object, name: str = "state") -> None:
        """Save a tree of arrays and numbers in place of the last one, atomically."""
        buffer = io.BytesIO()
        eqx.tree_serialise_leaves(buffer, state)
        write_atomically(self._path(name), buffer.getvalue())

    def load(self, like: State, name: str = "state") -> State | None:
        """Return the saved tree, or None if there is none yet.

        Parameters
        ----------
        like : a tree of the same structure, shapes and types; its numbers don't count
        name : as it was saved

        Raises
        ------
        RuntimeError
            If what was saved has another structure, shape or type than `like`.
        """
        path = self._path(name)
        if not path.is_file():
            return None
        return eqx.tree_deserialise_leaves(io.BytesIO(path.read_bytes()), like)

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.eqx"
