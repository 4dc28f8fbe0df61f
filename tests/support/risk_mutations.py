"""Ways to break the theory of population risks on purpose."""

from collections.abc import Callable
from dataclasses import replace

from dispersion_mutations import value
from ledger import Mutation

THEORY = "sharp_attention.theory.single_location"
BAYES = f"{THEORY}.population:bayes_risk"
BOUND = f"{THEORY}.population:elementwise_bound"
MINIMISE = f"{THEORY}.population:minimise"
RISK = f"{THEORY}.population:risk"
SCALE = f"{THEORY}.bayes:inverse_temperature"

__all__ = [
    "BAYES",
    "BOUND",
    "MINIMISE",
    "RISK",
    "SCALE",
    "THEORY",
    "constant",
    "least_risk",
    "mutate",
    "scaled",
    "shifted",
    "squared",
]


def mutate(target: str, change: Callable) -> Mutation:
    """Let a function of the library return `change` of its value."""
    return value(target, change)


def least_risk(change: Callable[[float], float]) -> Mutation:
    """Let `minimise` return another risk."""

    def broken(optimum: object) -> object:
        return replace(optimum, risk=change(optimum.risk))

    broken.__name__ = change.__name__
    return value(MINIMISE, broken)


def scaled(factor: float) -> Callable:
    """Off by a factor."""

    def change(result: float) -> float:
        return factor * result

    change.__name__ = f"times {factor:g}"
    return change


def shifted(amount: float) -> Callable:
    """Off by a constant."""

    def change(result: float) -> float:
        return result + amount

    change.__name__ = f"plus {amount:g}"
    return change


def squared(result: float) -> float:
    """Twice the exponent."""
    return result**2


def constant(result: float) -> float:
    """One answer to all questions."""
    return 0 * result + 1.0
