"""``sharp-attention reproduce``: compute what the book ships."""

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sharp_attention.cli.console import progress, say
from sharp_attention.experiments import catalogue, places

if TYPE_CHECKING:
    from sharp_attention.experiments.records import Plan

__all__ = ["reproduce"]

_Name = Annotated[str, typer.Argument(help=f"One of: {', '.join(catalogue.names())}.")]
_Quick = Annotated[
    bool, typer.Option("--quick/--full", help="A quick look, or the shipped artefact.")
]
_Seeds = Annotated[int | None, typer.Option(min=1, help="How many seeds: 0, 1, …")]
_Device = Annotated[str, typer.Option(help="cpu, gpu, or auto: a GPU if there is one.")]
_Resume = Annotated[
    bool, typer.Option("--resume", help="Keep what earlier runs have finished.")
]
_Scheduler = Annotated[
    str | None, typer.Option(help="Address of a dask scheduler; without it, run here.")
]
_Output = Annotated[
    Path | None,
    typer.Option(
        help="Folder; by default book/results/NAME for a full run in a clone, "
        "else results/NAME."
    ),
]


def reproduce(
    name: _Name,
    quick: _Quick = False,
    seeds: _Seeds = None,
    device: _Device = "auto",
    resume: _Resume = False,
    scheduler: _Scheduler = None,
    output: _Output = None,
) -> None:
    """Compute an experiment and write its data files and manifest.

    Each cell of its grid is kept as soon as it is finished, whatever happens later.
    Without --resume every cell is computed again: a new result replaces the old one
    when it is there, and nothing is deleted before.
    """
    _prepare_jax(device)
    from sharp_attention.experiments import devices, executors, records, sweep

    found_device = devices.choose(device)
    # A quick look must not take the place of what the book ships.
    default = Path("results", name) if quick else places.results_folder(name)
    plan = records.Plan(
        experiment=catalogue.find(name),
        scale="quick" if quick else "full",
        num_seeds=seeds,
        device=found_device,
        output=(output or default).absolute(),
    )
    executor = executors.choose(found_device, scheduler)
    _announce(plan, resume)
    advice = f"What is finished is kept; go on with: {_resumption(plan, scheduler)}"
    try:
        with progress(name) as report:
            manifest = sweep.run(plan, resume=resume, executor=executor, report=report)
    except KeyboardInterrupt:
        say(f"Stopped. {advice}")
        raise typer.Exit(130) from None
    except sweep.CellError as error:
        raise RuntimeError(f"{error}\n{advice}") from error
    typer.echo(manifest)


def _prepare_jax(device: str) -> None:
    """Set what JAX reads once, when it is imported."""
    if device == "cpu":
        os.environ["JAX_PLATFORMS"] = "cpu"
    # One thread: no sum, and so no last bit, depends on how busy the machine is.
    # More cores are used by more workers, see --scheduler.
    flags = (os.environ.get("XLA_FLAGS"), "--xla_cpu_multi_thread_eigen=false")
    os.environ["XLA_FLAGS"] = " ".join(filter(None, flags))


def _announce(plan: "Plan", resume: bool) -> None:
    """Say what earlier runs have left, and what becomes of it."""
    from sharp_attention.experiments import sweep

    found = sweep.survey(plan)
    earlier = f"{found.finished} of {found.cells} cells are finished in {plan.output}"
    if resume and not found.finished:
        say(f"Nothing to resume in {plan.output}: starting with the first cell.")
    elif resume:
        say(f"{earlier} and kept.")
    elif found.finished:
        say(f"{earlier}; computing all of them again (--resume would keep them).")
    for record in found.damaged:
        say(f"{record} is damaged: its cell is computed again.")
    if resume and found.by_other_library:
        say(
            f"{found.by_other_library} of them were computed by another state of the "
            f"library, at the same version of the experiment."
        )


def _resumption(plan: "Plan", scheduler: str | None) -> str:
    """Return the command that goes on where `plan` was stopped."""
    options = ["--device", plan.device, "--output", str(plan.output), "--resume"]
    if scheduler is not None:
        options += ["--scheduler", scheduler]
    return f"{plan.command} {shlex.join(options)}"
