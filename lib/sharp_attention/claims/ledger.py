"""The verdicts of all statements, each computed once per state of the project.

They are kept in ``CACHE/claims/FINGERPRINT.json``: an edit of the library, of the
pinned packages or of the shipped data gives another fingerprint, and the verdicts
are computed again.
"""

import dataclasses
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sharp_attention.claims.registry import Claim, Statement, evaluate, statements
from sharp_attention.experiments import places
from sharp_attention.experiments.files import json_bytes, prune, write_atomically
from sharp_attention.experiments.fingerprint import fingerprint

__all__ = ["Report", "all_claims", "evaluate_all", "known_claims"]

Report = Callable[[int, int], None]
"""Told (evaluated claims, all claims) at the start and after each claim."""

KEPT_CACHES = 5
"""Going back and forth between a few branches costs nothing; more is clutter."""


def all_claims(*, refresh: bool = False) -> list[Claim]:
    """Return every claim with its verdict, in the order of declaration.

    Parameters
    ----------
    refresh : whether to compute each verdict again, cached or not
    """
    return evaluate_all(statements(), refresh=refresh)


def evaluate_all(
    chosen: Sequence[Statement],
    *,
    refresh: bool = False,
    report: Report = lambda evaluated, claims: None,
) -> list[Claim]:
    """Return the claims of the `chosen` statements, from the cache where it has them.

    Raises
    ------
    RuntimeError
        If a measurement crashes, naming the claim; verdicts known by then are kept.
    """
    path = _path()
    known = _read(path)
    stale = chosen if refresh else [s for s in chosen if s.id not in known]
    report(len(chosen) - len(stale), len(chosen))
    for number, statement in enumerate(stale, start=len(chosen) - len(stale) + 1):
        known[statement.id] = _evaluate(statement)
        _write(path, known)
        report(number, len(chosen))
    return [known[statement.id] for statement in chosen]


def known_claims() -> dict[str, Claim]:
    """Return the claims, by id, that this state of the project has a verdict on."""
    return _read(_path())


def _path() -> Path:
    return places.cache_folder() / "claims" / f"{fingerprint()}.json"


def _evaluate(statement: Statement) -> Claim:
    try:
        return evaluate(statement)
    except Exception as error:
        message = f"claim {statement.id}: {type(error).__name__}: {error}"
        raise RuntimeError(message) from error


def _read(path: Path) -> dict[str, Claim]:
    if not path.is_file():
        return {}
    records = json.loads(path.read_text(encoding="utf-8"))
    return {record["id"]: _claim(record) for record in records}


def _claim(record: dict[str, Any]) -> Claim:
    interval = record["interval"]
    pair = None if interval is None else tuple(interval)
    return Claim(**(record | {"interval": pair}))


def _write(path: Path, claims: dict[str, Claim]) -> None:
    write_atomically(
        path, json_bytes([dataclasses.asdict(claim) for claim in claims.values()])
    )
    prune(path.parent.glob("*.json"), keep=KEPT_CACHES)
