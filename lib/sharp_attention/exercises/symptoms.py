"""Properties of right answers that several exercises share."""

from typing import Any

import numpy as np

__all__ = ["rows_of_weights"]


def rows_of_weights(got: np.ndarray, *arguments: Any) -> str | None:
    """Tell whether rows of attention weights are negative or don't add up to 1."""
    if got.ndim == 0:
        return None
    if (got < 0).any():
        return f"a weight is negative, {got.min():.3g}: is a sign wrong?"
    sums = got.sum(axis=-1).ravel()
    far = sums[np.argmax(np.abs(sums - 1))]
    if abs(far - 1) <= 1e-4:
        return None
    columns = got.ndim > 1 and np.allclose(got.sum(axis=-2), 1, atol=1e-4)
    if columns:
        return "the columns add up to 1, not the rows: is a sum over the wrong axis?"
    return f"the weights of a row add up to {far:.3g}, not 1: is the normaliser wrong?"
