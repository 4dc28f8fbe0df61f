"""Claims about the weights that adaptive temperature gives to a row."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from sharp_attention._typing import Float64
from sharp_attention.attention import activations, temperature
from sharp_attention.claims import _weights
from sharp_attention.claims.registry import Measurement, declare

__all__: list[str] = []

_paper = functools.partial(
    declare, paper="softmax-not-enough", chapter="adaptive-temperature"
)
_ours = functools.partial(
    declare, paper="ours", chapter="adaptive-temperature", confidence="D"
)


# ── What the paper promises ──────────────────────────────────────────────────────


@_paper(
    "never-raises-entropy",
    place="Section 3",
    statement="Adaptive weights never have a higher entropy than the softmax weights "
    "(measured: largest rise on random rows).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-12,
    confidence="A",
)
def _never_raises_entropy() -> Measurement:
    logits = _weights.random_rows()
    rise = _weights.entropy_of(_weights.adaptive(logits)) - _weights.entropy_of(
        _weights.softmax(logits)
    )
    return Measurement(float(rise.max()))


@_paper(
    "confident-heads-left-alone",
    place="Section 3",
    statement="Rows with an entropy of at most 0.5 keep their weights "
    "(measured: largest change).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-15,
    confidence="A",
)
def _confident_heads_left_alone() -> Measurement:
    logits = _weights.random_rows()
    confident = logits[_weights.entropy_of(_weights.softmax(logits)) <= 0.5]
    return Measurement(_weights.largest_change(confident))


@_paper(
    "adaptive-only-delays-dispersion",
    place="first seed note",
    statement="Adaptive temperature does not escape dispersion, it delays it "
    "(measured: weight of a leader that is 5 ahead among a million keys).",
    quoted_value=1e-3,
    comparison="at most",
    confidence="A",
)
def _adaptive_only_delays_dispersion() -> Measurement:
    return Measurement(float(_weights.leader_weights([5.0], 10**6)[0]))


@_paper(
    "adaptive-at-no-cost",
    place="first seed note",
    statement="Adaptive temperature comes at no cost at inference (measured: "
    "exponentials and logarithms per row, relative to softmax).",
    quoted_value=1.0,
    comparison="at most",
    tolerance=0.05,
    expected="differs",
    confidence="B",
)
def _adaptive_at_no_cost() -> Measurement:
    adaptive = _transcendentals(temperature.adaptive_softmax)
    return Measurement(adaptive / _transcendentals(activations.softmax))


def _transcendentals(weights: Callable[..., jax.Array]) -> float:
    """Exponentials and logarithms that XLA counts for 64 rows of 256 keys."""
    costs: Any = jax.jit(weights).lower(np.zeros((64, 256))).cost_analysis()
    return float(costs["transcendentals"])


# ── Golden values ────────────────────────────────────────────────────────────────

_GOLDEN = (
    # logits, entropy, inverse temperature, largest weight without and with it
    ([0.0] * 3, 1.0986122887, 1.4187862290, 1 / 3, 1 / 3),
    ([1.0, 2.0, 3.0, 4.0], 0.9475369640, 1.1824114138, 0.6439142599, 0.6996388758),
    (
        [0.2 * k for k in range(16)],
        *(2.4335046640, 2.1882298601, 0.1889721690, 0.3547684656),
    ),
    ([2.0] + [0.0] * 15, 2.4485126374, 2.1902391962, 0.3300298175, 0.8418992936),
    ([10.0, 0.0, 0.0, 0.0], 0.0014980029, 1.0, 0.9998638188, 0.9998638188),
    ([0.0, 0.0, 0.0, -np.inf], 1.0986122887, 1.4187862290, 1 / 3, 1 / 3),
    ([5.0] + [0.0] * 511, 5.3660075705, 2.0096395715, 0.2250685432, 0.9783704568),
    ([5.0] + [0.0] * 1023, 6.4324869916, 1.0, 0.1266958271, 0.1266958271),
)


def _golden_rows() -> Float64:
    """All golden rows, made up with −inf to one length."""
    rows = np.full((len(_GOLDEN), 1024), -np.inf)
    for row, (logits, *_) in zip(rows, _GOLDEN, strict=True):
        row[: len(logits)] = logits
    return rows


def _golden_error(column: int, computed: Float64) -> Measurement:
    want = np.array([entry[column] for entry in _GOLDEN])
    return Measurement(float(np.abs(computed - want).max()))


@_ours(
    "golden-entropies",
    place="golden values",
    statement="Eight rows have the entropies computed independently to ten digits "
    "(measured: largest difference).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-9,
)
def _golden_entropies() -> Measurement:
    return _golden_error(1, _weights.row_entropy(_golden_rows()))


@_ours(
    "golden-inverse-temperatures",
    place="golden values",
    statement="Eight rows get the inverse temperatures computed independently to ten "
    "digits (measured: largest difference).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-9,
)
def _golden_inverse_temperatures() -> Measurement:
    return _golden_error(2, _weights.beta(_golden_rows()))


@_ours(
    "golden-softmax-weights",
    place="golden values",
    statement="Eight rows have the largest softmax weights computed independently to "
    "ten digits (measured: largest difference).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-9,
)
def _golden_softmax_weights() -> Measurement:
    return _golden_error(3, _weights.softmax(_golden_rows()).max(axis=-1))


@_ours(
    "golden-adaptive-weights",
    place="golden values",
    statement="Eight rows have the largest adaptive weights computed independently to "
    "ten digits (measured: largest difference).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-9,
)
def _golden_adaptive_weights() -> Measurement:
    return _golden_error(4, _weights.adaptive(_golden_rows()).max(axis=-1))


# ── Consequences of the rule ─────────────────────────────────────────────────────


@_ours(
    "two-keys-unchanged",
    place="consequences of the rule",
    statement="Rows of one or two keys never change, because their entropy is at most "
    "log 2 (measured: largest change).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-15,
)
def _two_keys_unchanged() -> Measurement:
    logits = _weights.random_rows()
    logits[:, 2:] = -np.inf
    logits[::2, 1] = -np.inf
    return Measurement(_weights.largest_change(logits))


@_ours(
    "off-when-dispersed",
    place="consequences of the rule",
    statement="Rows with an effective support above 382 keys keep their weights: the "
    "rule is off in the dispersed regime (measured: largest change).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-15,
)
def _off_when_dispersed() -> Measurement:
    logits = np.random.default_rng(3).normal(size=(64, 1024))
    dispersed = logits[np.exp(_weights.entropy_of(_weights.softmax(logits))) > 382]
    assert len(dispersed) > 32, "the rows were meant to be dispersed"
    return Measurement(_weights.largest_change(dispersed))


@_ours(
    "adaptive-weight-bound",
    place="consequences of the rule",
    statement="Lemma 2.1 holds for adaptive weights with the spread times 2.4214 "
    "(measured: largest weight relative to the bound exp(2.4214 spread) / n).",
    quoted_value=1.0,
    comparison="at most",
    tolerance=1e-12,
)
def _adaptive_weight_bound() -> Measurement:
    logits = _weights.random_rows()
    leaders = _weights.leader_rows(np.linspace(0.0, 8.0, 512), 16)
    rows = np.concatenate([logits, leaders])
    spread = np.ptp(rows, axis=-1)
    bound = np.exp(temperature.maximum()[1] * spread) / 16
    return Measurement(float((_weights.adaptive(rows).max(axis=-1) / bound).max()))
