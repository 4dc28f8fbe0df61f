from pathlib import Path

import pytest

from sharp_attention.experiments import places


@pytest.fixture
def fake_clone(tmp_path: Path) -> Path:
    package = tmp_path / "clone" / "lib" / "sharp_attention"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (tmp_path / "clone" / "pyproject.toml").touch()
    return tmp_path / "clone"


@pytest.fixture
def no_clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in an empty folder with the package installed elsewhere."""
    site_packages = tmp_path / "site-packages" / "sharp_attention"
    monkeypatch.setattr(places, "package_folder", lambda: site_packages)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SHARP_ATTENTION_CACHE", raising=False)
    return tmp_path


def test_package_folder_holds_the_package() -> None:
    assert (places.package_folder() / "experiments" / "places.py").is_file()


def test_clone_is_found_from_any_folder_inside(
    fake_clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = fake_clone / "book" / "results"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    monkeypatch.delenv("SHARP_ATTENTION_CACHE", raising=False)
    assert places.clone() == fake_clone
    assert places.results_folder("toy") == inside / "toy"
    assert places.cache_folder() == fake_clone / ".cache"


def test_clone_that_the_package_is_installed_from_counts_elsewhere(
    fake_clone: Path, no_clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = fake_clone / "lib" / "sharp_attention"
    monkeypatch.setattr(places, "package_folder", lambda: package)
    assert places.clone() == fake_clone


def test_outside_a_clone(no_clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(no_clone / "xdg"))
    assert places.clone() is None
    assert places.results_folder("toy") == Path("results/toy")
    assert places.cache_folder() == no_clone / "xdg" / "sharp-attention"


def test_a_wheel_brings_the_shipped_results_along(no_clone: Path) -> None:
    shipped = places.package_folder() / "results" / "toy"
    assert places.shipped_folder("toy") == Path("results/toy")
    shipped.mkdir(parents=True)
    assert places.shipped_folder("toy") == shipped
    assert places.results_folder("toy") == Path("results/toy")


def test_own_results_come_before_those_of_the_wheel(no_clone: Path) -> None:
    (places.package_folder() / "results" / "toy").mkdir(parents=True)
    Path("results/toy").mkdir(parents=True)
    assert places.shipped_folder("toy") == Path("results/toy")


@pytest.mark.parametrize(
    ("platform", "ending"),
    [
        ("linux", ".cache/sharp-attention"),
        ("darwin", "Library/Caches/sharp-attention"),
        ("win32", "AppData/Local/sharp-attention"),
    ],
)
def test_each_platform_has_its_cache(
    no_clone: Path, monkeypatch: pytest.MonkeyPatch, platform: str, ending: str
) -> None:
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setattr(Path, "home", lambda: no_clone)
    for variable in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(variable, raising=False)
    assert places.cache_folder() == no_clone / ending


def test_cache_can_be_chosen(no_clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHARP_ATTENTION_CACHE", "elsewhere")
    assert places.cache_folder() == Path("elsewhere")
