"""The speed gates of attention; ``make bench`` runs them and prints the table."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).with_name("attention.py")


@pytest.mark.slow
def test_attention_is_as_fast_as_promised():
    """In a process of its own, so that it can choose its core before JAX starts.

    ``BENCH=full`` takes all sizes (some ten minutes); ``TORCH_PYTHON`` adds a peer.
    """
    options = ["--full"] if os.environ.get("BENCH") == "full" else []
    finished = subprocess.run(
        [sys.executable, str(BENCHMARK), *options],
        check=False,
        capture_output=True,
        text=True,
    )
    print(f"\n{finished.stdout}")
    assert finished.returncode == 0, finished.stdout + finished.stderr
