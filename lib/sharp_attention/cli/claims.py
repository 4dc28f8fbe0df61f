"""``sharp-attention claims``: the ledger in a terminal."""

import dataclasses
import json
import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer
from rich.console import Console
from rich.table import Column, Table

from sharp_attention.cli.console import progress, say

if TYPE_CHECKING:
    from sharp_attention.claims.registry import Claim, Statement

__all__ = ["claims"]

_Check = Annotated[
    bool, typer.Option("--check", help="Exit with 1 if a verdict is unexpected.")
]
_Paper = Annotated[
    str | None, typer.Option(help="softmax-not-enough, single-location or ours.")
]
_Status = Annotated[
    str | None, typer.Option(help="Show only this verdict, such as differs.")
]
_Only = Annotated[str | None, typer.Option(help="Only the claim with this id.")]
_Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
_Refresh = Annotated[
    bool, typer.Option("--refresh", help="Compute again what is cached.")
]


def claims(
    check: _Check = False,
    paper: _Paper = None,
    status: _Status = None,
    only: _Only = None,
    as_json: _Json = False,
    refresh: _Refresh = False,
) -> None:
    """Print a verdict for every claim of the ledger."""
    from sharp_attention._checks import check_choice
    from sharp_attention.claims import ledger, registry, wording

    if status is not None:
        check_choice("status", status, get_args(registry.Status))
    chosen = _choose(registry.statements(), paper, only)
    with progress("claims") as report:
        found = ledger.evaluate_all(chosen, refresh=refresh, report=report)
    shown = [claim for claim in found if status in (None, claim.status)]
    if as_json:
        typer.echo(_as_json(shown))
    else:
        # A pipe has no width; one line a claim is what it needs.
        Console(width=None if sys.stdout.isatty() else 200).print(_table(shown))
    say(wording.summary(found))
    if check and any(claim.status != claim.expected for claim in found):
        raise typer.Exit(1)


def _choose(
    statements: "Sequence[Statement]", paper: str | None, only: str | None
) -> "list[Statement]":
    from sharp_attention._checks import check_choice

    if paper is not None:
        check_choice("paper", paper, sorted({entry.paper for entry in statements}))
    if only is not None:
        check_choice("only", only, [entry.id for entry in statements])
    return [
        entry
        for entry in statements
        if paper in (None, entry.paper) and only in (None, entry.id)
    ]


def _table(shown: "Sequence[Claim]") -> Table:
    from sharp_attention.claims import wording

    name = Column("claim", no_wrap=True)  # an id is there to be copied
    facts = [Column(head, overflow="fold") for head in ("quoted", "computed")]
    table = Table(name, *facts, "verdict", box=None)
    for claim in shown:
        table.add_row(
            claim.id,
            wording.quoted(claim),
            wording.computed(claim),
            wording.verdict(claim),
        )
    return table


def _as_json(shown: "Sequence[Claim]") -> str:
    return json.dumps(_finite([dataclasses.asdict(claim) for claim in shown]), indent=2)


def _finite(value: Any) -> Any:
    """JSON has no NaN and no infinity: they become the words nan, inf and -inf."""
    if isinstance(value, dict):
        return {name: _finite(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    return (
        str(value) if isinstance(value, float) and not math.isfinite(value) else value
    )
