"""Claims of the first seed note and its paper that no other subject treats."""

import functools

import jax
import numpy as np

from sharp_attention.attention import activations
from sharp_attention.claims.registry import Measurement, declare
from sharp_attention.experiments import finite_sample_tables, spread_table
from sharp_attention.models import random_transformer
from sharp_attention.tasks.single_location import MaxSLR
from sharp_attention.theory.single_location import population

__all__: list[str] = []

_note = functools.partial(
    declare,
    paper="softmax-not-enough",
    place="first seed note",
    chapter="dispersion-lemma",
    confidence="B",
)


@_note(
    "note-weights-become-uniform",
    place="first seed note, on Theorem 2.2",
    statement="With enough tokens the weights of every global head tend to the uniform "
    "distribution (measured: n times the largest weight of a random transformer at "
    "10^8 items, 1 if they do).",
    quoted_value=1.0,
    tolerance=0.1,
    expected="differs",
)
def _become_uniform() -> Measurement:
    model = random_transformer.RandomTransformer.initialise(0)
    shares = np.random.default_rng(0).dirichlet(np.ones(16))
    heads = random_transformer.evaluate_counts(model, 1e8 * shares).heads
    return Measurement(1e8 * float(np.asarray(heads.max_weight).max()))


@_note(
    "zero-temperature-passes-no-gradient",
    chapter="adaptive-temperature",
    statement="A head with temperature near 0 is hard to train: its weights do not "
    "answer to small changes of the logits (measured: largest derivative of a weight "
    "at temperature 0.001, on rows whose leader is a tenth ahead).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-12,
    confidence="A",
)
def _passes_no_gradient() -> Measurement:
    rows = np.random.default_rng(0).uniform(0, 1, (20, 16))
    rows[:, 0] = rows.max(axis=1) + 0.1

    def weights(row: jax.Array) -> jax.Array:
        return activations.softmax(row, temperature=1e-3)

    with jax.enable_x64(True):
        slopes = jax.vmap(jax.jacobian(weights))(rows)
        return Measurement(float(np.abs(np.asarray(slopes)).max()))


@_note(
    "larger-keys-overfit",
    place="first seed note, on Proposition 3.1",
    chapter="finite-samples",
    statement="Larger query and key matrices, which sharpness asks for, overfit "
    "(measured in single-location regression, signal 2, 8 texts per dimension: test "
    "risk less training loss at ridge 0.1, where the key is longer, over the same at "
    "the best ridges).",
    quoted_value=1.2,
    comparison="at least",
    smaller_scale=True,
    expected="reproduced at smaller scale",
    command="sharp-attention reproduce finite-samples",
)
def _overfit() -> Measurement:
    theory = finite_sample_tables.read("theory")
    is_here = (theory["task"] == "spiked 2") & (theory["sample_ratio"] == 8)
    rows = theory[is_here & (theory["activation"] == "softmax")].set_index("ridge")
    gap = rows["test_risk"] - rows["training_loss"]
    is_longer = rows["q_k"]["0.1"] > rows["q_k"]["best"]
    return Measurement(float(gap["0.1"] / gap["best"]) if is_longer else 0.0)


@_note(
    "note-linear-attention-is-spared",
    place="first seed note, limits",
    chapter="population-risk",
    confidence="C",
    statement="Architectures without softmax, such as linear attention, may not have "
    "the problem (measured: least risk of linear attention on a million tokens of the "
    "max task without doubt, where that of softmax is 0; 1 is that of saying nothing).",
    quoted_value=0.5,
    comparison="at most",
    expected="differs",
)
def _is_spared() -> Measurement:
    return Measurement(population.minimise(MaxSLR(np.inf, 10**6), "linear").risk)


def _output_gap(num_layers: int, seed: int) -> float:
    """How far one token of 1,001 moves the output of a row, over its length."""
    initialise = random_transformer.RandomTransformer.initialise
    model = initialise(seed, num_layers=num_layers)
    crowd = np.full(16, 1000 / 14)
    crowd[:2] = 0.0
    first, second = (
        np.asarray(random_transformer.evaluate_counts(model, bag).output[2])
        for bag in (crowd + np.eye(16)[0], crowd + np.eye(16)[1])
    )
    return float(np.linalg.norm(first - second) / np.linalg.norm(first))


@_note(
    "stacked-layers-compound",
    place="remark in appendix B (recollection, unconfirmed)",
    confidence="C",
    statement="Stacking layers compounds the effect (measured: how far one token of "
    "1,001 moves the output relative to its length, four layers over one, largest of "
    "three random transformers; below 1 if it compounds).",
    quoted_value=1.0,
    comparison="at most",
    expected="differs",
)
def _compound() -> Measurement:
    ratios = [_output_gap(4, seed) / _output_gap(1, seed) for seed in range(3)]
    return Measurement(max(ratios))


@_note(
    "figure-3-entropies-rise",
    place="Figure 3 (number unconfirmed)",
    chapter="logit-spread",
    confidence="C",
    statement="The entropy of every head of the first block rises with the number of "
    "tokens (the paper: Gemma 2B; measured on SmolLM2: smallest rise of a head's mean "
    "entropy when the length doubles, from 32 tokens on, in nats).",
    quoted_value=0.0,
    comparison="at least",
    smaller_scale=True,
    expected="reproduced at smaller scale",
    command="sharp-attention reproduce logit-spread",
)
def _entropies_rise() -> Measurement:
    heads = spread_table.averaged(spread_table.heads(), "smollm2")
    first = heads[heads["layer"] == heads["layer"].min()]
    curves = first.pivot(index="length", columns="head", values="entropy")
    return Measurement(float(curves.loc[32:].diff().min(axis=None)))


@_note(
    "gemma-2b-entropies-rise",
    place="Figure 3 (number unconfirmed)",
    chapter="logit-spread",
    confidence="C",
    statement="In the first block of Gemma 2B the entropy of every head rises with the "
    "number of elements (needs its weights, 10 GB in float32; the entropies of layer 1 "
    "are in the file that the command writes).",
    quoted_value=0.0,
    comparison="at least",
    expected="not run here",
    command="sharp-attention spread google/gemma-2b FILE",
)
def _needs_weights() -> Measurement:
    raise NotImplementedError("needs the weights of Gemma")


def _declare_fine_tune(name: str, statement: str) -> None:
    @_note(
        f"gemma-fine-tune-{name}",
        place="section on CLRS-Text",
        chapter="clrs-text",
        confidence="A",
        statement=f"{statement} (needs the weights of Gemma 2B and two fine-tunes of "
        "it, with softmax and with adaptive temperature in all heads, whose settings "
        "are not known to us).",
        quoted_value=0.0,
        comparison="at least",
        expected="not run here",
        command="python tools/fine_tune_clrs.py google/gemma-2b --weights adaptive "
        "--output tuned",
    )
    def _needs_fine_tune() -> Measurement:
        raise NotImplementedError("needs a fine-tune of Gemma")


_declare_fine_tune(
    "better",
    "Fine-tuned and run with adaptive temperature, Gemma 2B is better on most of the "
    "30 algorithms of CLRS-Text",
)
_declare_fine_tune(
    "better-out-of-range",
    "Its gain is largest at sizes beyond those of the fine-tune",
)
_declare_fine_tune(
    "exceptions",
    "Exceptions are Heapsort, Kruskal's spanning tree and Bubble sort",
)
_declare_fine_tune(
    "long-contexts",
    "The texts of these three are so long that the entropies of heads lie beyond the "
    "entropies that the polynomial was fitted to",
)
