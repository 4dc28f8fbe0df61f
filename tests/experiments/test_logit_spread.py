"""Measuring heads: rows, windows, aggregations, and the cells of the experiment."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax

import tiny_models
from sharp_attention.experiments import logit_spread, needles, spread_texts
from sharp_attention.experiments.records import CellResult
from sharp_attention.experiments.workspace import Workspace
from sharp_attention.models import pretrained

TEXT = spread_texts.read("genesis")


@pytest.fixture(scope="module")
def decoder_table() -> pd.DataFrame:
    return logit_spread.measure(tiny_models.decoder(), TEXT, (16, 64))


def head(table: pd.DataFrame, length: int, layer: int, number: int) -> pd.Series:
    chosen = (table["length"] == length) & (table["layer"] == layer)
    return table[chosen & (table["head"] == number)].iloc[0]


def test_every_head_has_a_row_at_each_length(decoder_table) -> None:
    assert len(decoder_table) == 2 * 2 * 4
    assert set(logit_spread.SPREADS) <= set(decoder_table.columns)
    assert decoder_table.notna().all(axis=None)


@pytest.mark.parametrize(("layer", "number"), [(1, 1), (2, 4)])
def test_decoder_windows_are_the_last_sixteenth(
    decoder_table, layer: int, number: int
) -> None:
    model = tiny_models.decoder()
    tokens = model.encode(TEXT, 64)
    logits = np.asarray(model.attention_logits(tokens), dtype=np.float64)
    rows = [row[: place + 1] for place, row in enumerate(logits[layer - 1, number - 1])]
    spreads = np.array([np.ptp(row) for row in rows])
    found = head(decoder_table, 64, layer, number)
    assert found["spread"] == pytest.approx(spreads[-4:].mean(), rel=1e-4)
    assert found["spread_last"] == pytest.approx(spreads[-1], rel=1e-4)
    assert found["spread_all"] == pytest.approx(spreads[1:].mean(), rel=1e-4)
    assert found["spread_largest"] == pytest.approx(spreads.max(), rel=1e-4)
    everything = np.concatenate(rows)
    assert found["spread_matrix"] == pytest.approx(np.ptp(everything), rel=1e-4)
    weights = [softmax(row) for row in rows[-4:]]
    expected = np.mean([row.max() for row in weights])
    assert found["max_weight"] == pytest.approx(expected, rel=1e-4)
    rest = [softmax(row[1:]).max() for row in rows[-4:]]
    assert found["max_weight_rest"] == pytest.approx(np.mean(rest), rel=1e-4)
    short = head(decoder_table, 16, layer, number)
    assert short["spread"] == pytest.approx(spreads[15], rel=1e-4)


@pytest.mark.medium
def test_an_encoder_reads_each_length_again_and_counts_all_rows() -> None:
    model = tiny_models.encoder()
    table = logit_spread.measure(model, TEXT, (16, 64))
    for length in (16, 64):
        logits = model.attention_logits(model.encode(TEXT, length))[1, 0]
        expected = np.ptp(np.asarray(logits, dtype=np.float64), axis=1).mean()
        found = head(table, length, 2, 1)
        assert found["spread"] == pytest.approx(expected, rel=1e-4)
        assert found["spread_all"] == found["spread"]


@pytest.mark.parametrize(
    ("text", "lengths", "words"),
    [
        ("short", (16,), "text must have at least 16 tokens; received 5"),
        (TEXT, (1,), "length must be >= 2"),
        (TEXT, (256,), "at most 128 for tiny decoder"),
        (TEXT, (), "lengths must be at least one"),
    ],
)
def test_what_is_refused(text: str, lengths: tuple, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        logit_spread.measure(tiny_models.decoder(), text, lengths)


@pytest.fixture
def outcomes(tmp_path, monkeypatch) -> list[CellResult]:
    """Compute a cell of each part with tiny models in place of the real ones."""
    tiny = {"smollm2": tiny_models.decoder(), "minilm": tiny_models.encoder()}
    monkeypatch.setattr(pretrained, "load_packaged", tiny.__getitem__)
    # One length for all, so that each network is compiled once.
    monkeypatch.setattr(logit_spread, "PERPLEXITY_LENGTH", 64)
    monkeypatch.setattr(logit_spread, "QUICK_LENGTHS", (64,))
    monkeypatch.setattr(logit_spread, "MAP_LENGTH", 64)
    monkeypatch.setattr(needles, "LENGTHS", (180,))
    cells = [
        {"part": "heads", "model": "minilm", "text": "code", "scale": "quick"},
        {"part": "heads", "model": "smollm2", "text": "prose", "scale": "quick"},
        {"part": "perplexity", "text": "prose"},
        {"part": "needles", "distractors": "facts"},
        {"part": "needles", "distractors": "prose"},
        {"part": "maps", "model": "smollm2"},
        {"part": "maps", "model": "minilm"},
    ]
    results = []
    for number, cell in enumerate(cells):
        outcome = logit_spread.compute(cell, Workspace(tmp_path))
        files = {}
        for name, content in outcome.files.items():
            files[name] = tmp_path / f"{number}-{name}"
            files[name].write_bytes(content)
        results.append(CellResult(cell, outcome.rows, files, 1.0, "library"))
    return results


def test_cells_become_tables_and_maps(outcomes) -> None:
    files = logit_spread.collect(outcomes)
    assert set(files) == {
        "heads.csv",
        "perplexity.csv",
        "needles.csv",
        "answers.csv",
        *(
            f"{m}-{name}"
            for m in ("smollm2", "minilm")
            for name in ("maps.npz", "pieces.json")
        ),
    }
    heads = pd.read_csv(io.BytesIO(files["heads.csv"]))
    assert len(heads) == 2 * 2 + 2 * 4
    answers = pd.read_csv(io.BytesIO(files["answers.csv"]))
    assert len(answers) == 2 * 8
    maps = np.load(io.BytesIO(files["smollm2-maps.npz"]))
    assert {name.split("-")[0] for name in maps} == {"first", "previous", "far", "flat"}
    for name in maps:
        np.testing.assert_allclose(maps[name].sum(axis=1, dtype=float), 1, atol=2e-2)
    assert len(json.loads(files["minilm-pieces.json"])) == logit_spread.MAP_LENGTH


def test_perplexity_is_that_of_the_next_tokens(outcomes) -> None:
    (cell,) = (c for c in outcomes if c.parameters["part"] == "perplexity")
    found = {row["rule"]: row["perplexity"] for row in cell.rows}
    model = tiny_models.decoder()
    tokens = model.encode(spread_texts.read("prose"), 64)
    for rule in ("softmax", "adaptive"):
        scores = np.asarray(model.next_token_logits(tokens, rule), dtype=np.float64)
        chances = softmax(scores[:-1], axis=-1)[np.arange(63), tokens[1:]]
        expected = np.exp(-np.log(chances).mean())
        assert found[rule] == pytest.approx(expected, rel=1e-5)
    assert found["adaptive"] != pytest.approx(found["softmax"], rel=5e-5)


def test_the_full_grid_has_every_text_and_part() -> None:
    cells = pd.DataFrame(logit_spread.grid("full", [0]))
    assert cells["part"].value_counts().to_dict() == {
        "heads": 10,
        "perplexity": 4,
        "needles": 2,
        "maps": 2,
    }


def test_heads_are_the_extremes_of_their_kind() -> None:
    weights = np.full((2, 2, 8, 8), 1 / 8)
    weights[0, 1] = np.eye(8)[[0] * 8]
    weights[1, 0] = np.eye(8)[[0, *range(7)]]
    weights[1, 1, 4:] = [[0, 1, 0, 0, 0, 0, 0, 0]] * 4
    assert logit_spread._characters(weights) == {
        "first": (0, 1),
        "previous": (1, 0),
        "far": (1, 1),
        "flat": (0, 0),
    }
