"""Statements and claims that are made up, to test the ledger itself."""

from sharp_attention.claims.registry import Claim, Measurement, Statement, evaluate

__all__ = ["claim", "statement"]


def statement(
    measured: float | None = 0.5,
    interval: tuple[float, float] | None = None,
    **changes: object,
) -> Statement:
    """Return a statement whose measurement gives `measured`; None can't be run."""
    runs = measured is not None
    fields = {
        "id": "half",
        "paper": "softmax-not-enough",
        "place": "Lemma 2.1",
        "statement": "One half is one half.",
        "quoted_value": 0.5,
        "comparison": "equal",
        "tolerance": 0.0,
        "expected": "reproduced" if runs else "not run here",
        "chapter": "dispersion-lemma",
        "confidence": "A",
        "measure": (lambda: Measurement(measured, interval)) if runs else None,
        "command": "sharp-attention claims --check --only half",
        "smaller_scale": False,
        "test": "tests/claims/test_toy.py::test_claim_holds[half]",
    }
    return Statement(**(fields | changes))


def claim(
    measured: float | None = 0.5,
    interval: tuple[float, float] | None = None,
    **changes: object,
) -> Claim:
    """Return the claim that such a statement becomes."""
    return evaluate(statement(measured, interval, **changes))
