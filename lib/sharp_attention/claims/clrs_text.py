"""Claims about the shipped CLRS-Text runs: small models trained from scratch.

They settle nothing about Gemma 2B, whose claims stand in `first_note` and are not run.
A verdict is that of `clrs_table.compare`, by a criterion written before any result was
read.
"""

import functools

from sharp_attention.claims.registry import Measurement, declare
from sharp_attention.experiments import clrs_table

__all__: list[str] = []

_ours = functools.partial(
    declare,
    paper="ours",
    place="shipped runs of CLRS-Text",
    chapter="clrs-text",
    confidence="D",
    command="sharp-attention reproduce clrs-text",
)


@_ours(
    "clrs-text-minimum-learned",
    statement="The small decoder learns minimum: at 4 numbers at least 65 % of the "
    "answers are right (measured: mean over seeds, softmax, in per cent).",
    quoted_value=65.0,
    comparison="at least",
)
def _minimum_learned() -> Measurement:
    means = clrs_table.by_size(clrs_table.read())
    chosen = (means["algorithm"] == "minimum") & (means["arm"] == "softmax")
    (row,) = means[chosen & (means["size"] == 4)].to_dict("records")
    return Measurement(100 * row["accuracy"], (100 * row["low"], 100 * row["high"]))


@_ours(
    "clrs-text-no-conclusion",
    statement="By the criterion set beforehand the small decoders allow no conclusion "
    "on any task about adaptive temperature beyond the sizes of training (measured: "
    "how many of the ten comparisons allow one).",
    quoted_value=0.0,
    comparison="at most",
)
def _no_conclusion() -> Measurement:
    verdicts = clrs_table.verdicts(clrs_table.read())["verdict"]
    return Measurement(float((verdicts != "no conclusion possible").sum()))


@_ours(
    "clrs-text-ceiling",
    statement="On minimum no arm is right more often than its answer was among those "
    "of training, at any size beyond 8 (measured: largest excess over seeds, arms and "
    "sizes, in points).",
    quoted_value=0.0,
    comparison="at most",
)
def _ceiling() -> Measurement:
    table = clrs_table.read()
    rows = table[(table["algorithm"] == "minimum") & (table["size"] > 8)]
    return Measurement(100 * float((rows["accuracy"] - rows["reachable"]).max()))


@_ours(
    "clrs-text-test-only-costs",
    statement="At the sizes of training, adaptive temperature switched on at test only "
    "costs accuracy on minimum and on binary search (measured: the higher upper end of "
    "the two paired 95 % intervals over seeds, in points).",
    quoted_value=0.0,
    comparison="at most",
)
def _test_only_costs() -> Measurement:
    table = clrs_table.read()
    ends = [
        sum(clrs_table.in_range(table, algorithm, "adaptive-test"))
        for algorithm in ("minimum", "binary_search")
    ]
    return Measurement(100 * max(ends))
