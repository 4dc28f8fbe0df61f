"""Weights from files: whole ones are read right, damaged ones are named."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import tiny_models
from sharp_attention.models import pretrained
from sharp_attention.models.pretrained import (
    bert_folder,
    cached,
    gguf_file,
    packages,
    tokens,
)
from sharp_attention.models.pretrained.decoder import Decoder

pytest.importorskip("gguf")
has_tokenizers = importlib.util.find_spec("tokenizers") is not None


@pytest.fixture
def _no_tokenizer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let files be read where the package ``tokenizers`` is not installed."""
    letters = tiny_models.Letters()
    monkeypatch.setattr(tokens, "byte_level_json", lambda *tables: json.dumps(tables))
    for module in (pretrained.loading, tokens):
        monkeypatch.setattr(module, "from_json", lambda text: letters)


@pytest.fixture
def gguf_path(tmp_path: Path) -> Path:
    return tiny_models.save_gguf(tmp_path / "tiny.gguf")


@pytest.mark.usefixtures("_no_tokenizer")
class TestGguf:
    def test_arrays_and_settings_are_what_was_saved(self, gguf_path: Path) -> None:
        checkpoint = gguf_file.read(gguf_path)
        assert gguf_file.settings(checkpoint.facts) == tiny_models.DECODER
        saved = tiny_models.decoder_arrays()
        assert set(checkpoint.arrays) == set(saved)
        for name, array in saved.items():
            # Q8_0 keeps 1/254 of the largest number of each block of 32.
            slack = 0.02 if "ffn_down" in name else 0.0
            np.testing.assert_allclose(checkpoint.arrays[name], array, atol=slack)

    def test_vocabulary_is_handed_to_the_tokenizer(self, gguf_path: Path) -> None:
        tables = json.loads(gguf_file.read(gguf_path).tokenizer)
        assert tables == [["<s>", "a", "b", "ab"], [3, 1, 1, 1], ["a b"]]

    def test_load_computes_what_the_arrays_say(
        self, gguf_path: Path, tmp_path: Path
    ) -> None:
        model = pretrained.load(gguf_path, cache=tmp_path / "cache")
        arrays = gguf_file.read(gguf_path).arrays
        expected = Decoder.from_arrays(arrays, tiny_models.DECODER)
        row = np.arange(9)
        ours = model.next_token_logits(row)
        np.testing.assert_array_equal(ours, expected.next_token_logits(row))

    @pytest.mark.parametrize("share", [0.0, 0.01, 0.2, 0.6, 0.99])
    def test_a_truncated_file_is_named(
        self, gguf_path: Path, tmp_path: Path, share: float
    ) -> None:
        content = gguf_path.read_bytes()
        gguf_path.write_bytes(content[: int(share * len(content))])
        with pytest.raises(ValueError, match=r"tiny\.gguf is not a whole GGUF file"):
            pretrained.load(gguf_path, cache=tmp_path / "cache")
        assert not (tmp_path / "cache").exists()

    def test_another_kind_of_file_is_named(self, tmp_path: Path) -> None:
        path = tmp_path / "text.gguf"
        path.write_text("not weights" * 100)
        with pytest.raises(ValueError, match=r"text\.gguf is not a whole GGUF file"):
            pretrained.load(path, cache=tmp_path)

    def test_another_architecture_is_refused(self, tmp_path: Path) -> None:
        path = tiny_models.save_gguf(tmp_path / "x.gguf", architecture="gptneox")
        with pytest.raises(
            ValueError, match=r"x\.gguf .* architecture must be 'llama'"
        ):
            pretrained.load(path, cache=tmp_path / "cache")

    def test_what_was_read_once_is_not_read_again(
        self, gguf_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first = cached.read_gguf(gguf_path, "a" * 64, tmp_path)
        monkeypatch.setattr(gguf_file, "read", None)
        again = cached.read_gguf(gguf_path, "a" * 64, tmp_path)
        assert again.facts == first.facts
        assert again.tokenizer == first.tokenizer
        for name, array in first.arrays.items():
            np.testing.assert_array_equal(again.arrays[name], array)

    def test_a_damaged_cache_is_named(self, gguf_path: Path, tmp_path: Path) -> None:
        cached.read_gguf(gguf_path, "a" * 64, tmp_path)
        kept = tmp_path / ("a" * 16) / "weights.safetensors"
        kept.write_bytes(kept.read_bytes()[:-1000])
        with pytest.raises(ValueError, match=r"weights\.safetensors is not whole"):
            cached.read_gguf(gguf_path, "a" * 64, tmp_path)

    def test_cache_folder_can_be_chosen(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("SHARP_ATTENTION_CACHE", str(tmp_path))
        assert cached.default_folder() == tmp_path / "models"
        monkeypatch.delenv("SHARP_ATTENTION_CACHE")
        assert cached.default_folder().parts[-2:] == ("sharp-attention", "models")


@pytest.mark.usefixtures("_no_tokenizer")
class TestBert:
    def test_load_computes_what_the_arrays_say(self, tmp_path: Path) -> None:
        model = pretrained.load(tiny_models.save_bert(tmp_path / "bert"))
        row = np.arange(9)
        expected = tiny_models.encoder().attention_logits(row)
        np.testing.assert_array_equal(model.attention_logits(row), expected)
        assert not model.is_causal

    def test_truncated_weights_are_named(self, tmp_path: Path) -> None:
        folder = tiny_models.save_bert(tmp_path / "bert")
        path = folder / "model.safetensors"
        path.write_bytes(path.read_bytes()[:-100])
        with pytest.raises(ValueError, match=r"model\.safetensors is not a whole"):
            pretrained.load(folder)

    def test_missing_weights_are_named(self, tmp_path: Path) -> None:
        folder = tiny_models.save_bert(tmp_path / "bert")
        (folder / "model.safetensors").unlink()
        with pytest.raises(FileNotFoundError, match=r"model\.safetensors"):
            pretrained.load(folder)

    @pytest.mark.parametrize(
        ("facts", "words"),
        [
            ({"hidden_act": "relu"}, "hidden_act in .* must be 'gelu'"),
            ({"position_embedding_type": "relative_key"}, "position_embedding_type"),
        ],
    )
    def test_other_kinds_of_bert_are_refused(
        self, tmp_path: Path, facts: dict, words: str
    ) -> None:
        folder = tiny_models.save_bert(tmp_path / "bert")
        path = folder / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | facts))
        with pytest.raises(ValueError, match=words):
            bert_folder.read(folder)

    def test_settings_that_are_missing_are_named(self, tmp_path: Path) -> None:
        folder = tiny_models.save_bert(tmp_path / "bert")
        (folder / "config.json").write_text('{"model_type": "bert"}')
        with pytest.raises(ValueError, match="num_hidden_layers"):
            pretrained.load(folder)

    def test_what_is_no_json_is_named(self, tmp_path: Path) -> None:
        folder = tiny_models.save_bert(tmp_path / "bert")
        (folder / "config.json").write_text("{")
        with pytest.raises(ValueError, match=r"config\.json is not JSON"):
            pretrained.load(folder)

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (b"[]", "must hold a JSON object; received a list"),
            (b"null", "must hold a JSON object; received a NoneType"),
            (b"\xff\xfe", "is not JSON"),
            (b"[" * 100_000, "is not JSON"),
        ],
    )
    def test_a_config_that_holds_no_facts_is_named(
        self, tmp_path: Path, content: bytes, words: str
    ) -> None:
        (tmp_path / "config.json").write_bytes(content)
        with pytest.raises(ValueError, match=rf"config\.json {words}"):
            pretrained.load(tmp_path)


class TestPaths:
    def test_a_folder_without_a_model(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError, match=r"no config\.json"):
            pretrained.load(tmp_path)

    def test_a_file_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError, match=r"gone\.gguf"):
            pretrained.load(tmp_path / "gone.gguf")

    def test_a_file_of_another_kind(self, tmp_path: Path) -> None:
        (tmp_path / "notes.txt").write_text("hello")
        with pytest.raises(ValueError, match=r"ends with \.gguf or \.safetensors"):
            pretrained.load(tmp_path / "notes.txt")

    def test_packaged_names_only(self) -> None:
        with pytest.raises(ValueError, match="name must be one of 'smollm2', 'minilm'"):
            pretrained.load_packaged("smollm3")


class TestPackages:
    @pytest.fixture
    def toy(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        folder = tmp_path / "toy_weights"
        folder.mkdir()
        (folder / "__init__.py").write_text("raise AssertionError('was run')")
        path = folder / "weights.bin"
        path.write_bytes(b"whole")
        entry = packages.PackagedFile(
            "toy-weights==1.0", "toy_weights", "weights.bin", packages.sha256(path)
        )
        monkeypatch.setitem(packages.PACKAGED, "toy", entry)
        monkeypatch.syspath_prepend(tmp_path)
        return path

    def test_a_whole_file_is_found_and_no_code_run(self, toy: Path) -> None:
        assert packages.locate("toy") == toy

    def test_a_changed_file_is_named_with_what_to_do(self, toy: Path) -> None:
        toy.write_bytes(b"whol")
        with pytest.raises(ValueError, match=r"weights\.bin is not what toy-weights"):
            packages.locate("toy")

    def test_a_missing_file_is_named(self, toy: Path) -> None:
        toy.unlink()
        with pytest.raises(ValueError, match=r"force-reinstall.*weights\.bin"):
            packages.locate("toy")

    def test_a_missing_package_gives_the_install_line(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
        with pytest.raises(ModuleNotFoundError, match=r"requirements-models\.txt"):
            pretrained.load("smollm2")

    def test_a_missing_reader_gives_the_install_line(self) -> None:
        with pytest.raises(ModuleNotFoundError, match=r"'nothing_like_it'.*--no-deps"):
            packages.import_reader("nothing_like_it")

    def test_requirements_pin_what_is_read(self) -> None:
        lines = Path(__file__).parents[3].joinpath("requirements-models.txt")
        text = lines.read_text()
        for name in ("smollm2", "minilm"):
            assert packages.PACKAGED[name].requirement in text
        assert text.count("--hash=sha256:") >= 6


@pytest.mark.skipif(not has_tokenizers, reason="needs tokenizers")
def test_byte_level_tokenizer_merges_splits_digits_and_keeps_control_tokens() -> None:
    text = tokens.byte_level_json(
        ["<s>", "a", "b", "ab", "1", "2", "12"], [3, 1, 1, 1, 1, 1, 1], ["a b", "1 2"]
    )
    tokenizer = tokens.from_json(text)
    assert tokenizer.encode("<s>abb12").tolist() == [0, 3, 2, 4, 5]
    assert tokenizer.pieces(np.array([3, 4])) == ["ab", "1"]
