import hashlib
import json
import shutil
from pathlib import Path

import pytest

from sharp_attention.experiments import catalogue, places, shipped

RESULTS = places.results_folder("x").parent


def test_every_artefact_has_a_row() -> None:
    table = shipped.table()
    assert set(table["name"]) == {
        p.parent.name for p in RESULTS.glob("*/manifest.json")
    }
    assert set(catalogue.names()) <= set(table["name"])
    assert table["is_intact"].all()
    assert (table[["seconds", "files", "bytes", "seeds"]] > 0).all(axis=None)


def test_a_row_says_what_the_manifest_says() -> None:
    row = shipped.table().set_index("name").loc["dispersion-sweep"]
    content = (RESULTS / "dispersion-sweep" / "manifest.json").read_bytes()
    manifest = json.loads(content)
    assert row["checksum"] == hashlib.sha256(content).hexdigest()
    assert row["command"] == manifest["command"]
    assert row["seeds"] == len(manifest["seeds"])
    sizes = [
        (RESULTS / "dispersion-sweep" / name).stat().st_size
        for name in manifest["files"]
    ]
    assert row["bytes"] == sum(sizes)


@pytest.mark.parametrize("is_lost", [True, False], ids=["lost", "changed"])
def test_a_damaged_artefact_is_not_intact(
    is_lost: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "dispersion-sweep"
    shutil.copytree(RESULTS / name, tmp_path / name)
    monkeypatch.setattr(places, "shipped_folder", lambda name: tmp_path / name)
    assert shipped.names() == [name]
    assert shipped.table()["is_intact"].all()
    (data,) = (tmp_path / name).glob("*.csv")
    if is_lost:
        data.unlink()
    else:
        data.write_bytes(data.read_bytes() + b"\n")
    assert not shipped.table()["is_intact"].any()
