"""The real models against what transformers gave, where only the weights are there."""

import importlib.util
import json

import jax
import numpy as np
import pytest

import record_transformers
from sharp_attention.models.pretrained import load_packaged, packages

RECORDED = json.loads(record_transformers.FILE.read_text())


@pytest.mark.medium
@pytest.mark.parametrize("name", ["smollm2", "minilm"])
def test_attention_is_that_of_transformers(name: str) -> None:
    for needed in ("gguf", "tokenizers", packages.PACKAGED[name].module):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed: make models")
    model, expected = load_packaged(name), RECORDED[name]
    tokens = expected["tokens"]
    weights = np.asarray(jax.nn.softmax(model.attention_logits(tokens), axis=-1))
    for place, row in expected["last_row"].items():
        layer, head = map(int, place.split(","))
        np.testing.assert_allclose(weights[layer, head, -1], row, atol=1e-5)
    if name == "smollm2":
        best = np.asarray(model.next_token_logits(tokens)).argmax(axis=-1)
        assert best.tolist() == expected["next_tokens"]


def test_the_record_is_of_rows_that_add_up_to_one() -> None:
    for name in ("smollm2", "minilm"):
        rows = np.array(list(RECORDED[name]["last_row"].values()))
        assert len(rows) >= 6
        np.testing.assert_allclose(rows.sum(axis=1), 1.0, atol=1e-5)
        assert len(np.unique(rows, axis=0)) == len(rows)
