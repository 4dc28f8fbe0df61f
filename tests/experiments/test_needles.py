"""The needle design: what stays the same while the text grows."""

import numpy as np
import pytest

import tiny_models
from sharp_attention.experiments import needles
from sharp_attention.models.pretrained.decoder import Decoder

LENGTHS = (180, 300, 500)


@pytest.fixture
def model():
    return tiny_models.decoder()


@pytest.mark.parametrize("distractors", needles.DISTRACTORS)
def test_beginning_question_and_distance_never_change(model, distractors: str) -> None:
    rows = [needles.tokens_of(model, 3, distractors, length) for length in LENGTHS]
    assert [len(tokens) for tokens, _ in rows] == list(LENGTHS)
    after = {len(tokens) - target for tokens, target in rows}
    assert len(after) == 1
    (distance,) = after
    for tokens, _ in rows[1:]:
        np.testing.assert_array_equal(tokens[:50], rows[0][0][:50])
        np.testing.assert_array_equal(
            tokens[-distance - 30 :], rows[0][0][-distance - 30 :]
        )


def test_the_target_is_the_first_digit(model) -> None:
    for number, (_, code) in enumerate(needles.NEEDLES):
        tokens, target = needles.tokens_of(model, number, "facts", 300)
        digits = model.tokenizer.encode(str(code))
        np.testing.assert_array_equal(tokens[target : target + 4], digits)


def test_lengths_that_cannot_be_had_are_refused(model) -> None:
    with pytest.raises(ValueError, match="length must be from"):
        needles.tokens_of(model, 0, "facts", 20)
    with pytest.raises(ValueError, match="length must be from"):
        needles.tokens_of(model, 0, "prose", 100_000)


def test_watched_row_is_the_last_of_the_attention(model) -> None:
    tokens, target = needles.tokens_of(model, 0, "prose", 180)
    network = model.network
    assert isinstance(network, Decoder)
    chance, table = needles._ask(network, tokens, target)
    # The tiny model was not told that it is short.
    _, seen = network.visit(tokens, lambda v: v.logits())
    logits = np.asarray(seen)[:, :, -1].astype(np.float64)
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(
        table[..., 0], weights[..., target], rtol=1e-3, atol=1e-6
    )
    np.testing.assert_allclose(
        table[..., 1], logits[..., target] - logits.max(axis=-1), rtol=1e-3, atol=1e-4
    )
    np.testing.assert_allclose(table[..., 2], weights.max(axis=-1), rtol=1e-3)
    spread = logits.max(axis=-1) - logits.min(axis=-1)
    np.testing.assert_allclose(table[..., 4], spread, rtol=1e-3)
    scores = np.asarray(network.next_token_logits(tokens)[-1], dtype=np.float64)
    expected = (
        np.exp(scores - scores.max())[tokens[target]]
        / np.exp(scores - scores.max()).sum()
    )
    assert chance == pytest.approx(expected, rel=1e-2)


def test_heads_are_chosen_and_measured_on_different_needles(model, monkeypatch) -> None:
    def ask(network, tokens, target):
        number = [np.array_equal(tokens, row) for row in rows].index(True)
        return 0.5, np.full((2, 4, 5), float(number))

    rows = [needles.tokens_of(model, n, "facts", 180)[0] for n in range(8)]
    monkeypatch.setattr(needles, "_ask", ask)
    table, answers = needles.measure(model, "facts", (180,))
    assert len(table) == 8
    assert {row["chosen_by"] for row in table} == {(0 + 2 + 4 + 6) / 4}
    assert {row["target_weight"] for row in table} == {(1 + 3 + 5 + 7) / 4}
    assert [row["needle"] for row in answers] == [name for name, _ in needles.NEEDLES]


def test_encoders_and_unknown_distractors_are_refused(model) -> None:
    with pytest.raises(ValueError, match="must be a decoder"):
        needles.measure(tiny_models.encoder(), "facts", LENGTHS)
    with pytest.raises(ValueError, match="distractors must be one of 'facts'"):
        needles.measure(model, "poems", LENGTHS)
