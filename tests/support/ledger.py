"""Evaluate a claim with one function of the library broken on purpose."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import pytest

from sharp_attention.claims import registry
from sharp_attention.claims.ledger import known_claims

__all__ = ["Mutation", "statement", "verdict", "verdict_now", "verdict_under"]


@dataclass(frozen=True)
class Mutation:
    """One way to break the library: `target` is replaced by `broken(original)`.

    `target` is "module:function", the module in which the claim looks it up.
    """

    name: str
    target: str
    broken: Callable[[Callable], Callable]


def statement(claim_id: str) -> registry.Statement:
    """Find the declared statement by its id."""
    return next(s for s in registry.statements() if s.id == claim_id)


_known = cache(known_claims)


def verdict(claim_id: str) -> str:
    """Return the verdict on the library as it is, known since the book was built.

    It is kept with a fingerprint of all that it rests on; without one it is computed.
    """
    known = _known().get(claim_id)
    return verdict_now(claim_id) if known is None else known.status


def verdict_now(claim_id: str) -> str:
    """Compute the verdict, whatever is known."""
    return registry.evaluate(statement(claim_id)).status


def verdict_under(
    monkeypatch: pytest.MonkeyPatch, claim_id: str, mutation: Mutation
) -> str:
    """Compute the verdict while the library is broken."""
    module_name, function_name = mutation.target.split(":")
    module = importlib.import_module(module_name)
    broken = mutation.broken(getattr(module, function_name))
    with monkeypatch.context() as patch:
        patch.setattr(module, function_name, broken)
        try:
            return verdict_now(claim_id)
        except Exception as error:
            # A crash is noticed too, but it is not the verdict that we test.
            raise AssertionError(f"{mutation.name} crashed the claim") from error
