"""Claims about the spread of logits in trained transformers, from the shipped run."""

import functools

import numpy as np

from sharp_attention.claims.registry import Measurement, declare
from sharp_attention.experiments import gaussian_rows, spread_table
from sharp_attention.theory import finite_precision

__all__: list[str] = []

_ours = functools.partial(
    declare,
    paper="ours",
    place="shipped run on SmolLM2 and MiniLM",
    chapter="logit-spread",
    confidence="D",
    command="sharp-attention reproduce logit-spread",
)


def _over_heads(model: str, length: int, column: str) -> float:
    table = spread_table.averaged(spread_table.heads(), model)
    return float(spread_table.over_heads(table)[column][length])


def _slopes(model: str) -> dict[str, list[float]]:
    slopes = spread_table.slopes(spread_table.heads()).reset_index()
    rows = slopes[slopes["model"] == model]
    return {n: list(map(float, rows[n])) for n in ("spread", "max_weight")}


@_ours(
    "minilm-spread-64",
    statement="Over the heads of MiniLM the mean spread at 64 tokens is 8.75, to 5 % "
    "(earlier trial: four other texts of the same kinds).",
    quoted_value=8.75,
    tolerance=0.05 * 8.75,
)
def _minilm_spread() -> Measurement:
    return Measurement(_over_heads("minilm", 64, "mean"))


@_ours(
    "smollm2-spread-64",
    statement="Over the heads of SmolLM2 the mean spread at 64 tokens is 11.41, to "
    "10 % (earlier trial: four other texts of the same kinds).",
    quoted_value=11.41,
    tolerance=0.1 * 11.41,
)
def _smollm2_spread() -> Measurement:
    return Measurement(_over_heads("smollm2", 64, "mean"))


@_ours(
    "trained-spread-outgrows-log",
    statement="From 32 tokens on the mean spread grows faster than log n, for both "
    "models on each of four texts (measured: smallest change per e-fold of n).",
    quoted_value=1.0,
    comparison="at least",
)
def _outgrows_log() -> Measurement:
    return Measurement(min(_slopes("smollm2")["spread"] + _slopes("minilm")["spread"]))


@_ours(
    "lemma-silent-for-decoder",
    statement="At 1024 tokens the bound exp(spread) / n of the lemma is below 1 for at "
    "most 2 % of the heads of SmolLM2 (measured: their share).",
    quoted_value=0.02,
    comparison="at most",
)
def _lemma_silent() -> Measurement:
    return Measurement(_over_heads("smollm2", 1024, "below_log"))


@_ours(
    "encoder-disperses",
    statement="The mean largest weight of MiniLM falls at least like n^(-1/4) from 32 "
    "to 512 tokens on each text (measured: largest slope of its logarithm).",
    quoted_value=-0.25,
    comparison="at most",
)
def _encoder_disperses() -> Measurement:
    return Measurement(max(_slopes("minilm")["max_weight"]))


@_ours(
    "decoder-hardly-disperses",
    statement="The mean largest weight of SmolLM2 falls more slowly than n^(-0.15) "
    "from 32 to 1024 tokens on each text (measured: smallest slope of its logarithm).",
    quoted_value=-0.15,
    comparison="at least",
)
def _decoder_hardly_disperses() -> Measurement:
    return Measurement(min(_slopes("smollm2")["max_weight"]))


@_ours(
    "first-token-takes-a-quarter",
    statement="The first token has at least a quarter of the weight in SmolLM2 at any "
    "length up to 1024 (measured: smallest mean over heads and texts).",
    quoted_value=0.25,
    comparison="at least",
)
def _first_token() -> Measurement:
    table = spread_table.averaged(spread_table.heads(), "smollm2")
    return Measurement(float(spread_table.over_heads(table)["first_weight"].min()))


@_ours(
    "trained-rows-have-gaussian-twins",
    statement="Without the first token the mean entropy over the heads of either model "
    "is that of independent Gaussian logits of the same mean spread, to 0.4 nats at "
    "every length (measured: largest difference).",
    quoted_value=0.4,
    comparison="at most",
)
def _gaussian_twins() -> Measurement:
    gaps = []
    for model in ("smollm2", "minilm"):
        table = spread_table.averaged(spread_table.heads(), model)
        rows = spread_table.over_heads(table)
        lengths = [int(length) for length in rows.index]
        twins = gaussian_rows.twins(lengths, list(rows["spread_rest"]))
        gaps.append(np.abs(rows["entropy_rest"].to_numpy() - twins["entropy"]).max())
    return Measurement(float(max(gaps)))


@_ours(
    "needle-dilutes-among-rivals",
    statement="Of the heads of SmolLM2 that look an answer up, the weight on it falls "
    "by a quarter or more from 64 to 1024 tokens, where the added tokens are rivals of "
    "the same form (measured: last weight over first).",
    quoted_value=0.75,
    comparison="at most",
)
def _dilutes_among_rivals() -> Measurement:
    return Measurement(_kept_weight("facts"))


@_ours(
    "needle-stays-in-prose",
    statement="Where the added tokens are prose, it keeps four fifths or more "
    "(measured: last weight over first).",
    quoted_value=0.8,
    comparison="at least",
)
def _stays_in_prose() -> Measurement:
    return Measurement(_kept_weight("prose"))


def _kept_weight(distractors: str) -> float:
    table = spread_table.lookups(spread_table.needles())
    weight = table[table["distractors"] == distractors]["target_weight"]
    return float(weight.iloc[-1] / weight.iloc[0])


@_ours(
    "aggregation-decides",
    statement="On one file of code the mean spread of SmolLM2 depends on how rows are "
    "put together by a factor of 1.5 or more (measured: largest mean over smallest).",
    quoted_value=1.5,
    comparison="at least",
)
def _aggregation_decides() -> Measurement:
    heads = spread_table.heads()
    length = int(heads["length"].max())
    means = spread_table.aggregations(heads, "smollm2", length)["mean"]
    return Measurement(float(means.max() / means.min()))


@_ours(
    "trained-spreads-below-floats",
    statement="The largest spread of any head of either model, over all rows together, "
    "is at least 36 decimal orders below the largest difference in bfloat16.",
    quoted_value=36.0,
    comparison="at least",
)
def _below_floats() -> Measurement:
    largest = float(spread_table.heads()["spread_matrix"].max())
    limit = finite_precision.spread_limit("bfloat16")
    return Measurement(float(np.log10(limit / largest)))


@functools.partial(
    declare,
    paper="softmax-not-enough",
    place="section on CLRS-Text",
    chapter="logit-spread",
    confidence="A",
    command="sharp-attention reproduce logit-spread",
    smaller_scale=True,
    expected="reproduced at smaller scale",
)(
    "adaptive-harms-pretrained",
    statement="Switched on at inference only, adaptive temperature does not help a "
    "pretrained language model (measured on SmolLM2: smallest ratio of perplexities "
    "with and without it, on four texts).",
    quoted_value=1.0,
    comparison="at least",
)
def _adaptive_harms() -> Measurement:
    table = spread_table.perplexity()
    return Measurement(float((table["adaptive"] / table["softmax"]).min()))
