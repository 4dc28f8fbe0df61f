"""Each claim about finite samples holds; its verdict turns once something breaks."""

import dataclasses
from collections.abc import Callable

import pytest

import ledger
from ledger import Mutation
from risk_mutations import RISK
from sharp_attention.claims import finite_samples  # noqa: F401

REPLICA = "sharp_attention.theory.single_location.replica:solve"
RIDGE = "sharp_attention.theory.single_location.optimal_ridge:optimal_ridge"
MEASURE = "sharp_attention.algorithms.trained:measure_overlaps"


def with_cross_overlap(original: Callable) -> Callable:
    """Overlaps off the manifold: the key looks at the wrong teacher."""

    def measure(*vectors):
        found = original(*vectors)
        longer = {"q_k": found.q_k + 3.0, "q_v": found.q_v + 1.0}
        return dataclasses.replace(found, m_kv=0.7, **longer)

    return measure


def at_half_the_ridge(original: Callable) -> Callable:
    """Forget that the penalty has a factor one half in it."""

    def solve(task, activation, ratio, ridge_k, ridge_v, **settings):
        return original(task, activation, ratio, ridge_k / 2, ridge_v / 2, **settings)

    return solve


def with_swapped_activations(original: Callable) -> Callable:
    """Compute linear attention where softmax is asked for, and the other way round."""
    other = {"softmax": "linear", "linear": "softmax"}

    def solve(task, activation, *numbers, **settings):
        return original(task, other[activation], *numbers, **settings)

    return solve


def with_energy_off(original: Callable) -> Callable:
    """Count the penalty of the energy a little too high."""

    def solve(*arguments, **settings):
        found = original(*arguments, **settings)
        return dataclasses.replace(found, energy=found.energy * (1 + 1e-6))

    return solve


def with_replicon(value: float) -> Callable[[Callable], Callable]:
    """Return a fixed replicon, whatever the solution."""

    def breaks(original: Callable) -> Callable:
        def solve(*arguments, **settings):
            found = original(*arguments, **settings)
            return dataclasses.replace(found, replicon=value)

        return solve

    return breaks


def always_tied(original: Callable) -> Callable:
    """Ignore that the two ridges may differ."""

    def optimise(*arguments, is_tied=False, **settings):
        return original(*arguments, is_tied=True, **settings)

    return optimise


def halved(original: Callable) -> Callable:
    """Halve every population risk."""
    return lambda *arguments: original(*arguments) / 2


MUTATIONS = [
    ("erm-six-order-parameters", MEASURE, with_cross_overlap),
    ("erm-overlaps-agree", REPLICA, at_half_the_ridge),
    ("note-erm-softmax-approaches-bayes", REPLICA, with_swapped_activations),
    ("note-erm-linear-never-catches-up", RISK, halved),
    ("erm-separate-ridges", RIDGE, always_tied),
    ("erm-energy-identity", REPLICA, with_energy_off),
    ("erm-replica-symmetry-fails", REPLICA, with_replicon(0.5)),
]
CLAIMS = [claim for claim, *_ in MUTATIONS]


@pytest.mark.parametrize("claim", CLAIMS)
def test_claim_holds(claim: str) -> None:
    assert ledger.verdict(claim) == ledger.statement(claim).expected


@pytest.mark.parametrize(("claim", "target", "breaks"), MUTATIONS, ids=CLAIMS)
def test_claim_fails_under_mutation(
    monkeypatch: pytest.MonkeyPatch, claim: str, target: str, breaks: Callable
) -> None:
    mutation = Mutation(f"{target}: {breaks.__name__}", target, breaks)
    assert ledger.verdict_under(monkeypatch, claim, mutation) == "differs"
