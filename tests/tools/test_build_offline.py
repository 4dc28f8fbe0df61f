import hashlib
import zipfile

import pytest

import build_offline


@pytest.fixture
def site(tmp_path):
    site = tmp_path / "site"
    for name in ("index.html", "404.html", "book/index.html", "_static/a.css"):
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(name)
    (site / ".nojekyll").touch()
    return site


def test_zip_holds_the_pages_and_nothing_for_servers(site, tmp_path):
    target = tmp_path / "out" / "book.zip"
    checksum = build_offline.pack(site, target)
    assert checksum == hashlib.sha256(target.read_bytes()).hexdigest()
    with zipfile.ZipFile(target) as archive:
        assert archive.namelist() == [
            "sharp-attention/_static/a.css",
            "sharp-attention/book/index.html",
            "sharp-attention/index.html",
        ]
        assert archive.read("sharp-attention/_static/a.css") == b"_static/a.css"


def test_same_site_gives_the_same_bytes(site, tmp_path):
    first = build_offline.pack(site, tmp_path / "one.zip")
    (site / "index.html").touch()  # another time of change
    assert build_offline.pack(site, tmp_path / "two.zip") == first
    (site / "index.html").write_text("changed")
    assert build_offline.pack(site, tmp_path / "three.zip") != first


def test_without_a_site_it_says_what_to_do(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(build_offline, "SITE", tmp_path)
    assert build_offline.main() == 1
    assert "make book" in capsys.readouterr().err


def test_checksum_lies_beside_the_zip(site, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(build_offline, "TOP", tmp_path)
    monkeypatch.setattr(build_offline, "SITE", site)
    monkeypatch.setattr(build_offline, "OUTPUT", tmp_path / "out")
    assert build_offline.main() == 0
    (target,) = (tmp_path / "out").glob("*.zip")
    said, name = target.with_suffix(".zip.sha256").read_text().split()
    assert (said, name) == (
        hashlib.sha256(target.read_bytes()).hexdigest(),
        target.name,
    )
    assert target.name in capsys.readouterr().out
