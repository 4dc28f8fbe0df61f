"""Models of the shapes of SmolLM2 and MiniLM, tiny and with random weights."""

import json
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from sharp_attention.models.pretrained.decoder import Decoder, DecoderSettings
from sharp_attention.models.pretrained.encoder import Encoder, EncoderSettings
from sharp_attention.models.pretrained.model import PretrainedModel

__all__ = [
    "DECODER",
    "ENCODER",
    "Letters",
    "decoder",
    "decoder_arrays",
    "encoder",
    "encoder_arrays",
    "save_bert",
    "save_gguf",
]

WIDTH, VOCABULARY = 16, 64
DECODER = DecoderSettings(
    num_layers=2,
    num_heads=4,
    num_kv_heads=2,
    rotary_base=1e5,
    epsilon=float(np.float32(1e-5)),
    max_length=128,
)
ENCODER = EncoderSettings(num_layers=2, num_heads=2, epsilon=1e-12)


class Letters:
    """A tokenizer: a letter is a token, and an encoder's text has both its ends."""

    def __init__(self, *, ends: bool = False) -> None:
        self.ends = ends

    def encode(self, text: str) -> np.ndarray:
        letters = [ord(letter) % 60 + 2 for letter in text]
        return np.asarray([0, *letters, 1] if self.ends else letters)

    def pieces(self, tokens: np.ndarray) -> list[str]:
        return [chr(int(token) + 58) for token in tokens]


def decoder_arrays(seed: int = 0) -> dict[str, np.ndarray]:
    """Draw weights under the names of GGUF files, halves of pairs apart."""
    rng = np.random.default_rng(seed)
    kv_width = WIDTH * DECODER.num_kv_heads // DECODER.num_heads
    shapes = {"token_embd": (VOCABULARY, WIDTH), "output_norm": (WIDTH,)}
    for number in range(DECODER.num_layers):
        block = {
            "attn_norm": (WIDTH,),
            "attn_q": (WIDTH, WIDTH),
            "attn_k": (kv_width, WIDTH),
            "attn_v": (kv_width, WIDTH),
            "attn_output": (WIDTH, WIDTH),
            "ffn_norm": (WIDTH,),
            "ffn_gate": (32, WIDTH),
            "ffn_up": (32, WIDTH),
            "ffn_down": (WIDTH, 32),
        }
        shapes |= {f"blk.{number}.{name}": shape for name, shape in block.items()}
    return {
        f"{name}.weight": rng.normal(size=shape, scale=0.5).astype(np.float32)
        for name, shape in shapes.items()
    }


def encoder_arrays(seed: int = 0) -> dict[str, np.ndarray]:
    """Draw weights under the names of BERT checkpoints."""
    rng = np.random.default_rng(seed)
    maps = {
        "attention.self.query": (WIDTH, WIDTH),
        "attention.self.key": (WIDTH, WIDTH),
        "attention.self.value": (WIDTH, WIDTH),
        "attention.output.dense": (WIDTH, WIDTH),
        "intermediate.dense": (32, WIDTH),
        "output.dense": (WIDTH, 32),
        "attention.output.LayerNorm": (WIDTH,),
        "output.LayerNorm": (WIDTH,),
    }
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (VOCABULARY, WIDTH),
        "embeddings.position_embeddings.weight": (128, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
        "embeddings.LayerNorm.weight": (WIDTH,),
        "embeddings.LayerNorm.bias": (WIDTH,),
    }
    for number in range(ENCODER.num_layers):
        for name, shape in maps.items():
            shapes[f"encoder.layer.{number}.{name}.weight"] = shape
            shapes[f"encoder.layer.{number}.{name}.bias"] = shape[:1]
    return {
        name: rng.normal(size=shape, scale=0.5).astype(np.float32)
        for name, shape in shapes.items()
    }


def decoder() -> PretrainedModel:
    network = Decoder.from_arrays(decoder_arrays(), DECODER)
    return PretrainedModel("tiny decoder", network, Letters())


def encoder() -> PretrainedModel:
    network = Encoder.from_arrays(encoder_arrays(), ENCODER)
    return PretrainedModel("tiny encoder", network, Letters(ends=True))


def save_bert(folder: Path) -> Path:
    """Save the encoder as transformers would, with a tokenizer of two words."""
    facts = {
        "model_type": "bert",
        "num_hidden_layers": ENCODER.num_layers,
        "num_attention_heads": ENCODER.num_heads,
        "layer_norm_eps": ENCODER.epsilon,
        "hidden_act": "gelu",
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(facts))
    save_file(encoder_arrays(), folder / "model.safetensors")
    model = {"type": "WordLevel", "vocab": {"a": 0, "b": 1}, "unk_token": "a"}
    (folder / "tokenizer.json").write_text(
        json.dumps(
            {"version": "1.0"}
            | {
                "model": model,
                "added_tokens": [],
                "normalizer": None,
                "pre_tokenizer": {"type": "Whitespace"},
                "post_processor": None,
                "decoder": None,
                "padding": None,
                "truncation": None,
            }
        )
    )
    return folder


def save_gguf(path: Path, *, architecture: str = "llama") -> Path:
    """Save the decoder as llama.cpp would: rotated pairs side by side, one Q8_0."""
    import gguf

    writer = gguf.GGUFWriter(path, architecture)
    writer.add_block_count(DECODER.num_layers)
    writer.add_context_length(DECODER.max_length)
    writer.add_head_count(DECODER.num_heads)
    writer.add_head_count_kv(DECODER.num_kv_heads)
    writer.add_layer_norm_rms_eps(DECODER.epsilon)
    writer.add_rope_freq_base(DECODER.rotary_base)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(["<s>", "a", "b", "ab"])
    writer.add_token_types([3, 1, 1, 1])
    writer.add_token_merges(["a b"])
    heads = {"attn_q": DECODER.num_heads, "attn_k": DECODER.num_kv_heads}
    for name, array in decoder_arrays().items():
        kind = name.split(".")[-2]
        if kind in heads:
            halves = array.reshape(heads[kind], 2, -1, array.shape[-1])
            array = np.ascontiguousarray(halves.swapaxes(1, 2)).reshape(array.shape)
        if kind == "ffn_down":
            quantised = gguf.quants.quantize(array, gguf.GGMLQuantizationType.Q8_0)
            writer.add_tensor(name, quantised, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
        else:
            writer.add_tensor(name, array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
