"""Everything that is checked before a change is trusted: ``python tools/check.py``.

Cheap checks first, two at a time; the tests come last, whatever the others said, so
that pytest's closing line is the end of what is printed.
Further arguments go to pytest: ``python tools/check.py --run-slow``.
"""

import os
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
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
    """Return a heading and a command for each check that is not a test.

    The one that takes longest comes first: the others fill the time beside it.
    """
    return {
        "Types": ["mypy"],
        "Lint": ["ruff", "check", *PYTHON_FILES, "book"],
        "Formatting": ["ruff", "format", "--check", *PYTHON_FILES, "book"],
        "Imports go only downward": ["lint-imports", "--no-logo"],
        "Notebooks without outputs": ["nbstripout", "--verify", *chapters()],
        "Spelling": ["codespell", *PYTHON_FILES, "book", "slides", "README.md"],
    }


def tests(more: list[str]) -> list[str]:
    """Return the command that runs every test and executes every chapter."""
    workers = os.environ.get("TEST_WORKERS", "2")
    parallel = [] if workers == "1" else ["-n", workers, "--dist", "loadfile"]
    return ["pytest", "--nbmake", *parallel, *more, *chapters(), "tests"]


def program(command: list[str]) -> list[str]:
    """Return the command with its program from this environment."""
    return [str(SCRIPTS / command[0]), *command[1:]]


def show(heading: str, name: str) -> None:
    """Print a line that separates one check from the next."""
    print(f"\n== {heading}: {name} ".ljust(88, "="), flush=True)


def finish(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, what it prints kept."""
    joined = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.run(program(command), cwd=TOP, check=False, **joined)


def failures() -> list[str]:
    """Run the cheap checks, print what each says in turn; return what failed."""
    failed = []
    with ThreadPoolExecutor(max_workers=2) as pool:
        results = pool.map(finish, checks().values())
        for (heading, command), result in zip(checks().items(), results, strict=True):
            show(heading, command[0])
            print(result.stdout, end="", flush=True)
            if result.returncode:
                failed.append(heading)
    return failed


def main(more: list[str]) -> int:
    """Run everything; return 0 if all is well."""
    failed = failures()
    if failed:
        print(f"\nFailed so far: {', '.join(failed)}.", flush=True)
    show("Tests and chapters", "pytest")
    status = subprocess.run(program(tests(more)), cwd=TOP, check=False).returncode
    return 0 if status == 0 and not failed else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
