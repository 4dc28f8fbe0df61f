"""Claims about the ways out of dispersion: one leader, equal hay, ever more keys.

Each is measured on the map itself at 16,384 keys and held against the limit that the
closed form predicts; tolerances are the distance that is left at that size.
"""

import functools
import math

from sharp_attention.claims.registry import Measurement, declare
from sharp_attention.experiments import two_level
from sharp_attention.tasks.single_location import SpikedSLR
from sharp_attention.theory import escapes, sign_vote
from sharp_attention.theory.single_location import escape_risks, population

__all__: list[str] = []

_ours = functools.partial(
    declare,
    paper="ours",
    place="Ways out of dispersion",
    chapter="escapes",
    confidence="D",
)

GAP = 1.5
NUM_KEYS = 16_384

# Votes need the square of that; their row has converged like e^-n long before.
_SELECTIVE = 1_024

# What is left of the limit at that size: e^1.5 / 16384 for maps that disperse, the
# hay's share of what sparse maps leave, O(1/sqrt n) of entmax.
_TOLERANCES = {
    "softmax": 1e-3,
    "adaptive": 1e-3,
    "differential": 1e-3,
    "sigmoid-log-n": 1e-3,
    "entmax-1.5": 0.02,
}
_CONVERGED = 1e-6


def _slug(name: str) -> str:
    return name.replace(",", "").replace(".", "-").replace(" ", "-")


def _declare_limit(name: str) -> None:
    num_keys = _SELECTIVE if name == "selective" else NUM_KEYS
    limit = escapes.limit(name, GAP).weight

    @_ours(
        f"escape-limit-{_slug(name)}",
        statement=f"Map '{name}' at a gap of {GAP}: the leader's weight tends to "
        f"{limit:.4g} as n grows (measured: the weight at {num_keys:,} keys).",
        quoted_value=limit,
        tolerance=_TOLERANCES.get(name, _CONVERGED),
    )
    def _limit() -> Measurement:
        return Measurement(two_level.leader(name, num_keys, GAP).weight)


for _name in escapes.DROPPED:
    if _name != "log-n":
        _declare_limit(_name)


@_ours(
    "escape-limit-log-n-above",
    statement="Log-n scaling keeps a leader whose gap exceeds 1/s: its weight tends to "
    "1 (measured: weight at 16,384 keys, gap 6, s = 0.43).",
    quoted_value=1.0,
    tolerance=1e-3,
)
def _log_n_above() -> Measurement:
    return Measurement(two_level.leader("log-n", NUM_KEYS, 6.0).weight)


@_ours(
    "escape-limit-log-n-below",
    statement="Log-n scaling loses a leader whose gap is below 1/s: its weight tends "
    "to 0 (measured: weight at 16,384 keys, gap 1, s = 0.43).",
    quoted_value=0.0,
    tolerance=0.01,
)
def _log_n_below() -> Measurement:
    return Measurement(two_level.leader("log-n", NUM_KEYS, 1.0).weight)


@_ours(
    "escape-log-n-noise",
    statement="Between the gaps 1/(2s) and 1/s log-n scaling lets the leader's weight "
    "vanish and still lifts it above the noise of the hay (measured: signal to noise "
    "at 16,384 keys over that at 16, gap 1.5, s = 0.43).",
    quoted_value=2.0,
    comparison="at least",
)
def _log_n_noise() -> Measurement:
    many, few = (two_level.leader("log-n", n, GAP) for n in (NUM_KEYS, 16))
    return Measurement(many.signal_to_noise / few.signal_to_noise)


def _declare_share(name: str) -> None:
    @_ours(
        f"escape-share-{name}",
        statement=f"Map '{name}' keeps the leader's weight and loses it in the mass of "
        "the hay (measured: its share of all weight at 16,384 keys, gap 1.5).",
        quoted_value=1e-3,
        comparison="at most",
    )
    def _share() -> Measurement:
        return Measurement(two_level.leader(name, NUM_KEYS, GAP).share)


_declare_share("sigmoid")
_declare_share("linear")


@_ours(
    "escape-discontinuous-reader",
    statement="A discontinuous reader of softmax weights finds the sign of the leader "
    "among hay of random signs up to n of order exp(2 gap), not exp(gap) (measured: "
    "its chance at n = 1 + exp(2 gap), gap 5; predicted: the normal law at 1).",
    quoted_value=0.8413,
    tolerance=0.005,
)
def _discontinuous_reader() -> Measurement:
    num_keys = 1 + round(math.exp(10.0))
    return Measurement(sign_vote.balanced_vote(num_keys, math.exp(5.0)))


_MIXED = SpikedSLR(4.0, {2: 0.5, 16: 0.5})


@_ours(
    "escape-log-n-bayes-at-one-length",
    statement="In the spiked task log-n scaling reaches the Bayes risk at one length "
    "(measured: excess at 16 tokens, signal 4).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-8,
)
def _log_n_one_length() -> Measurement:
    task = SpikedSLR(4.0, 16)
    excess = escape_risks.best_log_n(task)[0] - population.bayes_risk(task)
    return Measurement(excess)


@_ours(
    "escape-log-n-not-bayes-at-two",
    statement="It does not where one head serves texts of 2 and of 16 tokens "
    "(measured: excess, signal 4).",
    quoted_value=1e-3,
    comparison="at least",
)
def _log_n_two_lengths() -> Measurement:
    risk, _ = escape_risks.best_log_n(_MIXED)
    return Measurement(risk - population.bayes_risk(_MIXED))


@_ours(
    "escape-sparse-not-bayes",
    statement="Maps with exact zeros miss the Bayes risk already at two tokens, though "
    "by little (measured: the smaller excess of sparsemax and 1.5-entmax, signal 4).",
    quoted_value=1e-6,
    comparison="at least",
)
def _sparse() -> Measurement:
    bayes = population.bayes_risk(SpikedSLR(4.0, 2))
    risks = [
        escape_risks.best_two_tokens(4.0, name)[0]
        for name in ("sparsemax", "entmax-1.5")
    ]
    return Measurement(min(risks) - bayes)
