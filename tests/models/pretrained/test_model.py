"""Text in, logits out: what a model refuses."""

import numpy as np
import pytest

import tiny_models
from sharp_attention.models.pretrained import HeadVectors, Watchable

TEXT = "a text that is long enough for some tokens"


def test_both_can_be_watched() -> None:
    assert isinstance(tiny_models.decoder(), Watchable)
    assert isinstance(tiny_models.encoder(), Watchable)


def test_an_encoder_keeps_the_end_of_a_cut_text() -> None:
    assert tiny_models.encoder().encode(TEXT, 8)[[0, -1]].tolist() == [0, 1]


def test_a_decoder_takes_the_first_tokens() -> None:
    model = tiny_models.decoder()
    np.testing.assert_array_equal(model.encode(TEXT, 8), model.encode(TEXT)[:8])


def test_a_text_shorter_than_asked_is_refused() -> None:
    with pytest.raises(ValueError, match=r"at least 64 tokens; received 42"):
        tiny_models.decoder().encode(TEXT, 64)


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        ([[1, 2]], "one row of integers"),
        ([0.5], "one row of integers"),
        ([], "one row of integers"),
        ([64], "from 0 to 63"),
        ([-1], "from 0 to 63"),
        ([0] * 129, "at most 128"),
    ],
)
def test_tokens_that_are_refused(tokens: list, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        tiny_models.decoder().attention_logits(tokens)
    with pytest.raises(ValueError, match=words):
        tiny_models.encoder().attention_logits(tokens)


def test_an_encoder_predicts_no_token() -> None:
    with pytest.raises(ValueError, match="must be a decoder"):
        tiny_models.encoder().next_token_logits([1, 2])


def test_visit_gives_a_layer_at_a_time() -> None:
    shapes = tiny_models.decoder().visit([1, 2, 3], lambda v: v.query.shape)
    assert shapes == [(4, 3, 4), (4, 3, 4)]
    causal = tiny_models.decoder().visit([1, 2, 3], HeadVectors.visible)
    assert np.asarray(causal[0]).sum() == 6
    both = tiny_models.encoder().visit([1, 2, 3], HeadVectors.visible)
    assert np.asarray(both[0]).all()
