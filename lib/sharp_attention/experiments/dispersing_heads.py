"""Heads of random transformers against the number of items: Theorem 2.2 at work.

Small enough to run live in a chapter; each function returns one tidy table.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from sharp_attention._checks import check_integer, require
from sharp_attention.models.random_transformer import (
    Architecture,
    HeadStatistics,
    RandomTransformer,
    evaluate,
    evaluate_counts,
)

__all__ = [
    "CASES",
    "bags",
    "by_item",
    "by_row",
    "by_size",
    "escapes",
    "label_distances",
]

CASES: Mapping[str, dict[str, Any]] = {
    "no positions": {},
    "rotary positions": {"positions": "rotary"},
    "ALiBi": {"positions": "alibi"},
    "window of 9": {"positions": "window", "window": 8},
    "growing items": {"is_normalised": False},
    "growing items, norm": {},
}
"""What `escapes` compares, with what it changes in the architecture."""


def by_row(length: int = 16_384, num_rows: int = 120, *, seed: int = 0) -> pd.DataFrame:
    """Watch a GPT-style model: its row i sees i items, so one run shows every size.

    Only rows that hold token 0 are reported, so that the question is always the same.

    Parameters
    ----------
    length : number of items, >= 2
    num_rows : about how many rows to report, spaced evenly in the logarithm
    seed : of model and tokens

    Returns
    -------
    table with columns style, layer, head (from 1), num_items, max_weight, entropy
    (nats), spread

    Raises
    ------
    TypeError, ValueError
        If a number is not an integer in its range.
    """
    check_integer("length", length, at_least=2)
    check_integer("num_rows", num_rows, at_least=2)
    model = RandomTransformer.initialise(seed, Architecture(style="gpt"))
    tokens = _tokens(length, seed)
    tokens[[0, -1]] = 0
    candidates = np.flatnonzero(tokens == 0)
    wanted = np.geomspace(1, length, num_rows) - 1
    nearest = np.abs(candidates - wanted[:, None]).argmin(axis=1)
    rows = candidates[np.unique(nearest)]
    heads = evaluate(model, model.embed(tokens), rows=rows).heads
    return _table("gpt", heads, rows + 1)


def bags(num_items: Sequence[float]) -> list[np.ndarray]:
    """Bags of 16 kinds of tokens in fixed, unequal shares that add up to each size."""
    shares = np.arange(1, 17) / np.arange(1, 17).sum()
    return [number * shares for number in num_items]


def by_size(num_items: Sequence[float], *, seed: int = 0) -> pd.DataFrame:
    """Watch a BERT-style model on bags of tokens, of any size and at no cost.

    Parameters
    ----------
    num_items : sizes > 0; tokens keep their shares, so counts need not be whole
    seed : of the model

    Returns
    -------
    as `by_row`, for the row that asks with token 0
    """
    model = RandomTransformer.initialise(seed)
    tables = []
    for number, bag in zip(num_items, bags(num_items), strict=True):
        heads = evaluate_counts(model, bag).heads
        first = HeadStatistics(*(statistic[..., :1] for statistic in heads))
        tables.append(_table("bert", first, np.array([number])))
    return pd.concat(tables, ignore_index=True)


def by_item(length: int = 4352, *, seed: int = 0) -> pd.DataFrame:
    """Watch the BERT-style model of `by_size` on one bag, item by item: the check.

    Parameters
    ----------
    length : number of items, a multiple of 136, so that all counts are whole
    seed : of the model

    Returns
    -------
    as `by_size`, for a single size

    Raises
    ------
    ValueError
        If `length` is not such a number.
    """
    is_whole = length >= 136 and length % 136 == 0
    require(is_whole, "length", "a multiple of 136", length)
    model = RandomTransformer.initialise(seed)
    (bag,) = bags([length])
    tokens = np.repeat(np.arange(16), bag.round().astype(int))
    heads = evaluate(model, model.embed(tokens), rows=[0]).heads
    return _table("bert", heads, np.array([length]))


def escapes(length: int = 2048, *, seed: int = 0) -> pd.DataFrame:
    """Watch the first head of a GPT-style model under each of the `CASES`.

    "growing items" leaves the finite vocabulary: item k is a vector of length 2√k.

    Parameters
    ----------
    length : number of items, at least 32
    seed : of models and tokens

    Returns
    -------
    table with columns case, num_items, max_weight: geometric means over the rows
    between one power of √2 and the next

    Raises
    ------
    TypeError, ValueError
        If `length` is not an integer >= 32.
    """
    check_integer("length", length, at_least=32)
    tokens = _tokens(length, seed)
    edges = np.unique(np.geomspace(8, length, 17).round().astype(int))
    places = np.arange(1, length + 1)
    growing = 2 * np.sqrt(places)[:, None] * np.full(32, 32**-0.5)
    tables = []
    for case, choices in CASES.items():
        model = RandomTransformer.initialise(
            seed, Architecture(style="gpt", **choices), num_layers=1
        )
        is_growing = case.startswith("growing")
        features = growing if is_growing else model.embed(tokens)
        weight = np.log(np.asarray(evaluate(model, features).heads.max_weight[0, 0]))
        bins = np.digitize(places, edges[1:-1])
        frame = pd.DataFrame({"bin": bins, "num_items": np.log(places), "w": weight})
        means = np.exp(frame[places >= edges[0]].groupby("bin").mean())
        means = means.rename(columns={"w": "max_weight"})
        tables.append(means.assign(case=case)[["case", "num_items", "max_weight"]])
    return pd.concat(tables, ignore_index=True)


def label_distances(
    num_items: Sequence[int], seeds: Sequence[int] = (0, 1, 2, 3)
) -> pd.DataFrame:
    """Exchange the one token that decides the answer, and see how far outputs move.

    One item is token 0 or token 1, all others are among the 14 remaining tokens.

    Parameters
    ----------
    num_items : sizes, at least 2; beyond 1e6 rounding in float32 takes over
    seeds : of the models

    Returns
    -------
    table with columns seed, num_items, distance: between the outputs of the last
    layer at token 2, over their distance at the first of the sizes
    """
    rows = []
    for seed in seeds:
        model = RandomTransformer.initialise(seed)
        distances = [_label_distance(model, number) for number in num_items]
        rows += [
            {"seed": seed, "num_items": number, "distance": distance / distances[0]}
            for number, distance in zip(num_items, distances, strict=True)
        ]
    return pd.DataFrame(rows)


def _label_distance(model: RandomTransformer, num_items: int) -> float:
    crowd = np.full(16, (num_items - 1) / 14)
    crowd[:2] = 0.0
    outputs = [
        np.asarray(evaluate_counts(model, crowd + winner).output[2])
        for winner in np.eye(2, 16)
    ]
    return float(np.linalg.norm(outputs[0] - outputs[1]))


def _tokens(length: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 16, length)


def _table(style: str, heads: HeadStatistics, num_items: np.ndarray) -> pd.DataFrame:
    """One row for each layer, head and query."""
    shape = heads.max_weight.shape
    layer, head, row = np.indices(shape).reshape(3, -1)
    return pd.DataFrame(
        {
            "style": style,
            "layer": layer + 1,
            "head": head + 1,
            "num_items": num_items[row],
            "max_weight": np.asarray(heads.max_weight).ravel(),
            "entropy": np.asarray(heads.entropy).ravel(),
            "spread": np.asarray(heads.spread).ravel(),
        }
    )
