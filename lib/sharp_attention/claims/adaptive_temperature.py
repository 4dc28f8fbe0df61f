"""Claims about the rule of adaptive temperature: its polynomial and its domain.

How the polynomial was fitted is in `optimal_temperature`, what the rule does to the
weights of a row in `adaptive_weights` and `adaptive_limits`, and the entropy that it
reads in `entropy_statistics`.
"""

import functools

import jax
import numpy as np

from sharp_attention._typing import Float64
from sharp_attention.attention import activations, entropy, temperature
from sharp_attention.claims.registry import Measurement, declare

__all__: list[str] = []

_paper = functools.partial(
    declare, paper="softmax-not-enough", chapter="adaptive-temperature"
)
_ours = functools.partial(
    declare, paper="ours", chapter="adaptive-temperature", confidence="D"
)

_ENTROPIES = np.linspace(0.0, 12.0, 6001)
"""Entropies in nats; 12 is that of 160,000 equal keys."""


def _beta(entropies: Float64) -> Float64:
    with jax.enable_x64(True):
        return np.asarray(temperature.inverse_temperature(entropies))


def _polynomial(entropies: Float64 | float) -> Float64:
    return np.asarray(np.polyval(temperature.POLYNOMIAL, entropies))


# ── The rule as it is printed ────────────────────────────────────────────────────


@_paper(
    "rule-as-printed",
    place="Figure 4",
    statement="Above an entropy of 0.5 the inverse temperature is the larger of 1 and "
    "−0.037 H⁴ + 0.481 H³ − 2.3 H² + 4.917 H − 1.791, below it is 1 "
    "(measured: largest difference from this formula).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-10,
    confidence="A",
)
def _rule_as_printed() -> Measurement:
    h = _ENTROPIES
    r = -0.037 * h**4 + 0.481 * h**3 - 2.3 * h**2 + 4.917 * h - 1.791
    printed = np.where(h > 0.5, np.maximum(r, 1.0), 1.0)
    return Measurement(float(np.abs(_beta(h) - printed).max()))


@_paper(
    "weights-of-scaled-logits",
    place="Figure 4",
    statement="The adaptive weights are the softmax of beta times the logits "
    "(measured: largest difference on random rows).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-12,
    confidence="A",
)
def _weights_of_scaled_logits() -> Measurement:
    logits = np.random.default_rng(0).normal(scale=3.0, size=(256, 16))
    with jax.enable_x64(True):
        beta = temperature.inverse_temperature(entropy.entropy(logits))
        scaled = np.asarray(beta)[:, None] * logits
        want = np.asarray(activations.softmax(scaled))
        got = np.asarray(temperature.adaptive_softmax(logits))
    return Measurement(float(np.abs(got - want).max()))


@_paper(
    "polynomial-degree",
    place="Figure 6",
    statement="The best inverse temperature is modelled by a polynomial of degree 4 "
    "in the entropy.",
    quoted_value=4.0,
    confidence="A",
)
def _polynomial_degree() -> Measurement:
    return Measurement(float(len(temperature.POLYNOMIAL) - 1))


# ── Exact properties of the polynomial ───────────────────────────────────────────


@_ours(
    "polynomial-at-round-entropies",
    place="the rule",
    statement="The polynomial is −1.791 at entropy 0, 0.1503125 at 0.5 and 1.27 at 1 "
    "(measured: largest difference).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-12,
)
def _polynomial_at_round_entropies() -> Measurement:
    want = np.array([-1.791, 0.1503125, 1.27])
    return Measurement(float(np.abs(_polynomial(np.array([0, 0.5, 1])) - want).max()))


@_ours(
    "threshold-never-binds",
    place="the rule",
    statement="The condition H > 0.5 never binds: up to there the polynomial is far "
    "below 1 (measured: its largest value).",
    quoted_value=0.1503125,
    comparison="at most",
    tolerance=1e-12,
)
def _threshold_never_binds() -> Measurement:
    return Measurement(float(_polynomial(np.linspace(0.0, 0.5, 2001)).max()))


@_ours(
    "domain-lower-end",
    place="the rule",
    statement="The rule starts to sharpen at an entropy of 0.8485819960 nats.",
    quoted_value=0.8485819960,
    tolerance=1e-10,
)
def _domain_lower_end() -> Measurement:
    return Measurement(temperature.active_domain()[0])


@_ours(
    "domain-upper-end",
    place="the rule",
    statement="The rule stops sharpening at an entropy of 5.9445208279 nats.",
    quoted_value=5.9445208279,
    tolerance=1e-10,
)
def _domain_upper_end() -> Measurement:
    return Measurement(temperature.active_domain()[1])


@_ours(
    "domain-in-keys",
    place="the rule",
    statement="The domain is the range of effective supports from 2.336 to 381.66 keys "
    "(measured: largest relative difference).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=2e-4,
)
def _domain_in_keys() -> Measurement:
    ends = np.exp(temperature.active_domain())
    return Measurement(float(np.abs(ends / np.array([2.336, 381.66]) - 1).max()))


@_ours(
    "active-inside-the-domain-only",
    place="the rule",
    statement="The inverse temperature exceeds 1 inside the domain and is 1 outside "
    "(measured: entropies between 0 and 12 that disagree).",
    quoted_value=0.0,
)
def _active_inside_the_domain_only() -> Measurement:
    lower, upper = temperature.active_domain()
    inside = (lower < _ENTROPIES) & (upper > _ENTROPIES)
    return Measurement(float(np.sum((_beta(_ENTROPIES) > 1.0) != inside)))


@_ours(
    "largest-inverse-temperature",
    place="the rule",
    statement="The inverse temperature never exceeds 2.4213877.",
    quoted_value=2.4213877,
    tolerance=5e-8,
)
def _largest_inverse_temperature() -> Measurement:
    peak, largest = temperature.maximum()
    on_grid = float(_beta(np.append(_ENTROPIES, peak)).max())
    return Measurement(max(largest, on_grid))


@_ours(
    "entropy-of-strongest-sharpening",
    place="the rule",
    statement="The rule sharpens most at an entropy of 4.41240 nats, that of 82 equal "
    "keys.",
    quoted_value=4.41240,
    tolerance=5e-6,
)
def _entropy_of_strongest_sharpening() -> Measurement:
    return Measurement(temperature.maximum()[0])


@_ours(
    "rises-then-falls",
    place="the rule",
    statement="The polynomial rises up to its maximum and falls after it "
    "(measured: steps of a fine grid in the wrong direction).",
    quoted_value=0.0,
)
def _rises_then_falls() -> Measurement:
    peak = temperature.maximum()[0]
    before = np.diff(_polynomial(np.linspace(-5.0, peak, 2001)))
    after = np.diff(_polynomial(np.linspace(peak, 20.0, 2001)))
    return Measurement(float(np.sum(before <= 0) + np.sum(after >= 0)))


@_ours(
    "zeros-of-the-polynomial",
    place="the rule",
    statement="Without the clamp the inverse temperature would be negative below "
    "0.45057 and above 6.26942 nats (measured: size of the polynomial there).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=5e-5,
)
def _zeros_of_the_polynomial() -> Measurement:
    return Measurement(float(np.abs(_polynomial(np.array([0.45057, 6.26942]))).max()))


@_ours(
    "polynomial-far-out",
    place="the rule",
    statement="Without the clamp a uniform row of 16,384 keys would get an inverse "
    "temperature of −59.2, which inverts the order of the logits.",
    quoted_value=-59.2,
    tolerance=0.05,
)
def _polynomial_far_out() -> Measurement:
    return Measurement(float(_polynomial(np.log(16384.0))))


@_ours(
    "rule-is-continuous",
    place="the rule",
    statement="The inverse temperature is continuous in the entropy: it changes by at "
    "most 2.53 per nat (measured: steepest slope of a grid).",
    quoted_value=2.53,
    comparison="at most",
)
def _rule_is_continuous() -> Measurement:
    slopes = np.diff(_beta(_ENTROPIES)) / np.diff(_ENTROPIES)
    return Measurement(float(np.abs(slopes).max()))


@_ours(
    "smallest-uniform-row-sharpened",
    place="the rule",
    statement="Of the rows of equal logits, those of 3 keys are the shortest that the "
    "rule acts on.",
    quoted_value=3.0,
)
def _smallest_uniform_row_sharpened() -> Measurement:
    return Measurement(float(_uniform_rows_sharpened().min(initial=np.inf)))


@_ours(
    "largest-uniform-row-sharpened",
    place="the rule",
    statement="Of the rows of equal logits, those of 381 keys are the longest that the "
    "rule acts on.",
    quoted_value=381.0,
)
def _largest_uniform_row_sharpened() -> Measurement:
    return Measurement(float(_uniform_rows_sharpened().max(initial=0)))


def _uniform_rows_sharpened() -> Float64:
    """Numbers of equal keys, up to 2,000, for which the rule acts."""
    sizes = np.arange(1.0, 2001.0)
    return sizes[_beta(np.log(sizes)) > 1.0]
