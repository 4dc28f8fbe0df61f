"""Claims about the smallest entropy that a bounded spread allows."""

import functools
import itertools
import math

import numpy as np

from sharp_attention.claims import _weights
from sharp_attention.claims.registry import Measurement, declare
from sharp_attention.theory import dispersion

__all__: list[str] = []

_ours = functools.partial(
    declare,
    paper="ours",
    place="Lemma 2.1, for the entropy",
    chapter="dispersion-lemma",
    confidence="D",
)


@_ours(
    "entropy-above-leader",
    statement="The entropy H is at least -log(largest weight) (measured: smallest "
    "difference on random rows, in nats).",
    quoted_value=0.0,
    comparison="at least",
    tolerance=1e-12,
)
def _entropy_above_leader() -> Measurement:
    rows = _weights.random_rows()
    largest = _weights.softmax(rows).max(-1)
    return Measurement(float((_weights.row_entropy(rows) + np.log(largest)).min()))


@_ours(
    "entropy-simple-bound",
    statement="H is at least log n - delta/theta (measured: smallest difference "
    "between the entropy floor and that, in nats).",
    quoted_value=0.0,
    comparison="at least",
    tolerance=1e-12,
)
def _entropy_simple_bound() -> Measurement:
    spreads = np.linspace(0.0, 20.0, 41)
    sizes = [1, 2, 16, 1000, 10**60]
    gaps = [
        dispersion.entropy_floor(spreads, size, 2.0) - (math.log(size) - spreads / 2.0)
        for size in sizes
    ]
    return Measurement(float(np.min(gaps)))


@_ours(
    "entropy-floor-holds",
    statement="No row has less entropy than the floor of its spread (measured: "
    "smallest difference on random rows, in nats).",
    quoted_value=0.0,
    comparison="at least",
    tolerance=1e-11,
)
def _entropy_floor_holds() -> Measurement:
    rows = _weights.random_rows()
    floor = dispersion.entropy_floor(dispersion.spread(rows), rows.shape[-1])
    return Measurement(float((_weights.row_entropy(rows) - floor).min()))


@_ours(
    "entropy-floor-exact",
    statement="The floor is the exact minimum: on all rows of six logits on a grid "
    "that holds both ends (measured: largest difference, in nats).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-12,
)
def _entropy_floor_exact() -> Measurement:
    gaps = []
    for spread in (0.5, 2.0, 5.69):
        levels = np.linspace(0.0, spread, 7)
        rows = np.array(list(itertools.combinations_with_replacement(levels, 6)))
        weights = np.exp(rows) / np.exp(rows).sum(-1, keepdims=True)
        lowest = _weights.entropy_of(weights).min()
        gaps.append(abs(lowest - dispersion.entropy_floor(spread, 6)))
    return Measurement(float(max(gaps)))


def _declare_floor(num_items: int, nats: float) -> None:
    @_ours(
        f"entropy-floor-{num_items}",
        statement=f"At spread 5.69 among {num_items:,} items the smallest entropy is "
        f"{nats} nats.",
        quoted_value=nats,
        tolerance=5e-4,
    )
    def _floor() -> Measurement:
        return Measurement(float(dispersion.entropy_floor(5.69, num_items)))


_declare_floor(16, 0.324)
_declare_floor(512, 3.271)
_declare_floor(16_384, 6.737)


@_ours(
    "entropy-deficit",
    statement="For large n the smallest entropy is log n - (c - 1 - log c) with "
    "c = x/(exp(x)-1): dispersed is not uniform, whatever n (measured: largest "
    "difference at 10**60 items, in nats).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-9,
)
def _entropy_deficit() -> Measurement:
    x = np.array([0.1, 1.0, 5.69, 30.0])
    c = x / np.expm1(x)
    floor = dispersion.entropy_floor(x, 10**60)
    deficit = 60 * math.log(10) - floor
    return Measurement(float(np.abs(deficit - (c - 1 - np.log(c))).max()))
