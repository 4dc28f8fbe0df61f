"""Decoders of transformers, watched from inside: a tiny Gemma with random weights."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from sharp_attention.cli import app
from sharp_attention.models.pretrained import foreign, load

needs_transformers = pytest.mark.skipif(
    any(importlib.util.find_spec(n) is None for n in ("transformers", "torch")),
    reason="needs transformers and torch",
)
pytestmark = pytest.mark.filterwarnings("default")

TEXT = "the quick brown fox jumps over the lazy dog and then it sleeps, " * 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Save a random Gemma with one key head, as gemma-2b has, and its tokenizer."""
    import tokenizers
    import torch
    import transformers

    torch.manual_seed(0)
    config = transformers.GemmaConfig(
        vocab_size=256,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=1,
        head_dim=16,
        max_position_embeddings=128,
        initializer_range=0.3,
    )
    target = tmp_path_factory.mktemp("gemma")
    transformers.GemmaForCausalLM(config).save_pretrained(target)
    vocabulary = {character: n for n, character in enumerate(map(chr, range(256)))}
    inner = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, []))
    transformers.PreTrainedTokenizerFast(tokenizer_object=inner).save_pretrained(target)
    return target


def eager_output(folder: Path, tokens: np.ndarray) -> Any:
    import torch
    import transformers

    network = transformers.AutoModelForCausalLM.from_pretrained(
        folder, attn_implementation="eager"
    ).eval()
    with torch.no_grad():
        return network(torch.as_tensor(tokens)[None], output_attentions=True)


@needs_transformers
def test_logits_give_the_attention_of_transformers(folder: Path) -> None:
    model = load(folder)
    tokens = model.encode(TEXT, 60)
    ours = np.asarray(jax.nn.softmax(model.attention_logits(tokens), axis=-1))
    attentions = eager_output(folder, tokens).attentions
    theirs = np.stack([layer[0].numpy() for layer in attentions])
    assert ours.shape == (3, 4, 60, 60)
    np.testing.assert_allclose(ours, theirs, atol=2e-6)


@needs_transformers
def test_spread_is_that_of_the_attention_of_transformers(folder: Path) -> None:
    model = load(folder)
    tokens = model.encode(TEXT, 60)
    attention = eager_output(folder, tokens).attentions
    last = np.stack([layer[0, :, -1].double().numpy() for layer in attention])
    logits = np.asarray(model.attention_logits(tokens))[:, :, -1]
    ours = logits.max(axis=-1) - logits.min(axis=-1)
    np.testing.assert_allclose(
        ours, np.log(last.max(axis=-1) / last.min(axis=-1)), rtol=1e-5
    )
    assert ours.min() > 0.1


@needs_transformers
def test_being_watched_changes_nothing(folder: Path) -> None:
    import torch

    model = load(folder)
    tokens = model.encode(TEXT, 60)
    model.visit(tokens, lambda vectors: None)
    with torch.no_grad():
        ours = model._network(torch.as_tensor(tokens)[None]).logits
    theirs = eager_output(folder, tokens).logits
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), atol=2e-4)


@needs_transformers
def test_command_prints_a_table_and_writes_csv(folder: Path, tmp_path: Path) -> None:
    text, output = tmp_path / "text.txt", tmp_path / "out.csv"
    text.write_text(TEXT)
    arguments = ["spread", str(folder), str(text), "--output", str(output)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    table = pd.read_csv(output)
    assert sorted(set(table["length"])) == [16, 32, 64, 128]
    assert len(table) == 4 * 3 * 4
    assert "16" in result.output
    assert "below ln n" in result.output


@needs_transformers
def test_caps_and_short_windows_are_refused(folder: Path) -> None:
    import torch

    query = torch.zeros(1, 2, 8, 4)
    seen: list = []
    with foreign._listening(seen.append), pytest.raises(ValueError, match="soft-cap"):
        foreign._attend(None, query, query, query, None, softcap=50.0)
    with foreign._listening(seen.append), pytest.raises(ValueError, match="window"):
        foreign._attend(None, query, query, query, None, sliding_window=4)
    assert seen == []


@needs_transformers
def test_unknown_model_is_named_in_one_line(monkeypatch: Any) -> None:
    import transformers

    def refuse(name: str) -> None:
        raise OSError(f"{name} is not a folder\nand no model that is known")

    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", refuse)
    with pytest.raises(FileNotFoundError, match=r"'nobody/nothing': .* folder and no"):
        load("nobody/nothing")


def test_missing_package_gives_the_line_that_installs_it(monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    result = CliRunner().invoke(app, ["spread", "google/gemma-2b", "a text of words"])
    assert result.exit_code == 2
    assert "pip install 'transformers>=5' torch" in result.stderr
