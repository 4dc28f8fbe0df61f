"""Fine-tune a decoder of transformers on CLRS-Text, under softmax or adaptive weights.

    python tools/fine_tune_clrs.py google/gemma-2b --weights adaptive --output tuned

For who has the weights, and a machine that holds them: Gemma 2B takes 10 GB in float32
and four times that with the state of the optimiser (arithmetic; not run for the book).
Needs ``python -m pip install 'transformers>=5' torch`` and requirements-models.txt.
Writes the tuned decoder and ``accuracy.json``: the share of answers that are right to
the last token, at each size, under both rules at test.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sharp_attention.experiments.clrs_text import TASKS, TEST_SIZES
from sharp_attention.experiments.clrs_training import TRAINING_SIZES
from sharp_attention.models.pretrained import adaptive
from sharp_attention.tasks import clrs_text

Examples = list[clrs_text.Example]


def main(arguments: Sequence[str] | None = None) -> int:
    """Load, tune, test, write."""
    options = _parser().parse_args(arguments)
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(options.model)
    network = transformers.AutoModelForCausalLM.from_pretrained(options.model)
    network.to(options.device)
    adaptive.choose(network, options.weights)
    losses = adaptive.fine_tune(
        network,
        tokenizer,
        batches(options.algorithm, options.batch, options.seed),
        num_steps=options.steps,
        learning_rate=options.learning_rate,
    )
    rows = accuracies(network, tokenizer, options.algorithm, options.tests)
    options.output.mkdir(parents=True, exist_ok=True)
    network.save_pretrained(options.output)
    tokenizer.save_pretrained(options.output)
    record = {"losses": losses, "accuracy": rows, "trained_with": options.weights}
    (options.output / "accuracy.json").write_text(json.dumps(record, indent=1))
    return 0


def batches(algorithm: str, size: int, seed: int) -> Iterator[Examples]:
    """Yield fresh questions for ever, the sizes of training mixed; no arm decides."""
    rng, start = np.random.default_rng(seed), 1_000_000 * (seed + 1)
    for step in range(1_000_000):
        sizes = rng.choice(TRAINING_SIZES, size=size)
        drawn = np.unique(sizes, return_counts=True)
        yield [
            example
            for n, count in zip(*drawn, strict=True)
            for example in clrs_text.generate(
                algorithm, int(n), int(count), seed=start + step
            )
        ]


def accuracies(
    network: Any, tokenizer: Any, algorithm: str, num_texts: int
) -> list[dict[str, Any]]:
    """Score answers by one pass each: right if every token of it has the top logit."""
    import torch

    rows = []
    for rule in ("softmax", "adaptive"):
        adaptive.choose(network, rule)
        for size in TEST_SIZES:
            correct = 0
            for example in clrs_text.generate(algorithm, size, num_texts, seed=size):
                inputs = adaptive.batch(tokenizer, [example], network.device)
                labels = inputs.pop("labels")[:, 1:]
                with torch.no_grad():
                    best = network(**inputs).logits[:, :-1].argmax(dim=-1)
                right = (best == labels) | (labels == adaptive.IGNORED)
                correct += int(right.all())
            row = {"tested_with": rule, "size": size, "accuracy": correct / num_texts}
            rows.append(row)
    return rows


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="such as google/gemma-2b, or a folder")
    parser.add_argument("--weights", choices=("softmax", "adaptive"), required=True)
    parser.add_argument("--algorithm", choices=clrs_text.ALGORITHMS, default=TASKS[0])
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--tests", type=int, default=128)
    parser.add_argument("--learning-rate", type=float, default=1e-5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--output", type=Path, required=True)
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
