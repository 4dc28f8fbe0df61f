"""``sharp-attention spread``: tables, files, and errors in one line."""

from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner, Result

import tiny_models
from sharp_attention.cli import app
from sharp_attention.experiments import spread_texts
from sharp_attention.models import pretrained


@pytest.fixture(autouse=True)
def _tiny(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    models = {"smollm2": tiny_models.decoder(), "minilm": tiny_models.encoder()}
    monkeypatch.setattr(pretrained, "load", models.__getitem__)
    monkeypatch.chdir(tmp_path)


def spread(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["spread", *arguments])


@pytest.mark.parametrize(
    ("model", "heads", "lengths"), [("smollm2", 8, [16, 32, 64]), ("minilm", 4, [16])]
)
def test_prints_a_line_for_each_length_and_writes_each_head(
    model: str, heads: int, lengths: list[int]
) -> None:
    text = spread_texts.read("genesis")[: lengths[-1] + 5]
    Path("text.txt").write_text(text, encoding="utf-8")
    result = spread(model, "text.txt")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    for word in ("heads", "min", "mean", "std", "max", "entropy", "below ln n"):
        assert word in lines[1]
    table = pd.read_csv(f"spread-{model}.csv")
    assert sorted(set(table["length"])) == lengths
    assert len(table) == len(lengths) * heads
    shown = dict(line.split(maxsplit=1) for line in lines[3:])
    mean = table[table["length"] == lengths[-1]]["spread"].mean()
    assert f"{mean:.2f}" in shown[str(lengths[-1])]


def test_lengths_and_output_can_be_chosen() -> None:
    words = "some words that are the text itself and no file"
    result = spread("smollm2", words, "--lengths", "8, 40", "--output", "a.csv")
    assert result.exit_code == 0, result.output
    assert sorted(set(pd.read_csv("a.csv")["length"])) == [8, 40]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("smollm2", "nothing.txt"), "TEXT must be a text file that can be read"),
        (("smollm2", "nothing.txt"), "received 'nothing.txt': No such file"),
        (("smollm2", ""), "received '': Is a directory"),
        (("smollm2", "too short"), "at least 16 tokens; received 9"),
        (("smollm2", "a text of words", "--lengths", "64"), "at least 64 tokens"),
        (("smollm2", "a text of words", "--lengths", "2,x"), "whole numbers"),
        (("smollm2", "a text of words", "--lengths", "1"), "length must be >= 2"),
    ],
)
def test_refuses_in_one_line(arguments: tuple[str, ...], words: str) -> None:
    result = spread(*arguments)
    assert result.exit_code == 2
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not list(Path().glob("*.csv"))


def test_a_file_that_is_no_text_is_named() -> None:
    Path("picture.png").write_bytes(b"\x89PNG\xff\xfe")
    result = spread("smollm2", "picture.png")
    assert result.exit_code == 2
    assert "picture.png" in result.stderr
