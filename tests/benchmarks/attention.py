"""How fast attention is on a CPU: ours, plain and adaptive, against its peers.

    python tests/benchmarks/attention.py [--full] [--torch PYTHON] [--output FOLDER]

One core, CPU time of the process (so that neighbours count little), all variants of a
case in turn, round after round.
A variant's time is its smallest; the baseline runs twice, and the ratio of the two
smallest times of the same thing (A/A) says what a difference must exceed to mean
anything.
`--torch` names the Python of an environment with PyTorch (environment variable
``TORCH_PYTHON``), whose attention then takes its turn in a process of its own.
Inputs are Gaussian with queries times 4, where most rows have beta > 1 at every length;
with queries times 1 no row has from a length of 1024 on, which is asserted as well.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from artefact import device, pin, ship, versions

from sharp_attention.attention import attend

DIM = 64


@dataclass(frozen=True)
class Case:
    """One size of problem and the variants that are timed on it."""

    length: int
    heads: int
    variants: tuple[str, ...]
    is_causal: bool = False
    query_scale: int = 4
    rounds: int = 9


OURS = ("plain", "plain again", "adaptive")
FORWARD = (*OURS, "xla", "products", "torch", "torch products")
GRADIENTS = ("plain gradient", "plain gradient again")
BACKWARD = (*GRADIENTS, "constant beta", "through entropy")
QUICK = [
    Case(512, 2, FORWARD),
    Case(2048, 2, FORWARD),
    Case(1024, 2, BACKWARD, rounds=7),
]
FULL = [
    Case(512, 8, FORWARD, rounds=21),
    Case(1024, 8, FORWARD, rounds=21),
    Case(1024, 8, OURS, query_scale=1, rounds=21),
    Case(1024, 8, OURS, query_scale=6, rounds=21),
    Case(2048, 8, FORWARD, rounds=15),
    Case(4096, 8, FORWARD, rounds=7),
    Case(8192, 2, FORWARD, rounds=5),
    Case(1024, 8, FORWARD, is_causal=True, rounds=15),
    Case(4096, 8, FORWARD, is_causal=True, rounds=7),
    Case(1024, 4, BACKWARD, rounds=15),
    Case(2048, 4, BACKWARD, rounds=9),
]

# (variant, baseline): the largest ratio that passes for lengths of 1024 and more, and
# the one hoped for.
GATES = {
    ("adaptive", "plain"): (1.60, 1.30),
    ("adaptive", "xla"): (0.50, 0.30),
    ("adaptive", "torch"): (2.20, 1.70),
    ("constant beta", "plain gradient"): (1.25, 1.10),
    ("through entropy", "plain gradient"): (1.35, 1.15),
}
"""Ratios of time, forward, and of forward with backward."""


def main():
    options = parse()
    pin()
    start = time.perf_counter()
    peer = TorchPeer(options.torch) if options.torch else None
    cases = FULL if options.full else QUICK
    times = [row for case in cases for row in measure(case, peer)]
    record = {
        "device": device(),
        "versions": versions(**({"torch": peer.version} if peer else {})),
        "beta_above_1": shares(4096 if options.full else 1024),
        "memory": memory(),
        "times": times,
        "ratios": ratios(times),
    }
    record["seconds"] = round(time.perf_counter() - start, 1)
    print(table(record))
    if options.output:
        tables, options_given = ("times", "ratios"), " --full" * options.full
        ship(record, Path(options.output), __file__, tables, options_given)
    return 0 if not failures(record) else 1


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--torch", default=os.environ.get("TORCH_PYTHON"))
    parser.add_argument("--output")
    return parser.parse_args()


def measure(case, peer):
    """Time every variant of a case, in turn; one row of results for each."""
    inputs = draw(case.length, case.heads, case.query_scale)
    runners = {name: runner(name, case, inputs, peer) for name in case.variants}
    runners = {name: run for name, run in runners.items() if run is not None}
    for run in runners.values():
        run()  # compiles
    taken = {name: [] for name in runners}
    for _ in range(case.rounds):
        for name, run in runners.items():
            taken[name].append(run())
    shape = {name: value for name, value in asdict(case).items() if name != "variants"}
    return [
        shape | {"variant": name, "best_ms": min(ms), "median_ms": float(np.median(ms))}
        for name, ms in taken.items()
    ]


def draw(length, heads, query_scale):
    rng = np.random.default_rng(0)
    shape = (1, length, heads, DIM)
    query, key, value = (
        jnp.asarray(rng.standard_normal(shape), jnp.float32) for _ in range(3)
    )
    return query_scale * query, key, value


def runner(name, case, inputs, peer):
    """A function that runs a variant once and returns milliseconds of CPU time."""
    if name.startswith("torch"):
        what = "products" if name == "torch products" else "attention"
        return peer and (lambda: peer.time(case, what))
    compiled = jax.jit(function(name, case)).lower(*inputs).compile()

    def run():
        start = time.process_time()
        jax.block_until_ready(compiled(*inputs))
        return 1e3 * (time.process_time() - start)

    return run


def function(name, case):
    if name == "xla":
        return lambda *arrays: jax.nn.dot_product_attention(
            *arrays, is_causal=case.is_causal
        )
    if name == "products":
        return products
    weights = "softmax" if name.startswith("plain") else "adaptive"

    def ours(*arrays):
        return attend(
            *arrays,
            weights=weights,
            is_causal=case.is_causal,
            through_entropy=name == "through entropy",
        )

    if name in BACKWARD:
        return jax.value_and_grad(lambda *arrays: jnp.sum(ours(*arrays)), (0, 1, 2))
    return ours


def products(query, key, value):
    """Multiply head by head, as any attention has to."""
    by_head = (jnp.swapaxes(array[0], 0, 1) for array in (query, key, value))
    return jax.lax.map(lambda qkv: (qkv[0] @ qkv[1].T) @ qkv[2], tuple(by_head))


class TorchPeer:
    """PyTorch in a process of its own, on the same core."""

    def __init__(self, python):
        script = Path(__file__).with_name("torch_peer.py")
        self.process = subprocess.Popen(
            [python, str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.version = self.process.stdout.readline().strip()

    def time(self, case, what):
        task = {"length": case.length, "heads": case.heads, "dim": DIM}
        task |= {"is_causal": case.is_causal, "what": what}
        print(json.dumps(task), file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())


def shares(longest):
    """Share of rows with beta > 1, by length and query scale; the inputs' own test."""
    found = []
    for length in (512, 1024, 4096):
        for scale in (1, 4, 6):
            if length <= longest:
                query, key, value = draw(length, 1, scale)
                _, statistics = attend(
                    query, key, value, weights="adaptive", return_statistics=True
                )
                share = float((statistics.inverse_temperature > 1).mean())
                found.append({"length": length, "query_scale": scale, "share": share})
                assert scale != 4 or share >= 0.8, found[-1]
                assert scale != 1 or length < 1024 or share == 0, found[-1]
    return found


def memory():
    """Temporary memory of the compiled adaptive attention, MiB; 8 heads."""

    def mebibytes(length, implementation):
        array = jax.ShapeDtypeStruct((1, length, 8, DIM), jnp.float32)
        lowered = jax.jit(
            lambda *arrays: attend(
                *arrays, weights="adaptive", implementation=implementation
            )
        ).lower(array, array, array)
        return lowered.compile().memory_analysis().temp_size_in_bytes / 2**20

    return {
        "rowblock 4096": mebibytes(4096, "rowblock"),
        "rowblock 8192": mebibytes(8192, "rowblock"),
        "dense 4096": mebibytes(4096, "dense"),
    }


def ratios(times):
    """Each gated ratio of each case, with the A/A spread of its baseline."""
    found = []
    for case in {case_of(row): None for row in times}:
        best = {row["variant"]: row for row in times if case_of(row) == case}
        again = next(name for name in best if name.endswith("again"))
        spread = ratio(best, again, again.removesuffix(" again"))
        for (variant, baseline), (gate, hope) in GATES.items():
            if variant in best and baseline in best:
                found.append(
                    dict(zip(CASE_FIELDS, case, strict=True))
                    | {"variant": variant, "baseline": baseline}
                    | {"ratio": ratio(best, variant, baseline)}
                    | {"median_ratio": ratio(best, variant, baseline, "median_ms")}
                    | {"spread": abs(spread - 1), "gate": gate, "hope": hope}
                )
    return found


CASE_FIELDS = ("length", "heads", "is_causal", "query_scale")


def case_of(row):
    return tuple(row[field] for field in CASE_FIELDS)


def ratio(best, variant, baseline, field="best_ms"):
    return best[variant][field] / best[baseline][field]


def failures(record):
    """What breaks a gate by more than the A/A spread; gates hold from 1024 on."""
    broken = [
        row
        for row in record["ratios"]
        if row["length"] >= 1024 and row["ratio"] > row["gate"] * (1 + row["spread"])
    ]
    ours, double, naive = record["memory"].values()
    if double > 2.2 * ours or 32 * ours > naive:
        broken.append(record["memory"])
    return broken


def table(record):
    lines = [
        f"{'length':>6} {'heads':>5} {'causal':>6} {'scale':>5}  "
        f"{'variant / baseline':36} {'ratio':>6} {'median':>6} {'A/A':>6} {'gate':>5}"
    ]
    for row in record["ratios"]:
        pair = f"{row['variant']} / {row['baseline']}"
        lines.append(
            f"{row['length']:6} {row['heads']:5} {row['is_causal']!s:>6} "
            f"{row['query_scale']:5}  {pair:36} {row['ratio']:6.2f} "
            f"{row['median_ratio']:6.2f} {row['spread']:6.1%} {row['gate']:5.2f}"
        )
    lines += [f"{name}: {size:.1f} MiB" for name, size in record["memory"].items()]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
