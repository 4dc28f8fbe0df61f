"""How much the absorbed form of the set-attention model saves in training.

    python tests/benchmarks/set_attention.py

One core, CPU time of the process, gradient steps of both forms in turn, round after
round; a form's time is its smallest.
The plain form runs twice, and the ratio of the two smallest times of the same thing
(A/A) says what a difference must exceed to mean anything.
"""

import os
import sys
import time

import jax
import jax.numpy as jnp
import optax

from sharp_attention.models.set_attention import SetAttention
from sharp_attention.tasks import max_retrieval

CORE = min(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
GATE = 1.7
"""The absorbed form must be so many times faster."""

TOLERANCE = 1e-5
"""Largest difference of outputs, relative to the largest output."""

STEPS, ROUNDS = 20, 15


def main():
    pin()
    model = SetAttention.initialise(jax.random.key(0))
    sets = max_retrieval.sample(jax.random.key(1), 128, 16)
    inputs = (max_retrieval.item_features(sets), sets.query, sets.target)
    difference = agreement(model, *inputs)
    steps = {
        name: compiled(form, model, *inputs)
        for name, form in {
            "plain": SetAttention.plain,
            "plain again": SetAttention.plain,
            "absorbed": SetAttention.__call__,
        }.items()
    }
    taken = {name: [] for name in steps}
    for _ in range(ROUNDS):
        for name, step in steps.items():
            taken[name].append(milliseconds(step, model, *inputs))
    best = {name: min(values) for name, values in taken.items()}
    ratio, spread = (
        best["plain"] / best["absorbed"],
        best["plain again"] / best["plain"],
    )
    for name, value in best.items():
        print(f"{name:12} {value:6.2f} ms per gradient step")
    print(f"plain / absorbed {ratio:.2f} (gate {GATE}), A/A {abs(spread - 1):.1%}")
    print(f"largest difference of outputs {difference:.1e} (gate {TOLERANCE})")
    return 0 if ratio >= GATE and difference <= TOLERANCE else 1


def pin():
    """Stay on one core; to be called before JAX is used and starts its threads."""
    if CORE is not None:
        os.sched_setaffinity(0, {CORE})
    flags = os.environ.get("XLA_FLAGS", "")
    os.environ["XLA_FLAGS"] = f"{flags} --xla_cpu_multi_thread_eigen=false"


def agreement(model, items, query, _):
    """Largest relative difference of the two forms, over all that they return."""
    both = jax.jit(lambda m: (m(items, query), m.plain(items, query)))
    return max(
        float(jnp.abs(ours - theirs).max() / jnp.abs(theirs).max())
        for ours, theirs in zip(*both(model), strict=True)
    )


def compiled(form, model, items, query, target):
    """Return a compiled function that takes `STEPS` steps of gradient descent."""

    def loss(model):
        logits = form(model, items, query).class_logits
        losses = optax.softmax_cross_entropy_with_integer_labels(logits, target)
        return jnp.mean(losses)

    def step(model, _):
        gradient = jax.grad(loss)(model)
        return jax.tree.map(lambda w, g: w - 1e-3 * g, model, gradient), None

    def steps(model, items, query, target):
        return jax.lax.scan(step, model, None, length=STEPS)[0]

    return jax.jit(steps).lower(model, items, query, target).compile()


def milliseconds(steps, *arguments):
    start = time.process_time()
    jax.block_until_ready(steps(*arguments))
    return 1e3 * (time.process_time() - start) / STEPS


if __name__ == "__main__":
    sys.exit(main())
