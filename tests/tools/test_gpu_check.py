"""The part of the GPU script that has nothing to do with attention, on a CPU."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import gpu_finite_samples

SCRIPT = Path(gpu_finite_samples.__file__)
NAMES = [name for name, _ in gpu_finite_samples.steps()]

# Stands for a machine without jaxtyping; prints the results of the named steps.
WITHOUT_JAXTYPING = f"""
import json, sys
sys.modules["jaxtyping"] = None
sys.path.insert(0, {str(SCRIPT.parent)!r})
import gpu_check
results = {{name: step() for name, step in gpu_check.steps() if name in {NAMES!r}}}
print(json.dumps(results))
"""


@pytest.mark.slow
def test_replica_curve_and_trained_heads():
    finished = subprocess.run(
        [sys.executable, "-c", WITHOUT_JAXTYPING],
        check=False,
        capture_output=True,
        text=True,
    )
    assert finished.returncode == 0, finished.stderr
    found = json.loads(finished.stdout)
    assert list(found) == NAMES
    assert all(found[name]["warm_s"] < found[name]["first_s"] for name in NAMES[1:])


def test_a_wrong_value_is_a_failure(monkeypatch):
    wrong = SimpleNamespace(**gpu_finite_samples.RIGHT | {"test_risk": 0.6})
    replica = SimpleNamespace(solve=lambda *_, **__: wrong)
    monkeypatch.setattr(gpu_finite_samples, "library", lambda: (None, replica, None))
    with pytest.raises(AssertionError, match="test_risk"):
        gpu_finite_samples.right_values()
