"""Plausible wrong answers to the exercise on streaming kernels."""

import jax
import jax.numpy as jnp


def parts(query, key, scale):
    logits = jnp.asarray(query) @ jnp.asarray(key).T * scale
    mean = jnp.sum(jax.nn.softmax(logits) * logits, axis=-1)
    return jax.nn.logsumexp(logits, axis=-1), mean


def wrong_axis(query, key):
    logits = query @ key.T / 4
    weights = jax.nn.softmax(logits, axis=0)
    return -(weights * jnp.log(weights)).sum(axis=0)


WRONG = {
    "streaming-kernels/entropy-by-keys": [
        (lambda q, k: parts(q, k, 0.25)[0] - 4 * parts(q, k, 0.25)[1], "scale"),
        (lambda q, k: sum(parts(q, k, 0.25)), "wrong sign"),
        (lambda q, k: parts(q, k, 0.25)[0], "mean logit is missing"),
        (lambda q, k: parts(q, k, 1.0)[0] - parts(q, k, 1.0)[1], "not scaled"),
        (wrong_axis, "has the shape (24,), not (1,)"),
    ],
}
