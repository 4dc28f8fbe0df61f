"""Each claim about Theorem 2.2 holds, and fails once the transformer is broken."""

import dataclasses
from collections.abc import Callable

import jax
import numpy as np
import pytest

import dispersion_mutations as broken
import ledger
from dispersion_mutations import DISPERSION, TRANSFORMER
from sharp_attention.models.random_transformer import Evaluation

SHARP = f"{DISPERSION}:sharp_weight_bounds"
EVALUATE = f"{TRANSFORMER}:evaluate"
COUNTS = f"{TRANSFORMER}:evaluate_counts"
ARCHITECTURE = f"{TRANSFORMER}:Architecture"


def choose(**forced: object) -> ledger.Mutation:
    """Build another transformer than the one asked for."""

    def breaks(original: Callable) -> Callable:
        return lambda **choices: original(**(choices | forced))

    return ledger.Mutation(f"always {forced}", ARCHITECTURE, breaks)


def unnormalised(evaluation: Evaluation) -> Evaluation:
    """Weights that are not divided by anything: constant in n."""
    heads = evaluation.heads
    ones = jax.numpy.full_like(heads.max_weight, 0.5)
    heads = heads._replace(max_weight=ones)
    return dataclasses.replace(evaluation, heads=heads)


def overflowing(evaluation: Evaluation) -> Evaluation:
    """Features that have left every bounded set."""
    return dataclasses.replace(evaluation, output=1e3 * evaluation.output)


def fewer(model: object, counts: np.ndarray) -> tuple:
    """A bag that has lost half of its first token."""
    return model, np.where(np.arange(len(counts)) == 0, counts / 2, counts)


def straight(vectors: jax.Array) -> jax.Array:
    """Rotary positions that forget to rotate."""
    return vectors


MUTATIONS = [
    ("bert-disperses", broken.value(COUNTS, unnormalised)),
    ("gpt-disperses", broken.value(EVALUATE, unnormalised)),
    ("gpt-first-row-never-disperses", choose(style="bert")),
    ("rows-obey-the-lemma", broken.arguments(SHARP, broken.without_spread)),
    ("features-stay-bounded", broken.value(COUNTS, overflowing)),
    ("rotary-positions-disperse", choose(positions="window")),
    ("discontinuous-blocks-disperse", choose(positions="alibi")),
    ("alibi-escapes", choose(positions="none")),
    ("windows-escape", choose(window=100_000)),
    ("infinite-vocabulary-escapes", choose(is_normalised=True)),
    ("norm-needs-no-vocabulary", choose(is_normalised=False)),
    (
        "temperature-that-falls-with-n-escapes",
        broken.arguments(SHARP, broken.ignoring_temperature),
    ),
    ("norm-bounds-spread", choose(is_normalised=False)),
    (
        "product-of-matrices-is-not-enough",
        ledger.Mutation(
            "no rotation", "sharp_attention.models.positions:rotate", lambda _: straight
        ),
    ),
    ("bags-equal-items", broken.arguments(COUNTS, fewer)),
]
CLAIMS = [claim for claim, _ in MUTATIONS]


@pytest.mark.parametrize("claim", CLAIMS)
def test_claim_holds(claim: str) -> None:
    assert ledger.verdict(claim) == ledger.statement(claim).expected == "reproduced"


@pytest.mark.parametrize(("claim", "mutation"), MUTATIONS, ids=CLAIMS)
def test_claim_fails_under_mutation(
    monkeypatch: pytest.MonkeyPatch, claim: str, mutation: ledger.Mutation
) -> None:
    assert ledger.verdict_under(monkeypatch, claim, mutation) == "differs"
