"""Files that are either whole or absent, and the bytes that go into them.

The bytes of a table depend on its numbers alone: the shortest decimal that reads
back as the same float, fixed order, line feeds on every system.
"""

import csv
import io
import json
import os
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np

from sharp_attention._checks import require

__all__ = [
    "Row",
    "Value",
    "csv_bytes",
    "json_bytes",
    "prune",
    "write_atomically",
]

Value: TypeAlias = str | int | float | bool | np.generic | None
"""One entry of a table; a NumPy scalar is written as the plain number it holds."""

Row: TypeAlias = Mapping[str, Value]
"""One line of a table: column name to entry."""


def write_atomically(path: Path, content: bytes) -> None:
    """Write `content` to `path` so that a reader, or a crash, sees all of it or none.

    The bytes reach the disk under a hidden name in the same folder before that file
    takes the place of `path`; the folder is created where it is missing.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(path.parent)


def csv_bytes(rows: Sequence[Row]) -> bytes:
    """Return the table as CSV in UTF-8; columns in the order of the first row.

    Raises
    ------
    ValueError
        If there are no rows, or one row has other columns than the first.
    """
    require(len(rows) > 0, "rows", "at least one row", len(rows))
    columns = list(rows[0])
    for number, row in enumerate(rows):
        same = list(row) == columns
        require(same, f"columns of row {number}", f"{columns}", list(row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def json_bytes(content: object) -> bytes:
    """Return `content` as indented JSON in UTF-8; NumPy scalars become numbers."""
    text = json.dumps(content, indent=2, ensure_ascii=False, default=_plain_number)
    return f"{text}\n".encode()


def prune(paths: Iterable[Path], *, keep: int) -> None:
    """Delete all but the `keep` newest of the files `paths`."""
    newest_first = sorted(paths, key=lambda path: path.stat().st_mtime, reverse=True)
    for path in newest_first[keep:]:
        path.unlink(missing_ok=True)


def _plain_number(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a record must hold plain values; received {value!r}")


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # a folder can't be opened there
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
