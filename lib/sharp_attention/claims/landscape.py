"""Claims about the landscape: minima, the manifold, and where descents end.

Section C of the second seed note makes three statements, all of them read here as
statements on the empirical risk of one draw of the texts, D = 200. Everything is read
from the shipped table of the experiment `landscape`.
"""

import functools
import math
from typing import Any

import pandas as pd
from scipy import stats

from sharp_attention.claims.registry import Measurement, declare
from sharp_attention.experiments import artefacts, landscape_table
from sharp_attention.tasks.single_location import SpikedSLR
from sharp_attention.theory.single_location import basins, key_landscape

__all__: list[str] = []

_note = functools.partial(
    declare,
    paper="single-location",
    place="second seed note, C",
    chapter="landscape",
    confidence="B",
    command="sharp-attention reproduce landscape",
)
_ours = functools.partial(
    declare,
    paper="ours",
    place="landscape",
    chapter="landscape",
    confidence="D",
    command="sharp-attention reproduce landscape",
)

_LARGE = {"signal": 10.0, "ridge": 1.0}
_SMALL = {"task": "spiked", "signal": 2.0, "sample_ratio": 2.0, "ridge": 0.1}


def _chosen(**names: Any) -> pd.DataFrame:
    """Return rows of the summary whose entries equal those that are named."""
    table = landscape_table.summary(artefacts.read_table("landscape", "minima.csv"))
    names = {"offset": "best"} | names
    for name, value in names.items():
        table = table[table[name] == value]
    return table


def _share(row: pd.Series, kind: str, end: str) -> Measurement:
    """Share of a kind of starts that ends there, with its interval of 95 %."""
    count, share = int(row[kind]), float(row[f"{kind}_{end}"])
    counted = stats.binomtest(round(share * count), count)
    interval = counted.proportion_ci(method="wilson")
    return Measurement(share, (float(interval.low), float(interval.high)))


@_note(
    "note-linear-one-minimum",
    statement="Linear attention has a unique local minimum (measured: minima that "
    "descents met on the same texts, spiked task, signal 10, two tokens, ridge 1).",
    quoted_value=1.0,
    expected="differs",
)
def _linear_one_minimum() -> Measurement:
    return Measurement(float(_chosen(**_LARGE, activation="linear")["minima"].iloc[0]))


@_note(
    "note-softmax-several-minima",
    statement="Softmax attention has several local minima (measured: minima that "
    "descents met, spiked task, signal 10, two tokens, ridge 1).",
    quoted_value=2.0,
    comparison="at least",
    expected="differs",
)
def _softmax_several_minima() -> Measurement:
    return Measurement(float(_chosen(**_LARGE, activation="softmax")["minima"].iloc[0]))


@_note(
    "note-softmax-several-minima-few-texts",
    statement="Softmax attention has several local minima (measured: minima that "
    "descents met with few texts, sample ratio 2 and ridge 0.1, signal 2).",
    quoted_value=2.0,
    comparison="at least",
)
def _softmax_several_minima_few() -> Measurement:
    return Measurement(float(_chosen(**_SMALL, activation="softmax")["minima"].iloc[0]))


@_note(
    "note-global-minimum-on-manifold",
    statement="The global minimum of softmax attention lies on the matched manifold "
    "(measured: largest cross overlap of the lowest minimum that was met, over all "
    "settings, in units of D^-1/2).",
    quoted_value=5.0,
    comparison="at most",
)
def _global_on_manifold() -> Measurement:
    rows = _chosen(activation="softmax")
    unmatched = rows["lowest"] != "matched"
    largest = rows["cross"].max() * math.sqrt(200.0)
    return Measurement(math.inf if unmatched.any() else float(largest))


@_note(
    "note-descents-find-the-global-minimum",
    statement="Most descents from random starts find the global minimum of softmax "
    "(measured: share that ends at the lowest minimum met, signal 10, ridge 1).",
    quoted_value=0.5,
    comparison="at least",
)
def _descents_find() -> Measurement:
    row = _chosen(**_LARGE, activation="softmax").iloc[0]
    return _share(row, "random", "best")


@_note(
    "note-descents-find-the-global-minimum-few-texts",
    statement="Most descents from random starts find the global minimum of softmax "
    "(measured: share that ends at the lowest minimum met with few texts, sample ratio "
    "2 and ridge 0.1, signal 2).",
    quoted_value=0.5,
    comparison="at least",
    expected="differs",
)
def _descents_find_few() -> Measurement:
    return _share(_chosen(**_SMALL, activation="softmax").iloc[0], "random", "best")


@_ours(
    "linear-swapped-basin",
    statement="Most descents of linear attention from near exchanged teachers end "
    "in a swapped minimum (measured: share at signal 10, ridge 1).",
    quoted_value=0.5,
    comparison="at least",
)
def _linear_basin() -> Measurement:
    row = _chosen(**_LARGE, activation="linear").iloc[0]
    return _share(row, "swapped", "swapped")


@_ours(
    "erf-has-other-minima",
    statement="Not every descent of erf attention from a random start finds the lowest "
    "minimum, even with many texts (measured: share that does, signal 10, ridge 1).",
    quoted_value=0.99,
    comparison="at most",
)
def _erf_minima() -> Measurement:
    row = _chosen(**_LARGE, activation="erf").iloc[0]
    return _share(row, "random", "best")


@_ours(
    "softmax-leaves-the-swapped-head",
    statement="Most descents of softmax attention from near exchanged teachers end "
    "in a matched minimum (measured: share at signal 10, ridge 0.1).",
    quoted_value=0.5,
    comparison="at least",
)
def _softmax_leaves() -> Measurement:
    row = _chosen(signal=10.0, ridge=0.1, activation="softmax").iloc[0]
    return _share(row, "swapped", "matched")


@_ours(
    "random-starts-miss-the-basin",
    statement="Random starts of linear attention at D = 200 hardly ever end in the "
    "swapped minimum (measured: share at signal 10, ridge 1).",
    quoted_value=0.15,
    comparison="at most",
)
def _random_misses() -> Measurement:
    row = _chosen(**_LARGE, activation="linear").iloc[0]
    return _share(row, "random", "swapped")


@_ours(
    "cross-overlaps-scaling",
    statement="The cross overlaps of trained softmax heads are of order D^-1/2 "
    "(measured: exponent of D between 50 and 400, 32 instances at each D; interval of "
    "two standard errors).",
    quoted_value=-0.5,
)
def _scaling() -> Measurement:
    table = landscape_table.cross_overlaps(
        artefacts.read_table("landscape", "dimension.csv")
    )
    slope, error = landscape_table.exponent(table)
    return Measurement(slope, (slope - 2 * error, slope + 2 * error))


@_ours(
    "swapped-key-ends-in-the-valley",
    statement="In the exact landscape of keys, linear attention with an ever longer "
    "key along v* comes down to the risk L/(L + nu) (measured: relative difference at "
    "length 1000, signal 10, two tokens).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-4,
)
def _valley() -> Measurement:
    task, limit = SpikedSLR(10.0, 2), basins.linear_valley_limit(10.0, 2)
    risk = float(key_landscape.least_risk(task, "linear", 0.0, 1000.0))
    return Measurement(abs(risk / limit - 1))
