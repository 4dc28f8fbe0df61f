"""What the benchmarks share: one core, what they ran on, and what they ship."""

import csv
import hashlib
import importlib.metadata
import io
import json
import os
import platform
from pathlib import Path

CORE = min(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


def pin():
    """Stay on one core; to be called before JAX is used and starts its threads."""
    if CORE is not None:
        os.sched_setaffinity(0, {CORE})
    flags = os.environ.get("XLA_FLAGS", "")
    os.environ["XLA_FLAGS"] = f"{flags} --xla_cpu_multi_thread_eigen=false"


def device():
    names = [
        line.split(":", 1)[1].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    return f"{names[0] if names else platform.processor()}, one core"


def versions(**others):
    """Versions of the packages that count, and of `others` that took part."""
    found = {"python": platform.python_version()}
    for package in ("sharp-attention", "jax", "jaxlib", "numpy"):
        found[package] = importlib.metadata.version(package)
    return found | others


def ship(record, folder, script, tables, options=""):
    """Write what was measured as an artefact: tables, all of it, a manifest.

    `tables` names the lists of rows in `record` that become tables.
    """
    folder.mkdir(parents=True, exist_ok=True)
    contents = {f"{name}.csv": _csv_text(record[name]) for name in tables}
    contents["benchmark.json"] = json.dumps(record, indent=1) + "\n"
    for name, text in contents.items():
        (folder / name).write_bytes(text.encode())
    script = Path(script).relative_to(Path(__file__).parents[2])
    manifest = {
        "command": f"python {script}{options} --output {folder}",
        "seeds": [0],
        "versions": record["versions"],
        "device": record["device"],
        "seconds": record["seconds"],
        "files": {
            name: {"sha256": hashlib.sha256(text.encode()).hexdigest()}
            for name, text in contents.items()
        },
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


def _csv_text(rows):
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue()
