"""Ways to break the theory of dispersion on purpose."""

from collections.abc import Callable

import numpy as np

from ledger import Mutation

DISPERSION = "sharp_attention.theory.dispersion"
SPREAD_BOUNDS = "sharp_attention.theory.spread_bounds"
TRANSFORMER = "sharp_attention.models.random_transformer"


def value(target: str, broken: Callable) -> Mutation:
    """Replace a function by one that returns `broken(original value)`."""

    def breaks(original: Callable) -> Callable:
        return lambda *args, **kwargs: broken(original(*args, **kwargs))

    return Mutation(f"{target}: {broken.__name__}", target, breaks)


def arguments(target: str, broken: Callable) -> Mutation:
    """Replace a function by one called with `broken(*arguments)`."""

    def breaks(original: Callable) -> Callable:
        return lambda *args, **kwargs: original(*broken(*args), **kwargs)

    return Mutation(f"{target}: {broken.__name__}", target, breaks)


def halved(result: float) -> float:
    """Half of a bound: too little if the bound is attained."""
    return result / 2


def too_tight(result: float) -> float:
    """A bound a little below the right one."""
    return result * (1 - 1e-9)


def upper_too_tight(bounds: tuple) -> tuple:
    """The upper of two bounds a little too low."""
    return bounds[0], bounds[1] * (1 - 1e-9)


def lower_too_tight(bounds: tuple) -> tuple:
    """The lower of two bounds a little too high."""
    return bounds[0] * (1 + 1e-9), bounds[1]


def without_spread(spread: float, *others: float) -> tuple:
    """Forget the spread, as if all logits were equal."""
    return (0.0 * np.asarray(spread), *others)


def ignoring_temperature(spread: float, num_items: int, *_: float) -> tuple:
    """Forget the temperature."""
    return (spread, num_items)


def one_more(number: float) -> float:
    """Off by one."""
    return number + 1
