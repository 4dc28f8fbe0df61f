"""The real models against transformers, where it and the weights are installed."""

import importlib.util
from typing import Any

import jax
import numpy as np
import pytest

from sharp_attention.models.pretrained import (
    PretrainedModel,
    load_packaged,
    packages,
)

MODULES = {name: entry.module for name, entry in packages.PACKAGED.items()}
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("default"),
    pytest.mark.skipif(
        any(
            importlib.util.find_spec(name) is None
            for name in ("transformers", "accelerate", "torch", "gguf", "tokenizers")
        ),
        reason="needs transformers, accelerate, torch and requirements-models.txt",
    ),
]

TEXT = (
    """The water of the lake was still, and on the 23rd of March, 1845, nobody had
asked whether 17 + 25 is 42. Attention is a convex combination of values: whatever the
length of the text, the output lies in their convex hull. "Is it not enough?" she said;
the answer depends on the spread of the logits. """
    * 4
)


def model_or_skip(name: str) -> PretrainedModel:
    if importlib.util.find_spec(MODULES[name]) is None:
        pytest.skip(f"{packages.PACKAGED[name].requirement} is not installed")
    return load_packaged(name)


@pytest.fixture(scope="module")
def decoder() -> PretrainedModel:
    return model_or_skip("smollm2")


@pytest.fixture(scope="module")
def decoder_peer(decoder: PretrainedModel) -> Any:
    import transformers

    path = packages.locate("smollm2")
    return transformers.LlamaForCausalLM.from_pretrained(
        path.parent,
        gguf_file=path.name,
        attn_implementation="eager",
        dtype="float32",
    ).eval()


def peer_output(peer: Any, tokens: np.ndarray) -> Any:
    import torch

    with torch.no_grad():
        return peer(torch.as_tensor(tokens)[None], output_attentions=True)


def largest_difference(model: PretrainedModel, peer: Any, tokens: np.ndarray) -> float:
    ours = jax.nn.softmax(model.attention_logits(tokens), axis=-1)
    attentions = peer_output(peer, tokens).attentions
    theirs = np.stack([layer[0].numpy() for layer in attentions])
    assert ours.shape == theirs.shape
    return float(np.abs(ours - theirs).max())


def test_decoder_attends_as_transformers(
    decoder: PretrainedModel, decoder_peer: Any
) -> None:
    difference = largest_difference(decoder, decoder_peer, decoder.encode(TEXT, 200))
    print(f"SmolLM2: largest difference of a weight {difference:.2g}")
    assert difference < 1e-5


def test_decoder_predicts_as_transformers(
    decoder: PretrainedModel, decoder_peer: Any
) -> None:
    tokens = decoder.encode(TEXT, 200)
    theirs = peer_output(decoder_peer, tokens).logits[0].numpy()
    ours = np.asarray(decoder.next_token_logits(tokens))
    np.testing.assert_array_equal(ours.argmax(axis=-1), theirs.argmax(axis=-1))
    np.testing.assert_allclose(ours, theirs, atol=1e-3)


def test_decoder_tokenizer_is_that_of_transformers(decoder: PretrainedModel) -> None:
    import transformers

    path = packages.locate("smollm2")
    theirs = transformers.AutoTokenizer.from_pretrained(
        path.parent, gguf_file=path.name
    )
    assert decoder.encode(TEXT).tolist() == theirs(TEXT)["input_ids"]


def test_encoder_attends_as_transformers() -> None:
    import transformers

    model = model_or_skip("minilm")
    folder = packages.locate("minilm").parent
    peer = transformers.BertModel.from_pretrained(
        folder, attn_implementation="eager"
    ).eval()
    tokens = model.encode(TEXT, 200)
    difference = largest_difference(model, peer, tokens)
    print(f"MiniLM: largest difference of a weight {difference:.2g}")
    assert difference < 1e-5
    theirs = transformers.AutoTokenizer.from_pretrained(folder)(TEXT)["input_ids"]
    assert model.encode(TEXT).tolist() == theirs
