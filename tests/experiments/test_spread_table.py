"""Tables over heads, from tables of which the answer is known."""

import numpy as np
import pandas as pd
import pytest

from sharp_attention.experiments import logit_spread, spread_table, spread_texts

LENGTHS = np.array([16, 32, 64, 128])
ROWS = [
    "max_weight",
    "entropy",
    "first_weight",
    "spread_rest",
    "max_weight_rest",
    "entropy_rest",
]


@pytest.fixture
def heads() -> pd.DataFrame:
    """Spreads of 2 ln n + head, weights like n^(-1/2), in each text the same."""
    rows = []
    for model in ("minilm", "smollm2"):
        for text in spread_texts.NAMES:
            for length in LENGTHS:
                for head in (1, 2, 3):
                    log = np.log(length)
                    spread = {n: 2 * log + head for n in logit_spread.SPREADS}
                    spread["spread_matrix"] *= 2
                    numbers = [
                        length**-0.5,
                        log / 2,
                        0.1,
                        log,
                        2 * length**-1.0,
                        log / 4,
                    ]
                    place = {"model": model, "text": text, "length": length}
                    place |= {"layer": 1, "head": head}
                    rows.append(place | spread | dict(zip(ROWS, numbers, strict=True)))
    return pd.DataFrame(rows)


def test_statistics_over_heads(heads) -> None:
    heads.loc[heads["head"] == 3, "spread"] = 0.5
    found = spread_table.over_heads(spread_table.averaged(heads, "minilm"))
    base = 2 * np.log(LENGTHS)
    assert (found["heads"] == 3).all()
    np.testing.assert_allclose(found["min"], 0.5)
    np.testing.assert_allclose(found["max"], base + 2)
    np.testing.assert_allclose(found["median"], base + 1)
    np.testing.assert_allclose(found["mean"], (2 * base + 3.5) / 3)
    np.testing.assert_allclose(found["below_log"], 1 / 3)
    np.testing.assert_allclose(found["max_weight"], LENGTHS**-0.5)


def test_averages_leave_the_code_out(heads) -> None:
    heads.loc[heads["text"] == "code", "spread"] = 1e6
    assert spread_table.averaged(heads, "smollm2")["spread"].max() < 20
    with pytest.raises(ValueError, match="model must be one of 'minilm', 'smollm2'"):
        spread_table.averaged(heads, "gemma")


def test_slopes_are_found(heads) -> None:
    heads.loc[heads["length"] < 32, ["spread", "entropy"]] = 77.0  # not looked at
    found = spread_table.slopes(heads)
    assert len(found) == 8
    for name, slope in {
        "spread": 2,
        "entropy": 0.5,
        "max_weight": -0.5,
        "spread_rest": 1,
        "max_weight_rest": -1,
        "entropy_rest": 0.25,
    }.items():
        np.testing.assert_allclose(found[name], slope, atol=1e-9)


def test_aggregations_stand_side_by_side(heads) -> None:
    found = spread_table.aggregations(heads, "smollm2", 128)
    assert list(found.index) == list(logit_spread.SPREADS)
    base = 2 * np.log(128)
    np.testing.assert_allclose(found.loc["spread", "mean"], base + 2)
    np.testing.assert_allclose(found.loc["spread_matrix", "max"], 2 * (base + 3))


def test_lookups_follow_the_heads_that_were_chosen() -> None:
    names = ["target_weight", "target_gap", "spread", "entropy", "max_weight"]
    rows = [
        {
            "distractors": kind,
            "length": length,
            "layer": layer,
            "head": 1,
            # Layers 1 and 2 are chosen at the shortest length, whatever they do later.
            "chosen_by": 1 / layer if length == 64 else layer,
            **dict.fromkeys(names, layer + length),
        }
        for kind in ("facts", "prose")
        for length in (64, 128)
        for layer in (1, 2, 3)
    ]
    found = spread_table.lookups(pd.DataFrame(rows), num_heads=2)
    assert found["target_weight"].tolist() == [65.5, 129.5] * 2
    assert found["distractors"].tolist() == ["facts"] * 2 + ["prose"] * 2
