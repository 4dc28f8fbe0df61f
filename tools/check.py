"""Everything that is checked before a change is trusted: ``python tools/check.py``.

Cheap checks first; the tests come last, whatever the others said, so that pytest's
closing line is the end of what is printed.
Further arguments go to pytest: ``python tools/check.py --run-slow``.
"""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
SCRIPTS = Path(sysconfig.get_path("scripts"))
PYTHON_FILES = ["lib", "tests", "tools"]


def chapters() -> list[str]:
    """Return the notebooks of the book, relative to the top of the repository."""
    return sorted(
        path.relative_to(TOP).as_posix() for path in (TOP / "book").glob("*.ipynb")
    )


def checks() -> dict[str, list[str]]:
    """Return a heading and a command for each check that is not a test."""
    return {
        "Lint": ["ruff", "check", *PYTHON_FILES, "book"],
        "Formatting": ["ruff", "format", "--check", *PYTHON_FILES, "book"],
        "Types": ["mypy"],
        "Imports go only downward": ["lint-imports", "--no-logo"],
        "Notebooks without outputs": ["nbstripout", "--verify", *chapters()],
        "Spelling": ["codespell", *PYTHON_FILES, "book", "slides", "README.md"],
    }


def tests(more: list[str]) -> list[str]:
    """Return the command that runs every test and executes every chapter."""
    workers = os.environ.get("TEST_WORKERS", "2")
    parallel = [] if workers == "1" else ["-n", workers, "--dist", "loadfile"]
    return ["pytest", "--nbmake", *parallel, *more, *chapters(), "tests"]


def run(heading: str, command: list[str]) -> bool:
    """Print a heading, run the command from this environment; return success."""
    print(f"\n== {heading}: {command[0]} ".ljust(88, "="), flush=True)
    program = str(SCRIPTS / command[0])
    return subprocess.run([program, *command[1:]], cwd=TOP, check=False).returncode == 0


def main(more: list[str]) -> int:
    """Run everything; return 0 if all is well."""
    failed = [title for title, command in checks().items() if not run(title, command)]
    if failed:
        print(f"\nFailed so far: {', '.join(failed)}.", flush=True)
    passed = run("Tests and chapters", tests(more))
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
