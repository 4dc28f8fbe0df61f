"""Claims about Proposition 3.1 and about the spread of logits in real models."""

import functools

import numpy as np

from sharp_attention._typing import Float64
from sharp_attention.claims import _weights
from sharp_attention.claims.registry import Measurement, declare
from sharp_attention.theory import dispersion, finite_precision, spread_bounds

__all__: list[str] = []

_proposition = functools.partial(
    declare,
    paper="softmax-not-enough",
    place="Proposition 3.1",
    chapter="dispersion-lemma",
)
_ours = functools.partial(_proposition, paper="ours", confidence="D")
_Head = tuple[Float64, Float64, Float64, Float64]


def _random_heads() -> list[_Head]:
    rng = np.random.default_rng(0)
    shapes = rng.integers(1, 9, size=(200, 3))
    return [
        (
            rng.normal(size=(head_dim, dim)),
            rng.normal(size=(head_dim, dim)),
            rng.normal(size=dim),
            rng.normal(size=(num_items, dim)),
        )
        for head_dim, dim, num_items in shapes
    ]


def _spread(queries: Float64, keys: Float64, query: Float64, items: Float64) -> float:
    return float(dispersion.spread(items @ keys.T @ (queries @ query)))


@_proposition(
    "spread-bound-holds",
    statement="The spread is at most 2 sigma(Q) sigma(K) |y| max|x| (measured: largest "
    "spread over bound of random heads).",
    quoted_value=1.0,
    comparison="at most",
    tolerance=1e-12,
    confidence="A",
)
def _spread_bound_holds() -> Measurement:
    heads = _random_heads()
    return Measurement(
        max(_spread(*head) / dispersion.spread_bound(*head) for head in heads)
    )


@_ours(
    "spread-bound-attained",
    statement="The bound is attained with y and x = +-a along the top right singular "
    "vectors and a common top left one (measured: spread over bound).",
    quoted_value=1.0,
    tolerance=1e-12,
)
def _spread_bound_attained() -> Measurement:
    rng = np.random.default_rng(0)
    left, right_q, right_k = (np.linalg.qr(rng.normal(size=(4, 4)))[0] for _ in "lqk")
    sizes = np.diag([3.0, 1.0, 0.5, 0.1])
    items = np.array([1.5, -1.5, 0.3])[:, None] * right_k[0]
    head = (left @ sizes @ right_q, left @ sizes @ right_k, 0.7 * right_q[0], items)
    return Measurement(_spread(*head) / dispersion.spread_bound(*head))


@_ours(
    "diameter-bound-holds",
    statement="The spread is at most |Qy| times the diameter of the keys (measured: "
    "largest spread over bound of random heads with two keys or more).",
    quoted_value=1.0,
    comparison="at most",
    tolerance=1e-12,
)
def _diameter_bound_holds() -> Measurement:
    ratios = [
        _spread(*head) / spread_bounds.diameter_spread_bound(*head)
        for head in _random_heads()
        if len(head[3]) > 1
    ]
    return Measurement(max(ratios))


@_ours(
    "diameter-bound-is-tighter",
    statement="The diameter bound is never above that of the proposition (measured: "
    "largest ratio).",
    quoted_value=1.0,
    comparison="at most",
    tolerance=1e-12,
)
def _diameter_bound_is_tighter() -> Measurement:
    heads = _random_heads()
    return Measurement(
        max(
            spread_bounds.diameter_spread_bound(*head) / dispersion.spread_bound(*head)
            for head in heads
        )
    )


@_proposition(
    "large-weights-amplify-noise",
    statement="Sharpness bought with larger matrices amplifies errors: multiplying the "
    "logits by 64 multiplies the answer of two tied leaders to noise by 64 (measured "
    "with noise of 1e-6).",
    quoted_value=64.0,
    tolerance=1e-3,
    confidence="A",
)
def _large_weights_amplify_noise() -> Measurement:
    logits = np.array([1.0, 1.0, -60.0, -60.0])
    noisy = logits + np.array([1e-6, 0.0, 0.0, 0.0])
    change = [
        np.abs(_weights.softmax(s * noisy) - _weights.softmax(s * logits)).max()
        for s in (1.0, 64.0)
    ]
    return Measurement(float(change[1] / change[0]))


@_ours(
    "qk-norm-bounds-spread",
    statement="With an RMS norm on queries and keys the spread is at most "
    "2 g_q g_k sqrt(head dimension), attained by opposite keys (measured: largest "
    "distance of spread over bound from 1).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-12,
)
def _qk_norm_bounds_spread() -> Measurement:
    rng, gaps = np.random.default_rng(0), []
    for head_dim in (1, 4, 64):
        unit = rng.normal(size=head_dim)
        unit *= head_dim**0.5 / np.linalg.norm(unit)
        logits = np.array([0.7 * unit, -0.7 * unit]) @ (1.5 * unit) / head_dim**0.5
        bound = spread_bounds.qk_norm_spread_bound(1.5, 0.7, head_dim)
        gaps.append(float(dispersion.spread(logits)) / bound - 1)
    return Measurement(float(np.abs(gaps).max()))


@_ours(
    "soft-cap-bounds-spread",
    statement="A soft-cap of 50 on the logits, as in Gemma 2, bounds the spread by "
    "100.",
    quoted_value=100.0,
)
def _soft_cap_bounds_spread() -> Measurement:
    return Measurement(spread_bounds.soft_cap_spread_bound(50.0))


_section = functools.partial(
    declare,
    paper="softmax-not-enough",
    place="section 3",
    chapter="dispersion-lemma",
    confidence="A",
)


@_section(
    "real-spreads-far-below-floats",
    statement="Spreads of real models are far below what the number format allows "
    "(measured: decimal orders between the largest quoted one, 32.74, and bfloat16).",
    quoted_value=37.0,
    comparison="at least",
)
def _real_spreads_far_below_floats() -> Measurement:
    return Measurement(
        float(np.log10(finite_precision.spread_limit("bfloat16") / 32.74))
    )


def _declare_gemma(size: str, statistic: str, value: float) -> None:
    @functools.partial(_section, chapter="logit-spread")(
        f"gemma-{size}-spread-{statistic}".replace(" ", "-"),
        statement=f"Over all heads of Gemma {size.upper()} the {statistic} of the "
        f"spread is {value}.",
        quoted_value=value,
        tolerance=0.005,
        expected="not run here",
        command=f"sharp-attention spread google/gemma-{size} FILE",
    )
    def _needs_weights() -> Measurement:
        raise NotImplementedError("needs the weights of Gemma")


for _statistic, _small, _large in (
    ("minimum", 2.28, 0.09),
    ("maximum", 14.78, 32.74),
    ("mean", 5.69, 5.82),
    ("standard deviation", 2.05, 2.61),
):
    _declare_gemma("2b", _statistic, _small)
    _declare_gemma("7b", _statistic, _large)
