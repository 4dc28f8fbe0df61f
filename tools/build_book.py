"""Execute every chapter and build the site: ``python tools/build_book.py``.

The same as ``jupyter-book build . --path-output book -W -n --keep-going``, only that
the chapters are executed side by side before, and with two checks that its exit
status does not make: that a page was written at all, and that every page of the table
of contents is there. At the end the pages are weighed.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import yaml
from jupyter_cache import get_cache
from jupyter_cache.executors import load_executor
from jupyter_client.manager import KernelManager

import compiled
import weigh_pages
from sharp_book import cache

TOP = Path(__file__).resolve().parents[1]
SITE = TOP / "book" / "_build" / "html"
LEDGER, LAST_PART = "book/claims", "book/phase-transition"
TIMEOUT = 300
"""Seconds that one cell may take, as in _config.yml."""


def pages(toc: Any) -> Iterator[str]:
    """Yield the pages named anywhere in a table of contents."""
    if isinstance(toc, dict):
        yield from (toc[key] for key in ("root", "file") if key in toc)
        for value in toc.values():
            yield from pages(value)
    elif isinstance(toc, list):
        for value in toc:
            yield from pages(value)


def contents() -> list[str]:
    """Return the pages of the book's table of contents."""
    return list(pages(yaml.safe_load((TOP / "_toc.yml").read_text(encoding="utf-8"))))


def missing_pages(site: Path) -> list[str]:
    """Return the pages of the table of contents that the site lacks."""
    wanted = ["index", *contents()]
    return [page for page in wanted if not (site / f"{page}.html").is_file()]


def in_order(names: list[str]) -> list[str]:
    """Return pages in the order in which they are executed.

    It is that of reading, only that the ledger comes before the last part of the book:
    it takes longest, and the pages after that part read its verdicts.
    """
    rest = [name for name in names if name != LEDGER]
    place = rest.index(LAST_PART)
    return [*rest[:place], LEDGER, *rest[place:]]


def execute(notebook: str, folder: Path) -> None:
    """Execute a notebook into a cache.

    One that fails is not cached, so the build meets the failure and reports it.
    """
    # Else every kernel warns that others on this machine could listen.
    KernelManager.transport_encryption.default_value = "auto"
    executor = load_executor("local-serial", get_cache(folder))
    executor.run_and_cache(filter_uris=[notebook], timeout=TIMEOUT)


def execute_chapters() -> None:
    """Execute the chapters that changed, one on each core, into the build's cache.

    Sphinx would execute them one after the other.
    """
    folder = cache.choose(TOP)
    executed = get_cache(folder)
    notebooks = [TOP / f"{page}.ipynb" for page in in_order(contents())]
    names = [str(notebook) for notebook in notebooks if notebook.is_file()]
    for name in names:
        executed.add_nb_to_project(name)
    changed = {record.uri for record in executed.list_unexecuted()}
    if changed:
        compiled.make_room()
        tasks = [(name, folder) for name in names if name in changed]
        with Pool() as pool:
            pool.starmap(execute, tasks, chunksize=1)


def build(builder: str = "html") -> int:
    """Run Jupyter Book from the top of the repository; return its exit status."""
    options = ["--path-output", "book", "-W", "-n", "--keep-going", "--quiet"]
    options += ["--builder", builder]
    program = "from jupyter_book.cli.main import main; main()"
    command = [sys.executable, "-c", program, "build", ".", *options]
    return subprocess.run(command, cwd=TOP, check=False).returncode


def main() -> int:
    """Build, check, say where the book lies; return 0 if all is well."""
    start = time.perf_counter()
    os.environ.update(compiled.settings() | os.environ)
    execute_chapters()
    status = build()
    lacking = missing_pages(SITE)
    seconds = time.perf_counter() - start
    if status or lacking:
        for page in lacking:
            print(f"not built: {page}", file=sys.stderr)
        print(f"The book was not built ({seconds:.0f} s).", file=sys.stderr)
        return status or 1
    (SITE / weigh_pages.TABLE).write_text(weigh_pages.table(SITE), encoding="utf-8")
    index = (SITE / "index.html").relative_to(TOP)
    print(f"The book is at {index} ({seconds:.0f} s).")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
