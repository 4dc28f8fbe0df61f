"""Each claim about the rule holds, and fails once the library is broken on purpose."""

import jax.numpy as jnp
import pytest

import attention_mutations as broken
import ledger
from attention_mutations import TEMPERATURE, polynomial, rule, value

MUTATIONS = [
    ("rule-as-printed", broken.REVERSED),
    ("rule-as-printed", broken.UNCLAMPED),
    ("weights-of-scaled-logits", broken.PLAIN),
    ("polynomial-degree", polynomial("a cubic", lambda p: p[1:])),
    ("polynomial-at-round-entropies", polynomial("reversed", lambda p: p[::-1])),
    ("threshold-never-binds", polynomial("lifted", lambda p: (*p[:-1], p[-1] + 1.5))),
    (
        "domain-lower-end",
        value("the threshold", f"{TEMPERATURE}:active_domain", lambda d: (0.5, d[1])),
    ),
    (
        "domain-upper-end",
        value("rounded", f"{TEMPERATURE}:active_domain", lambda d: (d[0], 6.0)),
    ),
    (
        "domain-in-keys",
        value("bits", f"{TEMPERATURE}:active_domain", lambda d: (d[0], d[1] / 0.693)),
    ),
    (
        "active-inside-the-domain-only",
        rule("never off", lambda original, h: original(h) + 0.01),
    ),
    (
        "largest-inverse-temperature",
        rule("stronger", lambda original, h: original(h) * 1.1),
    ),
    (
        "entropy-of-strongest-sharpening",
        value("elsewhere", f"{TEMPERATURE}:maximum", lambda m: (4.0, m[1])),
    ),
    ("rises-then-falls", polynomial("negated", lambda p: tuple(-c for c in p))),
    ("zeros-of-the-polynomial", polynomial("lifted", lambda p: (*p[:-1], p[-1] + 0.1))),
    ("polynomial-far-out", polynomial("no fourth power", lambda p: (0.0, *p[1:]))),
    (
        "rule-is-continuous",
        rule("a jump", lambda original, h: jnp.where(h > 3, original(h), 1.0)),
    ),
    (
        "smallest-uniform-row-sharpened",
        rule("late start", lambda original, h: jnp.where(h < 1.5, 1.0, original(h))),
    ),
    ("largest-uniform-row-sharpened", broken.IN_BITS),
]
CLAIMS = list(dict.fromkeys(claim for claim, _ in MUTATIONS))


@pytest.mark.parametrize("claim", CLAIMS)
def test_claim_holds(claim: str) -> None:
    assert ledger.verdict(claim) == ledger.statement(claim).expected == "reproduced"


@pytest.mark.parametrize(
    ("claim", "mutation"), MUTATIONS, ids=[f"{c}-{m.name}" for c, m in MUTATIONS]
)
def test_claim_fails_under_mutation(
    monkeypatch: pytest.MonkeyPatch, claim: str, mutation: ledger.Mutation
) -> None:
    assert ledger.verdict_under(monkeypatch, claim, mutation) == "differs"
