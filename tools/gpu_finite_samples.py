"""Check and time replica curves and trained heads: ``gpu_check.py`` runs the steps.

By itself, ``python3 tools/gpu_finite_samples.py`` prints them; on a CPU the sizes are
small, so that the steps themselves can be tested without a GPU.
Needs JAX, SciPy and Optax; a step that misses what it must reach raises.
"""

import functools
import json
import math
import sys
import time
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np

SAMPLE_RATIO, RIDGE, NOISE = 4.0, 1.0, math.sqrt(0.1)
# Gauss-Hermite, softmax at length 2, signal 1: tests/reference/slr-finite-samples.json.
RIGHT = {"test_risk": 0.6293812, "training_loss": 0.3313482}


class Sizes(NamedTuple):
    """Points of the average, sample ratios of the curve, dimension, heads."""

    points: int
    ratios: int
    dim: int
    heads: int


SMALL, LARGE = Sizes(2**12, 3, 60, 4), Sizes(2**16, 20, 1000, 32)


def sizes():
    return SMALL if jax.default_backend() == "cpu" else LARGE


def library():
    """Import what is checked: late, so that a failure is the result of a step."""
    from sharp_attention.algorithms import erm
    from sharp_attention.tasks.single_location import SpikedSLR
    from sharp_attention.theory.single_location import replica

    return erm, replica, SpikedSLR(1.0, 2, NOISE)


def right_values():
    """Errors of one solution against quadrature: 5e-4 is allowed."""
    _, replica, task = library()
    found = replica.solve(
        *(task, "softmax", SAMPLE_RATIO, RIDGE, RIDGE), num_points=sizes().points
    )
    errors = {name: abs(getattr(found, name) - x) for name, x in RIGHT.items()}
    assert max(errors.values()) < 5e-4, errors
    return errors


def replica_curve():
    """Seconds for a curve as one batch, and the worst of its points."""
    _, replica, task = library()
    ratios = np.linspace(1.0, 20.0, sizes().ratios)
    run = functools.partial(
        replica.solve_batch,
        *(task, "softmax", ratios, RIDGE, RIDGE),
        num_points=sizes().points,
        tol=1e-10,
    )
    first, again, curve = timed(run)
    gap = max(abs(found.energy / found.potential - 1) for found in curve)
    assert all(found.is_trusted for found in curve), [one.status for one in curve]
    assert gap < 1e-8, gap
    assert np.all(np.diff([found.test_risk for found in curve]) < 0)
    return sizes()._asdict() | first | again | {"energy_gap": gap}


def trained_heads():
    """Seconds for a batch of heads, and how far the theory is from their mean."""
    erm, replica, task = library()
    numbers = task, "softmax", SAMPLE_RATIO, RIDGE, RIDGE
    chosen = sizes()
    run = functools.partial(
        erm.fit,
        *(jax.random.key(0), task, "softmax", chosen.dim, SAMPLE_RATIO, RIDGE, RIDGE),
        num_instances=chosen.heads,
        batch_size=chosen.heads,
    )
    first, again, found = timed(run)
    assert np.all(found.is_converged), found.status
    theory = replica.solve(*numbers, num_points=chosen.points)
    deviations = {}
    for name in RIGHT:
        values = getattr(found, name)
        error = np.std(values, ddof=1) / math.sqrt(chosen.heads)
        # Five standard errors, and what is left at finite dimension: below 1 / D.
        gap = abs(np.mean(values) - getattr(theory, name))
        assert gap < 5 * error + 1 / chosen.dim, (name, gap, error)
        deviations[name] = gap / error
    return chosen._asdict() | first | again | {"standard_errors": deviations}


def timed(run):
    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        result = run()
        seconds.append(round(time.perf_counter() - start, 3))
    return {"first_s": seconds[0]}, {"warm_s": seconds[1]}, result


def steps():
    yield "replica equations, right values", right_values
    yield "replica equations, a curve", replica_curve
    yield "trained heads, a batch", trained_heads


def main():
    record = {name: step() for name, step in steps()}
    print(json.dumps(record, indent=1))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))
    main()
