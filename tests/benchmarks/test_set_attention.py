"""The speed gate of the set-attention model; ``make bench`` runs it."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).with_name("set_attention.py")


@pytest.mark.slow
def test_absorbed_form_is_as_fast_as_promised():
    """In a process of its own, so that it can choose its core before JAX starts."""
    finished = subprocess.run(
        [sys.executable, str(BENCHMARK)], check=False, capture_output=True, text=True
    )
    print(f"\n{finished.stdout}")
    assert finished.returncode == 0, finished.stdout + finished.stderr
