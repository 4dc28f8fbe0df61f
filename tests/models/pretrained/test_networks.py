"""Decoder and encoder against the same formulas in plain NumPy, float64."""

from collections.abc import Callable

import jax
import numpy as np
import pytest
from scipy.special import erf, expit, softmax

import tiny_models
from sharp_attention.attention.temperature import adaptive_softmax
from sharp_attention.models.pretrained.decoder import Decoder
from sharp_attention.models.pretrained.encoder import Encoder
from sharp_attention.models.pretrained.vectors import HeadVectors

TOKENS = np.random.default_rng(1).integers(0, tiny_models.VOCABULARY, 23)
Rule = Callable[[np.ndarray], np.ndarray]


def rule_of(name: str) -> Rule:
    if name == "softmax":
        return lambda logits: softmax(logits, axis=-1)
    return lambda logits: np.asarray(adaptive_softmax(logits), dtype=np.float64)


def rotated(rows: np.ndarray) -> np.ndarray:
    """Turn pairs as complex numbers: (length, head_dim)."""
    length, dim = rows.shape
    pairs = rows[:, : dim // 2] + 1j * rows[:, dim // 2 :]
    speeds = tiny_models.DECODER.rotary_base ** (-np.arange(dim // 2) * 2 / dim)
    turned = pairs * np.exp(1j * np.arange(length)[:, None] * speeds)
    return np.concatenate([turned.real, turned.imag], axis=1)


def plain_decoder(rule: Rule) -> tuple[np.ndarray, np.ndarray]:
    """Return logits of all heads and of the next tokens."""
    facts = tiny_models.DECODER
    w = {
        name.removesuffix(".weight"): array.astype(np.float64)
        for name, array in tiny_models.decoder_arrays().items()
    }

    def norm(x: np.ndarray, gain: np.ndarray) -> np.ndarray:
        return gain * x / np.sqrt((x**2).mean(axis=1, keepdims=True) + facts.epsilon)

    x, seen = w["token_embd"][TOKENS], []
    hidden = np.triu(np.ones((len(x), len(x)), dtype=bool), 1)
    for b in range(facts.num_layers):
        normal, outputs = norm(x, w[f"blk.{b}.attn_norm"]), []
        q, k, v = (normal @ w[f"blk.{b}.attn_{n}"].T for n in "qkv")
        for head in range(facts.num_heads):
            own = slice(4 * head, 4 * head + 4)
            shared = slice(4 * (head // 2), 4 * (head // 2) + 4)
            logits = rotated(q[:, own]) @ rotated(k[:, shared]).T / 2
            logits[hidden] = -np.inf
            seen.append(logits)
            outputs.append(rule(logits) @ v[:, shared])
        x = x + np.concatenate(outputs, axis=1) @ w[f"blk.{b}.attn_output"].T
        normal = norm(x, w[f"blk.{b}.ffn_norm"])
        gate = normal @ w[f"blk.{b}.ffn_gate"].T
        up = normal @ w[f"blk.{b}.ffn_up"].T
        x = x + (gate * expit(gate) * up) @ w[f"blk.{b}.ffn_down"].T
    final = norm(x, w["output_norm"])
    shape = (facts.num_layers, facts.num_heads, len(x), len(x))
    return np.reshape(seen, shape), final @ w["token_embd"].T


def plain_encoder() -> tuple[np.ndarray, np.ndarray]:
    """Return logits of all heads and the final features."""
    facts = tiny_models.ENCODER
    w = {n: a.astype(np.float64) for n, a in tiny_models.encoder_arrays().items()}

    def norm(x: np.ndarray, name: str) -> np.ndarray:
        scale = np.sqrt(x.var(axis=1, keepdims=True) + facts.epsilon)
        centred = x - x.mean(axis=1, keepdims=True)
        return w[f"{name}.weight"] * centred / scale + w[f"{name}.bias"]

    def affine(x: np.ndarray, name: str) -> np.ndarray:
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    x = w["embeddings.word_embeddings.weight"][TOKENS]
    x = x + w["embeddings.position_embeddings.weight"][: len(x)]
    x = norm(
        x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm"
    )
    seen = []
    for b in range(facts.num_layers):
        p = f"encoder.layer.{b}"
        q, k, v = (
            affine(x, f"{p}.attention.self.{n}") for n in ("query", "key", "value")
        )
        heads = [slice(8 * h, 8 * h + 8) for h in range(facts.num_heads)]
        logits = [q[:, own] @ k[:, own].T / 8**0.5 for own in heads]
        seen += logits
        mixed = [
            softmax(e, axis=-1) @ v[:, own]
            for e, own in zip(logits, heads, strict=True)
        ]
        answer = affine(np.concatenate(mixed, axis=1), f"{p}.attention.output.dense")
        x = norm(x + answer, f"{p}.attention.output.LayerNorm")
        inner = affine(x, f"{p}.intermediate.dense")
        inner = inner * (1 + erf(inner / 2**0.5)) / 2
        x = norm(x + affine(inner, f"{p}.output.dense"), f"{p}.output.LayerNorm")
    return np.reshape(seen, (facts.num_layers, facts.num_heads, len(x), len(x))), x


@pytest.mark.parametrize("rule", ["softmax", "adaptive"])
def test_decoder_is_the_plain_formula(rule: str) -> None:
    logits, scores = plain_decoder(rule_of(rule))
    network = tiny_models.decoder().network
    assert isinstance(network, Decoder)
    _, seen = network.visit(TOKENS, HeadVectors.logits, rule)
    np.testing.assert_allclose(np.stack(seen), logits, rtol=2e-4, atol=2e-4)
    ours = network.next_token_logits(TOKENS, rule)
    np.testing.assert_allclose(ours, scores, rtol=2e-3, atol=2e-3)


def test_the_rule_of_the_weights_matters() -> None:
    plain, adaptive = (plain_decoder(rule_of(r))[1] for r in ("softmax", "adaptive"))
    assert np.abs(plain - adaptive).max() > 0.1


def test_encoder_is_the_plain_formula() -> None:
    logits, features = plain_encoder()
    network = tiny_models.encoder().network
    assert isinstance(network, Encoder)
    ours, seen = network.visit(TOKENS, HeadVectors.logits)
    np.testing.assert_allclose(np.stack(seen), logits, rtol=2e-4, atol=2e-4)
    np.testing.assert_allclose(ours, features, rtol=2e-4, atol=2e-4)


def test_attention_logits_stack_all_layers() -> None:
    logits = tiny_models.decoder().attention_logits(TOKENS)
    assert logits.shape == (2, 4, 23, 23)
    rows = jax.nn.softmax(logits, axis=-1).sum(axis=-1)
    np.testing.assert_allclose(rows, 1.0, rtol=1e-5)
    assert np.isneginf(np.asarray(logits)[:, :, 0, 1:]).all()


def test_a_missing_tensor_is_named() -> None:
    arrays = tiny_models.decoder_arrays()
    del arrays["blk.1.ffn_up.weight"]
    with pytest.raises(ValueError, match=r"blk\.1\.ffn_up\.weight"):
        Decoder.from_arrays(arrays, tiny_models.DECODER)
    arrays = tiny_models.encoder_arrays()
    del arrays["embeddings.LayerNorm.bias"]
    with pytest.raises(ValueError, match=r"embeddings\.LayerNorm\.bias"):
        Encoder.from_arrays(arrays, tiny_models.ENCODER)
