from pathlib import Path

import pytest

import toy_experiment as toy
from sharp_attention.experiments.records import Job

CELL = {"size": 1, "seed": 0}


def key(**changes: object) -> str:
    fields = {"experiment": toy.EXPERIMENT, "parameters": CELL, "device": "cpu"}
    return Job(**(fields | changes)).key


@pytest.mark.parametrize(
    "change",
    [
        {"experiment": toy.experiment(version=2)},
        {"experiment": toy.experiment(name="other")},
        {"parameters": {"size": 2, "seed": 0}},
        {"parameters": {"size": 1.5, "seed": 0}},
        {"device": "gpu"},
    ],
    ids=["version", "name", "value", "type", "device"],
)
def test_key_changes_with_whatever_decides_the_result(
    change: dict[str, object],
) -> None:
    assert key(**change) != key()


@pytest.mark.parametrize(
    "change",
    [
        {"experiment": toy.experiment(description="Other words.")},
        {"experiment": toy.experiment(num_seeds={"quick": 9, "full": 9})},
        {"parameters": {"seed": 0, "size": 1}},
    ],
    ids=["description", "number of seeds", "order of the parameters"],
)
def test_key_ignores_the_rest(change: dict[str, object]) -> None:
    assert key(**change) == key()


def test_key_is_pinned_so_that_saved_cells_stay_readable() -> None:
    assert key() == "985d1a42c794c201"


def test_seeds_and_cells_of_a_plan() -> None:
    assert toy.plan(Path()).seeds == [0, 1]
    assert toy.plan(Path(), scale="full").seeds == [0, 1, 2]
    jobs = toy.plan(Path(), num_seeds=1).jobs
    assert [job.parameters for job in jobs] == [CELL, {"size": 2, "seed": 0}]


@pytest.mark.parametrize(
    ("changes", "command"),
    [
        ({}, "sharp-attention reproduce toy --quick"),
        ({"scale": "full"}, "sharp-attention reproduce toy --full"),
        ({"num_seeds": 3}, "sharp-attention reproduce toy --quick --seeds 3"),
    ],
)
def test_command_of_a_plan(changes: dict[str, object], command: str) -> None:
    assert toy.plan(Path(), **changes).command == command


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"num_seeds": 0}, "seeds must be >= 1; received 0"),
        ({"num_seeds": -3}, "seeds must be >= 1; received -3"),
    ],
)
def test_plan_refuses(changes: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        toy.plan(Path(), **changes)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": "Two Words"}, "name must be lower case words with hyphens"),
        ({"name": "../up"}, "name must be lower case words with hyphens"),
        ({"version": 0}, "version must be >= 1; received 0"),
        ({"num_seeds": {"quick": 0, "full": 1}}, "num_seeds must be >= 1"),
    ],
)
def test_experiment_refuses(changes: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        toy.experiment(**changes)
