"""Sharp functions: those whose value hangs on a bounded number of items.

"Softmax is not Enough" (ICML 2025) calls a function of n items sharp if its value
depends on a bounded number of them, whatever n is: the maximum on one, the average on
all.  Taken literally every item matters to the maximum, since any of them could become
the largest; what is meant, and counted here, is dependence near a given input.
"""

from collections.abc import Callable

import numpy as np

from sharp_attention._checks import require
from sharp_attention._typing import ArrayLike

__all__ = ["sensitive_items"]


def sensitive_items(
    function: Callable[[np.ndarray], object],
    items: ArrayLike,
    replacements: ArrayLike,
) -> int:
    """Count the items that change the value when they alone are replaced.

    Parameters
    ----------
    function : of an array shaped like `items`; its value is compared with ``==``
    items : (n,) or (n, features)
    replacements : of the same shape: item i is replaced by replacement i; a little
        step for numbers, the other symbol for bits

    Returns
    -------
    From 0 to n; the function is called n + 1 times.

    Raises
    ------
    ValueError
        If there is no item, or the shapes differ.

    Examples
    --------
    >>> sensitive_items(np.max, [0.1, 0.9, 0.5], [0.1001, 0.9001, 0.5001])
    1
    """
    original, replaced = np.asarray(items), np.asarray(replacements)
    has_items = original.ndim >= 1 and len(original) >= 1
    require(has_items, "items", "an array with at least one item", original.shape)
    rule = f"of the shape of items, {original.shape}"
    require(replaced.shape == original.shape, "replacements", rule, replaced.shape)
    value = function(original)
    count = 0
    for index in range(len(original)):
        changed = original.astype(np.result_type(original, replaced))
        changed[index] = replaced[index]
        count += function(changed) != value
    return int(count)
