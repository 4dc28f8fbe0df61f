"""What the replica prediction costs, and what it costs to simulate it instead.

    python tests/benchmarks/finite_samples.py [--output FOLDER]

One core, CPU time of the process, everything warm, the smallest of several rounds.
A baseline runs twice, and the ratio of the two smallest times of the same thing (A/A)
says what a difference must exceed to mean anything.

The artefact (`--output`) holds

* ``times.csv``, one row for each promise on time: what, seconds, limit;
* ``ratios.csv``, one row for each comparison: what, ours_s, other_s (seconds), ratio
  (how many times cheaper ours is), spread (A/A), gate (the least that is promised;
  empty where nothing is);
* ``benchmark.json``, both of them with device and versions.
"""

import argparse
import math
import sys
import time
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from artefact import device, pin, ship, versions

from sharp_attention.algorithms import erm
from sharp_attention.channels.interface import Fields, Variances
from sharp_attention.channels.newton_channel import NewtonChannel
from sharp_attention.channels.weight_maps import weight_map
from sharp_attention.numerics import linalg
from sharp_attention.numerics.newton import derivatives
from sharp_attention.tasks.single_location import MaxSLR, SpikedSLR
from sharp_attention.theory.single_location import replica
from sharp_attention.theory.single_location.optimal_ridge import optimal_ridge

NOISE = math.sqrt(0.1)
SPIKED, MAX = SpikedSLR(1.0, 3, NOISE), MaxSLR(math.inf, 3, NOISE)
ROUNDS = 9

CURVE = np.linspace(1.0, 20.0, 20)
"""Sample ratios of a curve; `SIMULATED` are those at which heads are trained."""

GATED = {"num_points": 2**13}
"""What the limits of time are about; the defaults are finer."""

SIMULATED = (4.0, 8.0, 12.0, 16.0, 20.0)
DIM, INSTANCES = 1000, 4

POINTS, SIZE = 100_000, 4
"""Batch of small linear systems, and their dimension."""

STEPS = 10
"""Steps in a row."""

CURVE_GATE, ELIMINATION_GATE = 20, 15


def main():
    options = parse()
    pin()
    start = time.perf_counter()
    record = {
        "device": device(),
        "versions": versions(),
        "times": [*theory_times(), *training_times()],
        "ratios": [elimination(), *whole_steps(), curve()],
    }
    record["seconds"] = round(time.perf_counter() - start, 1)
    print(table(record))
    if options.output:
        ship(record, Path(options.output), __file__, ("times", "ratios"))
    return 1 if failures(record) else 0


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output")
    return parser.parse_args()


def theory_times():
    """One solution, a curve, an optimum; at a length of three."""
    for task, name in ((SPIKED, "spiked"), (MAX, "max")):
        for activation, limit in (("softmax", 1.0), ("linear", 0.2)):
            run = partial(replica.solve, task, activation, 8.0, 1.0, 1.0, **GATED)
            yield promise(f"fixed point, {activation}, {name}", run, limit)
        run = partial(replica.curve, task, "softmax", CURVE, 1.0, 1.0, **GATED)
        yield promise(f"curve of 20 points, softmax, {name}", run, 15.0, rounds=2)
    for task, name in ((SpikedSLR(2.0, 3, NOISE), "spiked"), (MAX, "max")):
        for activation in ("softmax", "linear"):
            run = partial(optimal_ridge, task, activation, 2.0)
            what = f"optimal ridges, {activation}, {name}, sample ratio 2"
            yield promise(what, run, 10.0, rounds=2)


def training_times():
    """One instance of dimension 1000 at a sample ratio of eight."""
    for ridge, limit in ((1.0, 8.0), (0.1, 30.0)):
        run = partial(train, 8.0, ridge, 1)
        yield promise(f"trained head, softmax, ridge {ridge}", run, limit, rounds=2)


def train(sample_ratio, ridge, num_instances, **settings):
    fitted = erm.fit(
        jax.random.key(0),
        *(SPIKED, "softmax", DIM, sample_ratio, ridge, ridge),
        num_instances=num_instances,
        **settings,
    )
    assert settings or np.all(fitted.is_converged), fitted.status


def promise(what, run, limit, rounds=ROUNDS):
    return {"what": what, "seconds": best_times([run], rounds)[0], "limit": limit}


def elimination():
    """The linear algebra of one Newton step: written out, and by `jnp.linalg.solve`."""
    rng = np.random.default_rng(0)
    root = rng.normal(size=(POINTS, SIZE, SIZE))
    with jax.enable_x64(True):
        matrix = jnp.asarray(root @ root.transpose(0, 2, 1) + np.eye(SIZE))
        right = jnp.asarray(rng.normal(size=(POINTS, SIZE)))
        rows = tuple(tuple(matrix[:, i, j] for j in range(i + 1)) for i in range(SIZE))
        columns = tuple(right.T)

        @jax.jit
        def ours(rows, columns):
            factors = linalg.factorise(rows, 1e-3)
            return jnp.stack(linalg.solve_factored(factors, columns))

        @jax.jit
        def library(matrix, right):
            return jnp.linalg.solve(matrix, right[..., None])[..., 0]

        np.testing.assert_allclose(
            ours(rows, columns).T, library(matrix, right), atol=1e-6
        )
        what = "elimination, 1e5 systems of dimension 4"
        return compare(
            what,
            partial(ours, rows, columns),
            partial(library, matrix, right),
            ELIMINATION_GATE,
        )


def whole_steps():
    """Derivatives included: both ways of the linear algebra, the same derivatives."""
    rng = np.random.default_rng(0)
    channel = NewtonChannel(weight_map("softmax"), SIZE + 1)
    with jax.enable_x64(True):
        draw = [jnp.asarray(x) for x in rng.normal(size=(2 * SIZE + 2, POINTS))]
        fields = Fields(tuple(draw[:SIZE]), tuple(draw[SIZE : 2 * SIZE + 1]), draw[-1])
        variances = Variances(jnp.asarray(0.7), jnp.asarray(0.4))

        def slopes(fields):
            def value(position):
                return channel.envelope(position, fields, variances)

            return derivatives(value, fields.key)

        @jax.jit
        def ours(fields):
            gradient, hessian = slopes(fields)
            return linalg.solve_factored(linalg.factorise(hessian, 1e-3), gradient)

        @jax.jit
        def library(fields):
            gradient, hessian = slopes(fields)
            full = [
                [hessian[max(i, j)][min(i, j)] for j in range(SIZE)]
                for i in range(SIZE)
            ]
            matrix = jnp.stack([jnp.stack(row, axis=-1) for row in full], axis=-2)
            return jnp.linalg.solve(matrix, jnp.stack(gradient, axis=-1)[..., None])

        what = "whole Newton step of softmax, 1e5 points of dimension 4"
        yield compare(what, partial(ours, fields), partial(library, fields), None)


def curve():
    """A curve from the theory, and the same curve from trained heads."""
    theory = partial(replica.curve, SPIKED, "softmax", SIMULATED, 1.0, 1.0, **GATED)
    ours, again = best_times([theory, theory], rounds=2)
    for sample_ratio in SIMULATED:
        train(sample_ratio, 1.0, 1, max_steps=1)  # compiles
    start = time.process_time()
    for sample_ratio in SIMULATED:
        train(sample_ratio, 1.0, INSTANCES)
    simulated = time.process_time() - start
    what = f"curve of {len(SIMULATED)} points, {INSTANCES} heads of dimension {DIM}"
    return comparison(what, ours, simulated, abs(again / ours - 1), CURVE_GATE)


def compare(what, ours, other, gate):
    """Compare two ways of a step, several in a row as in a Newton iteration."""

    def steps(run):
        return lambda: [jax.block_until_ready(run()) for _ in range(STEPS)][-1]

    taken = best_times([steps(run) for run in (ours, ours, other)])
    ours_s, again, other_s = (seconds / STEPS for seconds in taken)
    return comparison(what, ours_s, other_s, abs(again / ours_s - 1), gate)


def comparison(what, ours, other, spread, gate):
    return {
        "what": what,
        "ours_s": ours,
        "other_s": other,
        "ratio": other / ours,
        "spread": spread,
        "gate": gate,
    }


def best_times(runs, rounds=ROUNDS):
    """Smallest CPU times of warm calls, in turn, round after round."""
    taken = [[] for _ in runs]
    for run in runs:
        jax.block_until_ready(run())  # compiles
    for _ in range(rounds):
        for run, times in zip(runs, taken, strict=True):
            start = time.process_time()
            jax.block_until_ready(run())
            times.append(time.process_time() - start)
    return [min(times) for times in taken]


def failures(record):
    """What breaks a promise by more than the A/A spread."""
    return [row for row in record["times"] if row["seconds"] > row["limit"]] + [
        row
        for row in record["ratios"]
        if row["gate"] is not None and row["ratio"] * (1 + row["spread"]) < row["gate"]
    ]


def table(record):
    lines = [
        f"{row['what']:60} {row['seconds']:8.3f} s of {row['limit']:g}"
        for row in record["times"]
    ]
    lines += [
        f"{row['what']:60} {row['ratio']:6.1f} times (A/A {row['spread']:.1%}), "
        f"gate {row['gate'] or 'none'}"
        for row in record["ratios"]
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
