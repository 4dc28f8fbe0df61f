"""Pack the site into one file to carry away: ``python tools/build_offline.py``.

The pages need no server, so whoever unpacks the zip and opens its ``index.html`` has
the whole book. The same site gives the same bytes.
"""

import hashlib
import sys
import zipfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
SITE = TOP / "book" / "_build" / "html"
OUTPUT = TOP / "book" / "_build" / "offline"

FOR_SERVERS = {".buildinfo", ".nojekyll", "404.html", "robots.txt", "sitemap.xml"}
"""What only a published site needs."""

_EPOCH = (1980, 1, 1, 0, 0, 0)


def contents(site: Path) -> Iterator[Path]:
    """Yield the files to pack, relative to the site, in order."""
    for path in sorted(site.rglob("*")):
        relative = path.relative_to(site)
        if path.is_file() and relative.as_posix() not in FOR_SERVERS:
            yield relative


def pack(site: Path, target: Path) -> str:
    """Write the zip; return its SHA-256."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for relative in contents(site):
            entry = zipfile.ZipInfo(f"sharp-attention/{relative.as_posix()}", _EPOCH)
            entry.external_attr = 0o644 << 16
            data = (site / relative).read_bytes()
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return hashlib.sha256(target.read_bytes()).hexdigest()


def main() -> int:
    """Pack what is built; return 0 if there was something."""
    if not (SITE / "index.html").is_file():
        print("There is no site to pack: run `make book` first.", file=sys.stderr)
        return 1
    target = OUTPUT / f"sharp-attention-{version('sharp-attention')}-offline.zip"
    checksum = pack(SITE, target)
    target.with_suffix(".zip.sha256").write_text(f"{checksum}  {target.name}\n")
    megabytes = target.stat().st_size / 1e6
    print(f"The book is packed in {target.relative_to(TOP)} ({megabytes:.1f} MB).")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
