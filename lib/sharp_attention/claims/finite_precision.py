"""Claims about rounding: where it breaks the lower bound and fakes sharpness."""

import functools

import numpy as np

from sharp_attention.claims import _weights
from sharp_attention.claims.registry import Measurement, declare
from sharp_attention.theory import finite_precision
from sharp_attention.theory.finite_precision import Format

__all__: list[str] = []

_ours = functools.partial(
    declare,
    paper="ours",
    place="Lemma 2.1 in finite precision",
    chapter="dispersion-lemma",
    confidence="D",
    tolerance=0.05,
)


def _declare_vanishing(
    id: str, number_format: Format, logit: float, flush_to_zero: bool = False
) -> None:
    way = "flushing small numbers" if flush_to_zero else "with subnormal numbers"

    @_ours(
        id,
        statement=f"After the shift by the maximum, exp rounds to 0 below {logit} in "
        f"{number_format} ({way}).",
        quoted_value=logit,
    )
    def _vanishing() -> Measurement:
        return Measurement(
            finite_precision.vanishing_logit(number_format, flush_to_zero=flush_to_zero)
        )


_declare_vanishing("exp-vanishes-float32", "float32", -103.97)
_declare_vanishing("exp-vanishes-float32-flushed", "float32", -87.3, flush_to_zero=True)
_declare_vanishing("exp-vanishes-bfloat16", "bfloat16", -92.9)
_declare_vanishing("exp-vanishes-float16", "float16", -17.33)


def _declare_swallowing(number_format: Format, gap: float) -> None:
    @_ours(
        f"sum-swallows-{number_format}",
        statement=f"A running sum in {number_format} no longer notices items more than "
        f"{gap} below the leader.",
        quoted_value=gap,
    )
    def _swallowing() -> Measurement:
        return Measurement(finite_precision.swallowing_gap(number_format))


_declare_swallowing("float32", 16.64)
_declare_swallowing("float16", 7.62)
_declare_swallowing("bfloat16", 5.55)


def _declare_example(
    number_format: Format, gap: float, num_items: int, truth: float
) -> None:
    row = np.zeros(num_items)
    row[0] = gap
    where = f"a leader {gap:g} ahead among {num_items:,} items"

    @_ours(
        f"{number_format}-reports-certainty",
        statement=f"A running sum in {number_format} reports the weight 1 for {where}.",
        quoted_value=1.0,
        tolerance=0.0,
    )
    def _reported() -> Measurement:
        weights = finite_precision.running_sum_weights(row, number_format)
        return Measurement(float(weights[0]))

    @_ours(
        f"{number_format}-truth",
        statement=f"The weight of {where} is {truth}.",
        quoted_value=truth,
        tolerance=5e-4,
    )
    def _truth() -> Measurement:
        return Measurement(float(_weights.softmax(row)[0]))


_declare_example("bfloat16", 6.0, 1000, 0.288)
_declare_example("float16", 8.0, 10_001, 0.230)
