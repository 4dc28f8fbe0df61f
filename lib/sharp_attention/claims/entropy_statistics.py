"""Claims about entropy: how it falls with temperature, and how it streams."""

import functools

import jax
import numpy as np

from sharp_attention._typing import Float64
from sharp_attention.attention import entropy
from sharp_attention.attention.entropy import PartialStatistics
from sharp_attention.claims import _weights
from sharp_attention.claims.registry import Measurement, declare

__all__: list[str] = []

_paper = functools.partial(
    declare, paper="softmax-not-enough", chapter="adaptive-temperature"
)
_ours = functools.partial(
    declare, paper="ours", chapter="adaptive-temperature", confidence="D"
)


def _random_rows() -> Float64:
    """256 rows of 16 logits of several scales, some of them masked."""
    rng = np.random.default_rng(0)
    logits = np.geomspace(0.1, 10.0, 256)[:, None] * rng.normal(size=(256, 16))
    logits[::4, 3:6] = -np.inf
    return np.asarray(logits)


def _dense_entropy(logits: Float64) -> Float64:
    """−Σ p log p from the weights, by NumPy alone."""
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return _weights.entropy_of(weights / weights.sum(axis=-1, keepdims=True))


def _one_pass(logits: Float64, block: int) -> PartialStatistics:
    """Statistics of each row, gathered from left to right in blocks of keys."""
    with jax.enable_x64(True):
        blocks = np.split(logits, logits.shape[-1] // block, axis=-1)
        parts = [entropy.partial_statistics(part) for part in blocks]
        return functools.reduce(entropy.merge, parts)


def _streamed_entropy(logits: Float64, block: int) -> Float64:
    statistics = _one_pass(logits, block)
    with jax.enable_x64(True):
        return np.asarray(entropy.entropy_from_statistics(statistics))


# ── Entropy and temperature ──────────────────────────────────────────────────────

_STEP = 1e-4


def _entropies_along_beta() -> tuple[Float64, Float64, Float64]:
    """Logits (rows, keys), the entropies of beta · logits (betas, rows), the betas."""
    logits = np.random.default_rng(1).normal(scale=2.0, size=(64, 16))
    betas = np.linspace(0.05, 3.0, 60)
    return logits, _weights.row_entropy(betas[:, None, None] * logits), betas


@_paper(
    "entropy-falls-as-temperature-falls",
    place="Proposition 3.2 (number unconfirmed)",
    statement="Lowering the temperature lowers the entropy of a row, unless all its "
    "logits are equal (measured: smallest fall in a step of 0.05 of the inverse "
    "temperature, on random rows).",
    quoted_value=1e-6,
    comparison="at least",
    confidence="A",
)
def _entropy_falls_as_temperature_falls() -> Measurement:
    _, entropies, _ = _entropies_along_beta()
    return Measurement(float(-np.diff(entropies, axis=0).max()))


@_ours(
    "equal-logits-ignore-temperature",
    place="behind Proposition 3.2",
    statement="A row of equal logits has the entropy log n at every temperature "
    "(measured: largest difference).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-12,
)
def _equal_logits_ignore_temperature() -> Measurement:
    rows = np.geomspace(0.01, 100.0, 256)[:, None] * np.full((256, 16), 3.0)
    return Measurement(float(np.abs(_weights.row_entropy(rows) - np.log(16)).max()))


@_ours(
    "slope-of-entropy",
    place="behind Proposition 3.2",
    statement="The entropy changes with the inverse temperature at the rate "
    "−beta Var(e), the variance taken under the weights (measured: largest difference "
    "from a central difference quotient).",
    quoted_value=0.0,
    comparison="at most",
    # The quotient's own error is of order step² = 1e-8 times the third derivative.
    tolerance=1e-6,
)
def _slope_of_entropy() -> Measurement:
    logits, _, betas = _entropies_along_beta()
    beta = betas[:, None, None]
    weights = _weights.softmax(beta * logits)
    means = (weights * logits).sum(axis=-1, keepdims=True)
    variance = (weights * (logits - means) ** 2).sum(axis=-1)
    above = _weights.row_entropy((beta + _STEP) * logits)
    below = _weights.row_entropy((beta - _STEP) * logits)
    slope = (above - below) / (2 * _STEP)
    return Measurement(float(np.abs(slope + betas[:, None] * variance).max()))


# ── One pass over the keys ───────────────────────────────────────────────────────


@_ours(
    "streaming-identity",
    place="streaming",
    statement="The entropy is log l − w/l with l = Σ exp(e − m) and "
    "w = Σ (e − m) exp(e − m), m the largest logit (measured: largest difference "
    "from −Σ p log p).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-12,
)
def _streaming_identity() -> Measurement:
    logits = _random_rows()
    return Measurement(
        float(np.abs(_weights.row_entropy(logits) - _dense_entropy(logits)).max())
    )


@_ours(
    "entropy-is-log-normaliser-minus-mean",
    place="streaming",
    statement="The entropy is the log-normaliser minus the mean logit "
    "(measured: largest difference on random rows).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-12,
)
def _entropy_is_log_normaliser_minus_mean() -> Measurement:
    logits = _random_rows()
    with jax.enable_x64(True):
        statistics = entropy.partial_statistics(logits)
        normaliser = np.asarray(entropy.log_normaliser(statistics))
    weights = _weights.softmax(logits)
    mean = (weights * np.where(weights > 0, logits, 0.0)).sum(axis=-1)
    return Measurement(float(np.abs(normaliser - mean - _dense_entropy(logits)).max()))


@_paper(
    "one-pass-is-enough",
    place="first seed note",
    statement="The entropy can be computed in a stream, as flash attention does: one "
    "pass over blocks of keys (measured: largest difference from −Σ p log p).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-12,
    confidence="A",
)
def _one_pass_is_enough() -> Measurement:
    logits = _random_rows()
    streamed = _streamed_entropy(logits, block=4)
    return Measurement(float(np.abs(streamed - _dense_entropy(logits)).max()))


@_paper(
    "linear-memory",
    place="first seed note",
    statement="The stream needs memory of order n for n queries: it keeps 3 numbers a "
    "row, however many keys there are (measured: numbers kept for a row of 4,096).",
    quoted_value=3.0,
    confidence="A",
)
def _linear_memory() -> Measurement:
    statistics = _one_pass(np.zeros((1, 4096)), block=1024)
    return Measurement(float(sum(np.size(number) for number in statistics)))


@_ours(
    "merge-rule",
    place="streaming",
    statement="Moving the reference from m to m' takes l to s l and w to "
    "s (w + (m − m') l) with s = exp(m − m'); so the logits 0 to 15, one by one, give "
    "1.04065, and not the 0.4587 of the rule without its second term.",
    quoted_value=1.04065,
    tolerance=5e-6,
)
def _merge_rule() -> Measurement:
    return Measurement(float(_streamed_entropy(np.arange(16.0)[None], block=1)[0]))


@_ours(
    "merge-in-any-order",
    place="streaming",
    statement="Blocks may be merged in any order (measured: largest difference between "
    "left to right and right to left).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-12,
)
def _merge_in_any_order() -> Measurement:
    logits = _random_rows()
    forwards = _streamed_entropy(logits, block=4)
    backwards = _streamed_entropy(logits[:, ::-1], block=4)
    return Measurement(float(np.abs(forwards - backwards).max()))


@_ours(
    "masked-blocks-are-skipped",
    place="streaming",
    statement="Blocks that are masked as a whole change nothing: three zeros behind a "
    "block of −inf and before another have entropy log 3.",
    quoted_value=float(np.log(3.0)),
    tolerance=1e-12,
)
def _masked_blocks_are_skipped() -> Measurement:
    logits = np.full((1, 16), -np.inf)
    logits[0, 4:7] = 0.0
    return Measurement(float(_streamed_entropy(logits, block=4)[0]))


@_ours(
    "common-offset-costs-nothing",
    place="streaming",
    statement="In float32 an offset of a million shared by 64 logits does not cost the "
    "entropy its digits (measured: error).",
    quoted_value=5e-6,
    comparison="at most",
)
def _common_offset_costs_nothing() -> Measurement:
    # Multiples of 1/16, so that the offset itself rounds nothing away.
    logits = (np.arange(64) % 9) / 16.0
    shifted = (logits + 1e6).astype(np.float32)
    error = abs(float(entropy.entropy(shifted)) - float(_dense_entropy(logits)))
    return Measurement(error)


@_ours(
    "epsilon-in-the-logarithm",
    place="streaming",
    statement="The printed formula −Σ p log(p + 1e-9) loses 1.0e-4 nats of a uniform "
    "row of 100,000 keys (measured: its value minus the entropy).",
    quoted_value=-1.0e-4,
    tolerance=1e-6,
)
def _epsilon_in_the_logarithm() -> Measurement:
    weights = np.full(100_000, 1e-5)
    printed = float(-(weights * np.log(weights + 1e-9)).sum())
    exact = float(_weights.row_entropy(np.zeros((1, 100_000)))[0])
    return Measurement(printed - exact)
