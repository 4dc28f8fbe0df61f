"""Make the printed edition: ``python tools/build_pdf.py``.

Jupyter Book writes LaTeX, latexmk and XeLaTeX set it.
Where TeX is missing, nothing is made and that is said; it is no failure, because the
site is the book and the PDF a convenience.
"""

import shutil
import subprocess
import sys
import time
from pathlib import Path

import build_book

TOP = Path(__file__).resolve().parents[1]
SOURCE = TOP / "book" / "_build" / "latex"
PDF = TOP / "book" / "_build" / "pdf" / "sharp-attention.pdf"
NEEDED = ("latexmk", "xelatex", "makeindex")


def missing_programs() -> list[str]:
    """Return what TeX must provide and does not."""
    return [name for name in NEEDED if shutil.which(name) is None]


def typeset() -> int:
    """Run XeLaTeX until references are settled; return its exit status."""
    options = ["-xelatex", "-interaction=nonstopmode", "-halt-on-error", "-silent"]
    command = ["latexmk", *options, "sharpattention.tex"]
    return subprocess.run(command, cwd=SOURCE, check=False).returncode


def check_references() -> int:
    """Refuse a book that points to nowhere: TeX prints "??" and is content."""
    log = (SOURCE / "sharpattention.log").read_text(encoding="utf-8", errors="replace")
    if "There were undefined references" not in log:
        return 0
    print("References are undefined, see sharpattention.log.", file=sys.stderr)
    return 1


def main() -> int:
    """Build, or say what is missing; return 0 unless something failed."""
    if lacking := missing_programs():
        print(f"The PDF was skipped: {', '.join(lacking)} not found (install TeX).")
        return 0
    start = time.perf_counter()
    # What an interrupted run has left would stop the next one.
    shutil.rmtree(SOURCE, ignore_errors=True)
    status = build_book.build("latex") or typeset() or check_references()
    if status:
        print("The PDF was not built.", file=sys.stderr)
        return status
    PDF.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(SOURCE / "sharpattention.pdf", PDF)
    seconds = time.perf_counter() - start
    print(f"The PDF is at {PDF.relative_to(TOP)} ({seconds:.0f} s).")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
