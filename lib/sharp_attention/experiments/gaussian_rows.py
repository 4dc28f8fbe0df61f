"""Rows of independent Gaussian logits: what a spread means if nothing else is known.

For n logits of standard deviation s the spread is about 2 s sqrt(2 log n), so it
grows with n although nothing about a single logit changes; the entropy is
log n − s²/2 for large n, as long as s is below sqrt(2 log n) (the random energy model).
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.special import log_softmax

from sharp_attention._checks import check_integer, check_real, require

__all__ = ["twins"]


def twins(
    num_items: Sequence[int],
    spreads: Sequence[float],
    *,
    num_rows: int = 2000,
    seed: int = 0,
) -> pd.DataFrame:
    """Simulate Gaussian rows whose mean spread is a given one at each size.

    Parameters
    ----------
    num_items : sizes, >= 2
    spreads : mean spread at each size, > 0
    num_rows : how many rows, >= 2
    seed : of NumPy's default generator

    Returns
    -------
    table with columns num_items, spread, scale (standard deviation of the logits),
    entropy (nats) and max_weight, means over rows, and their standard errors
    entropy_error and max_weight_error

    Raises
    ------
    TypeError, ValueError
        If a number is out of its range, or there is not one spread for each size.
    """
    check_integer("num_rows", num_rows, at_least=2)
    count = len(num_items)
    require(len(spreads) == count, "spreads", f"of length {count}", len(spreads))
    rng = np.random.default_rng(seed)
    rows = []
    for number, spread in zip(num_items, spreads, strict=True):
        check_integer("num_items", number, at_least=2)
        check_real("spreads", spread, above=0)
        draws = rng.normal(size=(num_rows, int(number)))
        scale = spread / float(np.ptp(draws, axis=1).mean())
        logs = log_softmax(scale * draws, axis=1)
        entropy = -np.sum(np.exp(logs) * logs, axis=1)
        largest = np.exp(logs.max(axis=1))
        row = {"num_items": int(number), "spread": float(spread), "scale": scale}
        for name, values in (("entropy", entropy), ("max_weight", largest)):
            row[name] = float(values.mean())
            row[f"{name}_error"] = float(values.std(ddof=1) / num_rows**0.5)
        rows.append(row)
    return pd.DataFrame(rows)
