"""Compute the shipped results again: ``python tools/reproduce_all.py [NAME ...]``.

Without a name, every experiment in turn.
``sharp-attention reproduce NAME --resume`` goes on with one that was interrupted.
"""

import subprocess
import sys

from sharp_attention.experiments import catalogue


def main(names: list[str]) -> int:
    """Run the experiments named, or all; return 0 if all finished."""
    program = "from sharp_attention.cli import app; app()"
    for name in names or catalogue.names():
        command = [sys.executable, "-c", program, "reproduce", name]
        if status := subprocess.run(command, check=False).returncode:
            return status
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
