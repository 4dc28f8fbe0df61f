"""The cost of replica predictions; ``make bench`` runs it and prints the table."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).with_name("finite_samples.py")


@pytest.mark.slow
def test_predictions_are_as_cheap_as_promised():
    """In a process of its own, so that it can choose its core before JAX starts."""
    finished = subprocess.run(
        [sys.executable, str(BENCHMARK)], check=False, capture_output=True, text=True
    )
    print(f"\n{finished.stdout}")
    assert finished.returncode == 0, finished.stdout + finished.stderr
