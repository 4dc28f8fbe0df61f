import csv
import io
import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sharp_attention.experiments import files


def test_write_creates_folders_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b.bin"
    files.write_atomically(path, b"content")
    assert path.read_bytes() == b"content"
    assert list(path.parent.iterdir()) == [path]


def test_write_replaces_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "b.bin"
    files.write_atomically(path, b"a long first content")
    files.write_atomically(path, b"second")
    assert path.read_bytes() == b"second"


def test_failed_write_leaves_the_old_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "b.bin"
    files.write_atomically(path, b"first")

    def refuse(*_: object) -> None:
        raise OSError("no")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="no"):
        files.write_atomically(path, b"second")
    assert path.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [path]


def test_file_appears_only_when_its_bytes_are_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda h: (order.append("sync"), fsync(h)))
    monkeypatch.setattr(os, "replace", lambda *a: (order.append("name"), replace(*a)))
    files.write_atomically(tmp_path / "b.bin", b"content")
    assert order[:2] == ["sync", "name"]


def test_csv_has_fixed_bytes() -> None:
    rows = [
        {"rule": "soft, max", "n": 16, "p": 0.1, "q": None, "ok": True},
        {"rule": "b", "n": 2**70, "p": float("inf"), "q": 1e-300, "ok": False},
    ]
    assert files.csv_bytes(rows) == (
        b'rule,n,p,q,ok\n"soft, max",16,0.1,,True\nb,1180591620717411303424,inf,'
        b"1e-300,False\n"
    )


@given(st.floats(allow_nan=False, width=64))
@settings(derandomize=True, deadline=None)
def test_floats_come_back_bit_by_bit(value: float) -> None:
    text = files.csv_bytes([{"value": value}]).decode()
    (row,) = csv.DictReader(io.StringIO(text))
    assert float(row["value"]).hex() == value.hex()
    assert json.loads(files.json_bytes(value)).hex() == value.hex()


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "rows must be at least one row"),
        ([{"a": 1}, {"b": 1}], r"columns of row 1 must be \['a'\]; received \['b'\]"),
        ([{"a": 1, "b": 2}, {"b": 2, "a": 1}], "columns of row 1 must be"),
    ],
    ids=["empty", "other columns", "other order"],
)
def test_csv_refuses(rows: list[files.Row], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        files.csv_bytes(rows)


def test_json_takes_numpy_scalars() -> None:
    content = {"n": np.int64(3), "p": np.float64(0.1), "is_top": np.bool_(True)}
    assert json.loads(files.json_bytes(content)) == {"n": 3, "p": 0.1, "is_top": True}


def test_json_refuses_what_is_no_plain_value() -> None:
    with pytest.raises(TypeError, match="a record must hold plain values"):
        files.json_bytes({"file": Path("a")})


def test_prune_keeps_the_newest(tmp_path: Path) -> None:
    for age, name in enumerate(["new", "middle", "old"]):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (1e9 - age, 1e9 - age))
    files.prune(tmp_path.iterdir(), keep=2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["middle", "new"]
