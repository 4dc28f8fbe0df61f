"""Record a slice of what transformers computes: ``python tests/support/record_...``.

Needs transformers, accelerate, torch and requirements-models.txt.  Writes
``tests/reference/transformers-attention.json``: weights of the last row of some heads
on a few tokens, and the most likely next tokens.
"""

import json
from pathlib import Path

import numpy as np

from sharp_attention.models.pretrained import packages

__all__ = ["FILE", "record"]

FILE = Path(__file__).parents[1] / "reference" / "transformers-attention.json"
LENGTH = 24
TOKENS = {
    "smollm2": (np.arange(LENGTH) ** 2 * 37 + 500) % 49152,
    "minilm": (np.arange(LENGTH) ** 2 * 37 + 2000) % 30522,
}
HEADS = {
    "smollm2": [(0, 0), (0, 8), (7, 3), (14, 4), (22, 1), (29, 0), (29, 8)],
    "minilm": [(0, 0), (1, 11), (2, 5), (3, 7), (4, 2), (5, 11)],
}


def record() -> None:
    """Run both models by transformers and write the file."""
    import torch
    import transformers

    path = packages.locate("smollm2")
    networks = {
        "smollm2": transformers.LlamaForCausalLM.from_pretrained(
            path.parent,
            gguf_file=path.name,
            attn_implementation="eager",
            dtype="float32",
        ),
        "minilm": transformers.BertModel.from_pretrained(
            packages.locate("minilm").parent, attn_implementation="eager"
        ),
    }
    slices = {}
    for name, network in networks.items():
        row = torch.as_tensor(TOKENS[name])[None]
        with torch.no_grad():
            output = network.eval()(row, output_attentions=True)
        weights = {
            f"{layer},{head}": output.attentions[layer][0, head, -1].tolist()
            for layer, head in HEADS[name]
        }
        slices[name] = {"tokens": TOKENS[name].tolist(), "last_row": weights}
        if name == "smollm2":
            slices[name]["next_tokens"] = output.logits[0].argmax(dim=-1).tolist()
    versions = {"transformers": transformers.__version__, "torch": torch.__version__}
    FILE.write_text(json.dumps({"versions": versions} | slices, indent=1) + "\n")


if __name__ == "__main__":
    record()
