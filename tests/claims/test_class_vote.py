"""Each claim about the toy head holds, and fails once its closed form is broken."""

import pytest

import ledger
from sharp_attention.theory import class_vote

CLASS_VOTE = "sharp_attention.theory.class_vote"


def with_twice_the_slope(function: str) -> ledger.Mutation:
    """Break a closed form: the head is twice as steep as it was said to be."""

    def broken(original):
        return lambda num_items, slope, *rest: original(num_items, 2 * slope, *rest)

    return ledger.Mutation("twice the slope", f"{CLASS_VOTE}:{function}", broken)


WEIGHTS = ["toy-top-weight-0-1", "toy-top-weight-0-5", "toy-top-weight-1"]
WEIGHTS += ["toy-top-weight-2"]
VOTES = [f"toy-vote-{n}" for n in (256, 512, 1024, 2048, 4096)]
MUTATIONS = [
    *((claim, with_twice_the_slope("top_weight")) for claim in WEIGHTS),
    *((claim, with_twice_the_slope("vote_accuracy")) for claim in VOTES),
    ("toy-entropy", with_twice_the_slope("mean_entropy")),
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


def test_classes_that_are_not_ten_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The quoted votes are for ten classes: with two, chance alone is a half."""
    original = class_vote.vote_accuracy
    with monkeypatch.context() as patch:
        patch.setattr(class_vote, "vote_accuracy", lambda n, a: original(n, a, 2))
        assert ledger.verdict_now("toy-vote-4096") == "differs"
