"""Each claim about the kernels holds, and fails once the library is broken."""

import jax
import pytest

import ledger
from sharp_attention.attention import dense

ROWBLOCK = "sharp_attention.attention.rowblock"


def on_result(name, change):
    """Break `rowblock.attend` by changing what it returns."""

    def broken(original):
        return lambda *arguments: change(*original(*arguments))

    return ledger.Mutation(name, f"{ROWBLOCK}:attend", broken)


WRONG_BETA = on_result(
    "beta off by a thousandth",
    lambda output, statistics: (
        output,
        statistics._replace(inverse_temperature=1.001 * statistics.inverse_temperature),
    ),
)
SHIFTED_OUTPUT = on_result(
    "output off by a ten-thousandth",
    lambda output, statistics: (output + 1e-4, statistics),
)
WRONG_GRADIENT = ledger.Mutation(
    "gradients of a thousandth too much",
    f"{ROWBLOCK}:attend",
    lambda original: (
        lambda query, *rest: original(
            query + 1e-3 * (query - jax.lax.stop_gradient(query)), *rest
        )
    ),
)
WHOLE_MATRIX = ledger.Mutation(
    "the whole matrix at once",
    f"{ROWBLOCK}:attend",
    lambda original: dense.attend,
)


def slower(factor):
    """Break the artefact: every ratio is `factor` times what was measured."""

    def broken(original):
        return lambda *names: original(*names).assign(
            ratio=lambda table: factor * table.ratio
        )

    target = "sharp_attention.experiments.artefacts:read_table"
    return ledger.Mutation(f"{factor} times slower", target, broken)


MUTATIONS = [
    ("kernel-output", SHIFTED_OUTPUT),
    ("kernel-statistics", WRONG_BETA),
    ("kernel-gradient", WRONG_GRADIENT),
    ("kernel-empty-row", SHIFTED_OUTPUT),
    ("kernel-memory-linear", WHOLE_MATRIX),
    ("kernel-memory-saved", WHOLE_MATRIX),
    ("adaptive-over-plain", slower(2)),
    ("adaptive-over-xla", slower(3)),
    ("adaptive-over-torch", slower(3)),
    ("backward-over-plain", slower(2)),
]
IDS = [claim_id for claim_id, _ in MUTATIONS]


@pytest.mark.parametrize("claim_id", [*IDS, "gpu-share-of-cudnn"])
def test_claim_holds(claim_id):
    expected = ledger.statement(claim_id).expected
    assert ledger.verdict(claim_id) == expected


@pytest.mark.parametrize(("claim_id", "mutation"), MUTATIONS, ids=IDS)
def test_claim_fails_under_mutation(monkeypatch, claim_id, mutation):
    assert ledger.verdict_under(monkeypatch, claim_id, mutation) == "differs"
