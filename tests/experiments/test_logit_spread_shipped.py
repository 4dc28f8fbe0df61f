"""The shipped run on trained models: complete, small, and what the weights give."""

import importlib.util

import numpy as np
import pandas as pd
import pytest

from sharp_attention.experiments import (
    artefacts,
    logit_spread,
    places,
    spread_table,
    spread_texts,
)
from sharp_attention.models.pretrained import load_packaged, packages

FOLDER = places.shipped_folder("logit-spread")


def test_files_are_those_of_the_manifest() -> None:
    assert artefacts.damaged_files(FOLDER) == []


def test_it_is_small() -> None:
    names = artefacts.read_manifest("logit-spread")["files"]
    assert sum((FOLDER / name).stat().st_size for name in names) <= 2_000_000


def test_every_head_of_both_models_is_there() -> None:
    heads = spread_table.heads()
    counts = heads.groupby(["model", "text", "length"]).size()
    assert (counts["smollm2"] == 270).all()
    assert (counts["minilm"] == 72).all()
    for model, expected in logit_spread.LENGTHS.items():
        for text in spread_texts.FOUR:
            assert tuple(counts[model][text].index) == expected
    assert heads.notna().all(axis=None)


def test_statistics_are_possible() -> None:
    heads = spread_table.heads()
    assert (heads["spread_matrix"] >= heads["spread_largest"] - 1e-3).all()
    assert (heads["spread_largest"] >= heads["spread"] - 1e-3).all()
    assert heads["max_weight"].between(1 / heads["length"], 1.0001).all()
    assert (heads["entropy"] <= np.log(heads["length"]) + 1e-3).all()
    # Lemma 2.1 in log space: the largest weight is at most exp(spread) / n.
    window_of_one = heads[(heads["length"] == 16) & (heads["model"] == "smollm2")]
    bound = window_of_one["spread"] - np.log(16)
    assert (np.log(window_of_one["max_weight"]) <= bound + 1e-3).all()


@pytest.mark.medium
@pytest.mark.parametrize(("model", "length"), [("minilm", 64), ("smollm2", 16)])
def test_a_slice_is_computed_again(model: str, length: int) -> None:
    for needed in ("gguf", "tokenizers", packages.PACKAGED[model].module):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed: make models")
    text = spread_texts.read("genesis")
    again = logit_spread.measure(load_packaged(model), text, [length])
    shipped = spread_table.heads()
    chosen = (shipped["model"] == model) & (shipped["text"] == "genesis")
    rows = shipped[chosen & (shipped["length"] == length)].reset_index(drop=True)
    columns = list(again.columns)
    pd.testing.assert_frame_equal(again, rows[columns], rtol=1e-3, atol=1e-4)
