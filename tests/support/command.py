"""Run the real ``sharp-attention`` command in a process of its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

__all__ = ["command_line", "run", "start"]


def command_line(*arguments: str) -> list[str]:
    """Return the command as it is installed beside this Python."""
    script = shutil.which("sharp-attention", path=Path(sys.executable).parent)
    assert script is not None, "the package is not installed beside this Python"
    return [script, *arguments]


def run(
    *arguments: str, cwd: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run the command to its end and return its output as text."""
    return subprocess.run(
        command_line(*arguments),
        cwd=cwd,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


def start(*arguments: str) -> subprocess.Popen[bytes]:
    """Start the command and return while it runs; its output is dropped.

    It hears an interruption even where the tests run in the background of a shell,
    which makes its children deaf to it.
    """
    return subprocess.Popen(
        [sys.executable, "-c", _HEARING, *command_line(*arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


_HEARING = (
    "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); "
    "os.execv(sys.argv[1], sys.argv[1:])"
)
