"""One step of approximate message passing, and the loop around it.

For texts x divided by sqrt(D) and the output functions g of `channels.bayes`,
finite-samples note section 2.2,

    a = x.k - V_k g_k(old),   b = x.v - V_v g_v(old),   V = 1 / (1 + A),
    k = V_k (sum x g_k + A'_k k),   v = V_v (sum x g_v + A_v v),   A = sum g^2 / D.

What a text says about k* and what it takes back are different numbers in the spiked
task. A spike of an un-normalised key carries exp(-nu |k|^2 / (2 D)) per text, so that
the curvature in the Onsager term is A'_k = A_k - alpha nu, which is negative. With A_k
in both places the key runs away.

The iterate is damped. The tokens of the spiked task have a mean, and without damping
the overlap of v with k*, zero at the fixed point, oscillates and grows from a signal of
about 2 on. State evolution, which lives on the manifold, can't see this. The output
functions are damped along with means and variances: otherwise the Onsager term and
the mean that it corrects belong to different times, and the iteration never settles.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float

from sharp_attention.algorithms.objective import Head
from sharp_attention.channels import bayes
from sharp_attention.channels.bayes import Known, Output
from sharp_attention.channels.interface import Fields, Variances
from sharp_attention.channels.position_laws import PositionLaw
from sharp_attention.numerics.linalg import Rows, dot

__all__ = ["Limits", "Passing", "run", "step"]


class Limits(NamedTuple):
    """How the iteration goes on and when it ends.

    Attributes
    ----------
    damping : weight kept on the old iterate
    tolerance : on the residual
    max_steps : most steps
    """

    damping: Float[Array, ""]
    tolerance: Float[Array, ""]
    max_steps: Float[Array, ""]


class Passing(NamedTuple):
    """State of one instance.

    Attributes
    ----------
    head : posterior means of k* and v*
    variances : posterior variances of their coordinates
    output : output functions of all texts
    residual : root mean square change of a coordinate in the last, undamped step
    num_steps : steps so far
    """

    head: Head
    variances: Variances
    output: Output
    residual: Float[Array, ""]
    num_steps: Float[Array, ""]


@partial(jax.jit, static_argnames="law")
def run(
    starts: tuple[Head, ...],
    texts: tuple[Array, ...],
    targets: tuple[Array, ...],
    variances: Variances,
    known: Known,
    limits: Limits,
    *,
    law: PositionLaw,
) -> Passing:
    """Run a batch of instances side by side; leaves of the result have them first.

    A step to where something is not finite is not taken and ends an instance.
    """

    def one(head: Head, tokens: Array, target: Array) -> Passing:
        silent = tuple(jnp.zeros(target.shape) for _ in range(law.length))
        infinite = jnp.asarray(jnp.inf)
        begin = Passing(
            head, variances, Output(silent, silent), infinite, jnp.zeros(())
        )

        def is_running(loop: tuple[Passing, Bool[Array, ""]]) -> Bool[Array, ""]:
            state, is_broken = loop
            return (
                ~is_broken
                & (state.residual > limits.tolerance)
                & (state.num_steps < limits.max_steps)
            )

        def advance(loop: tuple[Passing, Bool[Array, ""]]) -> tuple:
            old, _ = loop
            new = step(
                old, tokens, target.astype(jnp.float64), known, limits.damping, law
            )
            is_broken = ~jnp.isfinite(new.residual)
            kept = jax.tree.map(lambda a, b: jnp.where(is_broken, a, b), old, new)
            return kept._replace(num_steps=new.num_steps), is_broken

        return lax.while_loop(is_running, advance, (begin, jnp.asarray(False)))[0]

    heads = jax.tree.map(lambda *leaves: jnp.stack(leaves), *starts)
    return jax.vmap(one)(heads, jnp.stack(texts), jnp.stack(targets))


def step(
    old: Passing,
    tokens: Float[Array, "samples tokens dim"],
    target: Float[Array, " samples"],
    known: Known,
    damping: Float[Array, ""],
    law: PositionLaw,
) -> Passing:
    """One damped step; the residual is that of the undamped one."""
    num_samples, _, dim = tokens.shape
    read = _read(tokens, jnp.stack(old.head))
    key, value = (
        tuple(x - variance * g for x, g in zip(rows, last, strict=True))
        for rows, variance, last in zip(read, old.variances, old.output, strict=True)
    )
    fresh = bayes.g_out(law, Fields(key, value, target), old.variances, known)
    output = _mix(damping, old.output, fresh)
    pull = _write(tokens, output)
    tilt = num_samples / dim * law.tilt(known.signal)
    tilts = tilt, jnp.zeros_like(tilt)
    means, variances = [], []
    for vector, moved, rows, own in zip(old.head, pull, fresh, tilts, strict=True):
        precision = jnp.sum(dot(rows, rows)) / dim
        variances.append(1 / (1 + precision))
        means.append((moved + (precision - own) * vector) * variances[-1])
    changes = jnp.stack(means) - jnp.stack(old.head)
    return Passing(
        head=_mix(damping, old.head, Head(*means)),
        variances=_mix(damping, old.variances, Variances(*variances)),
        output=output,
        residual=jnp.sqrt(jnp.mean(changes**2)),
        num_steps=old.num_steps + 1,
    )


def _mix(weight: Float[Array, ""], old: Any, new: Any) -> Any:
    """Keep `weight` on the old."""
    return jax.tree.map(lambda a, b: weight * a + (1 - weight) * b, old, new)


def _read(
    tokens: Float[Array, "samples tokens dim"], vectors: Float[Array, "2 dim"]
) -> list[Rows]:
    """Products of all tokens with two vectors, a row for each token."""
    num_samples, length, dim = tokens.shape
    products = tokens.reshape(-1, dim) @ vectors.T.astype(tokens.dtype)
    rows = products.reshape(num_samples, length, 2).astype(vectors.dtype) * dim**-0.5
    return [tuple(rows[:, :, side].T) for side in range(2)]


def _write(
    tokens: Float[Array, "samples tokens dim"], output: Output
) -> Float[Array, "2 dim"]:
    """Sum all tokens, weighted by two output functions."""
    dim = tokens.shape[-1]
    weights = jnp.stack([jnp.stack(rows, axis=1).reshape(-1) for rows in output])
    sums = weights.astype(tokens.dtype) @ tokens.reshape(-1, dim)
    return sums.astype(weights.dtype) * dim**-0.5
