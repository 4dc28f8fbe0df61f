"""The ``sharp-attention`` command, a module for each of its parts.

JAX is imported inside the commands, so that help is instant and the environment
can still be set before JAX reads it.
Results go to standard output, messages and progress to standard error.
Exit codes: 0 all is well, 1 a verdict is not the expected one, 2 the request can't
be served (one line says why; ``--traceback`` shows where), 130 stopped by Ctrl-C.
"""

from typing import Annotated

import typer

from sharp_attention.cli.claims import claims
from sharp_attention.cli.console import PlainErrors
from sharp_attention.cli.info import info
from sharp_attention.cli.reproduce import reproduce
from sharp_attention.cli.spread import spread

__all__ = ["app"]

app = typer.Typer(
    cls=PlainErrors,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.command()(info)
app.command()(reproduce)
app.command()(claims)
app.command()(spread)


@app.callback()
def main(
    traceback: Annotated[
        bool, typer.Option("--traceback", help="Show where an error comes from.")
    ] = False,
) -> None:
    """Sharp attention: derived, computed and tested."""
