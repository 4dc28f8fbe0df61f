import importlib
import pickle

import pytest

from sharp_attention.experiments import catalogue

NAMES = catalogue.names()


@pytest.mark.parametrize("name", NAMES)
def test_every_experiment_knows_its_own_name(name: str) -> None:
    experiment = catalogue.find(name)
    assert experiment.name == name
    assert experiment.description.endswith(".")


@pytest.mark.parametrize("name", NAMES)
def test_quick_is_the_smaller_grid(name: str) -> None:
    experiment = catalogue.find(name)
    quick, full = (experiment.grid(scale, range(1)) for scale in ("quick", "full"))
    assert 0 < len(quick) <= len(full)


@pytest.mark.parametrize("name", NAMES)
def test_cells_can_be_sent_to_another_process(name: str) -> None:
    compute = catalogue.find(name).compute
    assert pickle.loads(pickle.dumps(compute)) is compute


def test_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="NAME must be one of dispersion-sweep"):
        catalogue.find("disperson-sweep")


def test_listing_names_imports_no_experiment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(name: str) -> None:
        raise AssertionError(name)

    monkeypatch.setattr(importlib, "import_module", refuse)
    assert catalogue.names() == NAMES
