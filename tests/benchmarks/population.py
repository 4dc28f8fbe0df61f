"""What a population risk costs: by quadrature, and by Monte Carlo over fields.

    python tests/benchmarks/population.py [--output FOLDER]

One core, CPU time of the process, the smallest of several rounds.
The head is the best one, softmax with k = c k* and v = v*, so that Monte Carlo needs
two Gaussian fields per token and no more.
Its cost for a standard error of 1e-4 is extrapolated from the variance of the squared
errors and the time of a sample, both measured in the same run; quadrature takes a
quarter of the usual nodes, and what error that leaves is measured as well.

The artefact (`--output`) holds

* ``costs.csv``, one row for each task: task ("spiked" or "max"), signal, length, risk;
  quadrature_ms (CPU time of one head, among 64 in a table), quadrature_error
  (absolute); sample_us (CPU time of one Monte-Carlo sample), standard_deviation (of one
  squared error), samples (for a standard error of 1e-4), monte_carlo_s; ratio (of
  Monte-Carlo time to quadrature time), gate (the least that is promised);
  monte_carlo_deviation (of the sampled risk from the exact one, in standard errors);
* ``times.csv``, one row for each promise on time: what, seconds (warm, CPU), limit;
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

from sharp_attention.tasks.single_location import MaxSLR, Overlaps, SpikedSLR
from sharp_attention.theory.single_location import averages, bayes, population
from sharp_attention.theory.single_location.heads import Head, ReadOut, risk

TARGET = 1e-4
HEADS, ROUNDS = 64, 5
BATCH = 20_000
# Of the usual number of nodes in each direction.
COARSE = 0.25
CASES = [
    (SpikedSLR(2.0, 3), 10_000),
    (SpikedSLR(2.0, 100), 10_000),
    (MaxSLR(2.0, 3), 100),
    (MaxSLR(2.0, 100), 100),
]
"""Tasks, and how many times cheaper quadrature must be."""

LONG = 10**9


def main():
    options = parse()
    pin()
    start = time.perf_counter()
    record = {
        "device": device(),
        "versions": versions(),
        "costs": [cost(task, gate) for task, gate in CASES],
        "times": times(),
    }
    record["seconds"] = round(time.perf_counter() - start, 1)
    print(table(record))
    if options.output:
        ship(record, Path(options.output), __file__, ("costs", "times"))
    return 1 if failures(record) else 0


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output")
    return parser.parse_args()


def cost(task, gate):
    """Compare the two ways for the best softmax head of a task."""
    right = bayes.bayes_risk(task)
    seconds = best_time(lambda: quadrature(task, COARSE)) / HEADS
    error = float(np.abs(quadrature(task, COARSE)[0] - right))
    sample_seconds, mean, deviation = monte_carlo(task)
    samples = (deviation / TARGET) ** 2
    return {
        "task": "spiked" if isinstance(task, SpikedSLR) else "max",
        "signal": task.signal,
        "length": task.lengths,
        "risk": right,
        "quadrature_ms": 1e3 * seconds,
        "quadrature_error": error,
        "sample_us": 1e6 * sample_seconds,
        "standard_deviation": deviation,
        "samples": samples,
        "monte_carlo_s": samples * sample_seconds,
        "ratio": samples * sample_seconds / seconds,
        "gate": gate,
        "monte_carlo_deviation": mean,
    }


def quadrature(task, refinement):
    """Risks of a table of heads around the best one, which comes first."""
    scale = bayes.inverse_temperature(task) * np.linspace(1, 1.2, HEADS)
    table = [
        Head(task.signal, task.lengths, m_k, m_k**2, 1.0, 1.0) for m_k in scale.tolist()
    ]
    moments = averages.head_moments(
        isinstance(task, SpikedSLR), "softmax", table, refinement=refinement
    )
    return risk(moments, ReadOut.on_manifold(table[0]))


def monte_carlo(task):
    """Seconds of a sample, mean in standard errors, deviation of a squared error."""
    draw = partial(squared_errors, isinstance(task, SpikedSLR), task.lengths)
    keys = iter(jax.random.split(jax.random.key(0), 3 * ROUNDS))
    signal = jnp.float32(task.signal)
    seconds = best_time(lambda: draw(next(keys), signal).block_until_ready()) / BATCH
    errors = np.concatenate([draw(next(keys), signal) for _ in range(ROUNDS)])
    errors = errors.astype(np.float64)
    standard_error = errors.std() / math.sqrt(errors.size)
    mean = (errors.mean() - bayes.bayes_risk(task)) / standard_error
    return seconds, mean, float(errors.std())


@partial(jax.jit, static_argnums=(0, 1))
def squared_errors(is_spiked, length, rng_key, signal):
    """Squared errors of the best head from scores and values of the teachers."""
    field_key, position_key = jax.random.split(rng_key)
    scores, values = jax.random.normal(field_key, (2, BATCH, length))
    if is_spiked:
        # Tokens are exchangeable: let the first be the one that counts.
        scores = scores.at[:, 0].add(jnp.sqrt(signal))
        target = values[:, 0]
        weights = jax.nn.softmax(jnp.sqrt(signal) * scores)
    else:
        logits = signal * scores
        position = jax.random.categorical(position_key, logits)
        target = jnp.take_along_axis(values, position[:, None], axis=1)[:, 0]
        weights = jax.nn.softmax(logits)
    return (target - jnp.sum(weights * values, axis=1)) ** 2


def times():
    """Warm CPU seconds of what must not take longer than a limit."""
    head = Overlaps(3.0, 9.5, 0.8, 1.0, m_vk=0.1)
    slopes = np.linspace(0.1, 5.0, 32)
    grid = [SpikedSLR(float(signal), 100) for signal in np.linspace(0.5, 20, 32)]
    heads = Overlaps(slopes, slopes**2, 1.0, 1.0)
    promises = []
    for task in (SpikedSLR(40.0, LONG), MaxSLR(5.0, LONG)):
        kind = "spiked" if isinstance(task, SpikedSLR) else "max"
        promises.append(
            (f"Bayes risk, {kind}, L = 1e9", partial(bayes.bayes_risk, task), 2.0)
        )
        for name in population.ACTIVATIONS:
            run = partial(population.risk, task, name, head)
            promises.append((f"risk of {name}, {kind}, L = 1e9", run, 2.0))
    run = partial(population.risks, grid, "softmax", heads)
    promises.append(("1024 risks of softmax, spiked, L = 100", run, 5.0))
    return [
        {"what": what, "seconds": best_time(run, rounds=2), "limit": limit}
        for what, run, limit in promises
    ]


def best_time(run, rounds=ROUNDS):
    """Smallest CPU time of a warm call."""
    run()
    taken = []
    for _ in range(rounds):
        start = time.process_time()
        run()
        taken.append(time.process_time() - start)
    return min(taken)


def failures(record):
    """What breaks a promise; also if Monte Carlo and quadrature disagree."""
    return [
        row
        for row in record["costs"]
        if row["ratio"] < row["gate"]
        or row["quadrature_error"] > TARGET
        or abs(row["monte_carlo_deviation"]) > 5
    ] + [row for row in record["times"] if row["seconds"] > row["limit"]]


def table(record):
    lines = [
        f"{'task':8} {'L':>5} {'quadrature':>12} {'error':>8} {'Monte Carlo':>12} "
        f"{'ratio':>9} {'gate':>7}"
    ]
    lines += [
        f"{row['task']:8} {row['length']:5} {row['quadrature_ms']:9.3f} ms "
        f"{row['quadrature_error']:8.1e} {row['monte_carlo_s']:10.1f} s "
        f"{row['ratio']:9.0f} {row['gate']:7}"
        for row in record["costs"]
    ]
    lines += [
        f"{row['what']:44} {row['seconds']:8.4f} s of {row['limit']:.0f}"
        for row in record["times"]
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
