"""How the command speaks: messages, progress with the time left, errors in one line."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from typer.core import TyperGroup

__all__ = ["PlainErrors", "progress", "say"]

_messages = Console(stderr=True)


class PlainErrors(TyperGroup):
    """Commands whose errors are one line each, for all who did not write them."""

    def invoke(self, context: Any) -> Any:
        """Run the command; an error is said in one line and exits with 2."""
        try:
            return super().invoke(context)
        except (typer.Exit, typer.Abort):
            raise
        except (
            ValueError,
            TypeError,
            OSError,
            RuntimeError,
            ImportError,
        ) as error:
            if context.params["traceback"]:
                raise
            say(f"error: {error}")
            raise typer.Exit(2) from None


def say(message: str) -> None:
    """Print a message to standard error, as it is and unbroken."""
    _messages.print(message, soft_wrap=True, markup=False, highlight=False)


@contextmanager
def progress(title: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar with the time left; the yielded function (done, all) moves it."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    # The speed is that of the last hour: steps may take minutes each.
    with Progress(*columns, console=_messages, speed_estimate_period=3600) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
