"""Each claim about entropy holds, and fails once the library is broken on purpose."""

import jax.numpy as jnp
import pytest

import attention_mutations as broken
import ledger
from attention_mutations import ENTROPY, value

MUTATIONS = [
    (
        "entropy-falls-as-temperature-falls",
        value("negated", f"{ENTROPY}:entropy", lambda h: -h),
    ),
    ("equal-logits-ignore-temperature", broken.ENTROPY_IN_BITS),
    ("slope-of-entropy", broken.ENTROPY_IN_BITS),
    ("streaming-identity", broken.EPSILON),
    (
        "entropy-is-log-normaliser-minus-mean",
        ledger.Mutation(
            "the maximum forgotten",
            f"{ENTROPY}:log_normaliser",
            lambda original: lambda statistics: jnp.log(statistics.normaliser),
        ),
    ),
    ("one-pass-is-enough", broken.NO_CROSS_TERM),
    (
        "linear-memory",
        ledger.Mutation(
            "keeps every block",
            f"{ENTROPY}:merge",
            lambda original: broken.merge_by_keeping_all,
        ),
    ),
    ("merge-rule", broken.NO_CROSS_TERM),
    (
        "merge-in-any-order",
        ledger.Mutation(
            "the first block not restated",
            f"{ENTROPY}:merge",
            lambda original: broken.merge_restating_the_second_only,
        ),
    ),
    (
        "masked-blocks-are-skipped",
        ledger.Mutation(
            "no guard for empty blocks",
            f"{ENTROPY}:merge",
            lambda original: broken.merge_without_guard,
        ),
    ),
    (
        "common-offset-costs-nothing",
        ledger.Mutation(
            "sums that cancel",
            f"{ENTROPY}:entropy",
            lambda original: broken.entropy_by_offset_sums,
        ),
    ),
    ("epsilon-in-the-logarithm", broken.EPSILON),
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


def test_the_classical_mistake_gives_the_classical_number() -> None:
    # 0..15 one by one: 0.4587 without the cross term, 1.04065 with it.
    parts = [broken.PartialStatistics(jnp.float32(k), 1.0, 0.0) for k in range(16)]
    total = parts[0]
    for part in parts[1:]:
        total = broken.merge_without_cross_term(total, part)
    wrong = jnp.log(total.normaliser) - total.weighted_sum / total.normaliser
    assert float(wrong) == pytest.approx(0.4587, abs=5e-5)
