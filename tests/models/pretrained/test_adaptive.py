"""Adaptive temperature inside transformers: a tiny Gemma with random weights."""

import importlib
import importlib.util
import sys
from typing import Any

import numpy as np
import pytest

from sharp_attention.attention import attend
from sharp_attention.models.pretrained import adaptive
from sharp_attention.tasks import clrs_text

needs_transformers = pytest.mark.skipif(
    any(importlib.util.find_spec(n) is None for n in ("transformers", "torch")),
    reason="needs transformers and torch",
)
pytestmark = pytest.mark.filterwarnings("default")

EXAMPLES = clrs_text.recorded()["minimum"]


@pytest.fixture
def network() -> Any:
    """Draw a random Gemma with one key head, as gemma-2b has."""
    import torch
    import transformers

    torch.manual_seed(0)
    config = transformers.GemmaConfig(
        vocab_size=128,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=1,
        head_dim=16,
        max_position_embeddings=128,
        initializer_range=0.3,
    )
    return transformers.GemmaForCausalLM(config).eval()


@pytest.fixture
def tokenizer() -> Any:
    """Read one character as one token, behind a start token."""

    def read(text: str, *, add_special_tokens: bool = True) -> dict[str, list[int]]:
        return {"input_ids": [1] * add_special_tokens + [ord(c) for c in text]}

    return read


@needs_transformers
@pytest.mark.parametrize("length", [3, 40])
def test_attention_is_that_of_the_library(length: int) -> None:
    import torch

    rng = np.random.default_rng(0)
    query = 3 * rng.standard_normal((2, 4, length, 16), np.float32)
    key, value = rng.standard_normal((2, 2, 1, length, 16), np.float32)
    hidden = np.triu(np.ones((length, length), bool), 1)
    mask = np.where(hidden, np.finfo(np.float32).min, np.float32(0))[None, None]
    ours, weights = adaptive.adaptive_attention(
        torch.nn.Identity(), *map(torch.as_tensor, (query, key, value, mask))
    )
    expected = attend(
        *(array.swapaxes(1, 2) for array in (query, key, value)),
        weights="adaptive",
        is_causal=True,
    )
    np.testing.assert_allclose(ours.numpy(), expected, atol=2e-5)
    np.testing.assert_allclose(weights.sum(dim=-1).numpy(), 1, atol=1e-5)


@needs_transformers
def test_rule_can_be_chosen_and_taken_back(network: Any, tokenizer: Any) -> None:
    inputs = adaptive.batch(tokenizer, EXAMPLES)
    before = network(**inputs).logits.detach().numpy()
    adaptive.choose(network, "adaptive")
    changed = network(**inputs).logits.detach().numpy()
    adaptive.choose(network, "softmax")
    after = network(**inputs).logits.detach().numpy()
    assert np.isfinite(changed).all()
    assert np.abs(changed - before).max() > 1e-3
    seen = inputs["attention_mask"].numpy().astype(bool)
    np.testing.assert_allclose(after[seen], before[seen], atol=1e-4)


@needs_transformers
def test_one_step_lowers_the_loss_of_its_batch(network: Any, tokenizer: Any) -> None:
    adaptive.choose(network, "adaptive")
    (before,) = adaptive.fine_tune(
        network, tokenizer, [EXAMPLES], num_steps=1, learning_rate=1e-3
    )
    after = float(network(**adaptive.batch(tokenizer, EXAMPLES)).loss.detach())
    assert 0 < after < before


@needs_transformers
def test_loss_is_on_the_answers_alone(tokenizer: Any) -> None:
    inputs = adaptive.batch(tokenizer, EXAMPLES)
    for row, labels, example in zip(
        inputs["input_ids"], inputs["labels"], EXAMPLES, strict=True
    ):
        asked = labels != adaptive.IGNORED
        assert "".join(map(chr, labels[asked].tolist())) == example.answer
        assert (row[asked] == labels[asked]).all()


@needs_transformers
def test_too_few_batches_are_noticed(network: Any, tokenizer: Any) -> None:
    with pytest.raises(ValueError, match="batches must be 3 at least; received 1"):
        adaptive.fine_tune(network, tokenizer, [EXAMPLES], num_steps=3)


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ModuleNotFoundError, match="pip install 'transformers>=5'"):
        adaptive.register()
