"""Claims about where adaptive temperature fails a leader among equal keys.

A row has one leader ahead of n − 1 keys at 0 by some gap: the smallest model of a head
that looks for one item among many.
"""

import functools

import numpy as np

from sharp_attention._typing import Float64
from sharp_attention.attention import temperature
from sharp_attention.claims import _weights
from sharp_attention.claims.registry import Measurement, declare

__all__: list[str] = []

_ours = functools.partial(
    declare,
    paper="ours",
    place="consequences of the rule",
    chapter="adaptive-temperature",
    confidence="D",
)


@_ours(
    "raising-the-leader-can-lower-it",
    statement="A leader among 15 zeros gets the weights 0.9751, 0.9527, 0.8457 and "
    "0.9082 at gaps 3.412, 4, 4.408 and 5: raising the best logit can cost it weight "
    "(measured: largest difference from these).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-4,
)
def _raising_the_leader_can_lower_it() -> Measurement:
    weights = _weights.adaptive(_weights.leader_rows([3.412, 4.0, 4.408, 5.0], 16))[
        :, 0
    ]
    want = np.array([0.9751, 0.9527, 0.8457, 0.9082])
    return Measurement(float(np.abs(weights - want).max()))


def _largest_loss(num_keys: int, gaps: Float64) -> float:
    """Largest fall of the leader's weight from one of the `gaps` to a later one."""
    weights = _weights.leader_weights(gaps, num_keys)
    return float((np.maximum.accumulate(weights) - weights).max())


@_ours(
    "largest-loss-of-a-leader",
    statement="By raising its logit a leader can lose 0.0218 of its weight among 4 "
    "keys, 0.1052 among 8, 0.1295 among 16 (measured: largest difference from these).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=2e-4,
)
def _largest_loss_of_a_leader() -> Measurement:
    gaps = np.linspace(0.0, 6.0, 6001)
    losses = np.array([_largest_loss(size, gaps) for size in (4, 8, 16)])
    return Measurement(float(np.abs(losses - np.array([0.0218, 0.1052, 0.1295])).max()))


@_ours(
    "largest-loss-among-16384",
    statement="Among 16,384 keys a leader can lose 0.063 of its weight by raising its "
    "logit.",
    quoted_value=0.063,
    tolerance=0.0005,
)
def _largest_loss_among_16384() -> Measurement:
    # Only a row at a time fits a cheap test, so the grid is fine where it matters.
    gaps = np.concatenate([[10.2747], np.linspace(12.38, 12.42, 41)])
    return Measurement(_largest_loss(16384, gaps))


@_ours(
    "cliff-at-512",
    statement="A leader that is 5 ahead among 512 keys goes from 0.2251 to 0.9784.",
    quoted_value=0.9784,
    tolerance=5e-5,
)
def _cliff_at_512() -> Measurement:
    return Measurement(float(_weights.leader_weights([5.0], 512)[0]))


@_ours(
    "cliff-at-1024",
    statement="A leader that is 5 ahead among 1,024 keys stays at 0.1267.",
    quoted_value=0.1267,
    tolerance=5e-5,
)
def _cliff_at_1024() -> Measurement:
    return Measurement(float(_weights.leader_weights([5.0], 1024)[0]))


def _leader_of_five_up_to(size: int) -> Float64:
    """Rows of 2..size keys with a leader 5 ahead, made up with −inf."""
    rows = np.where(np.arange(size) < np.arange(2, size + 1)[:, None], 0.0, -np.inf)
    rows[:, 0] = 5.0
    return rows


@_ours(
    "half-weight-up-to",
    statement="A leader that is 5 ahead keeps half of the weight up to 676 keys, where "
    "softmax keeps it up to 149.",
    quoted_value=676.0,
)
def _half_weight_up_to() -> Measurement:
    weights = _weights.adaptive(_leader_of_five_up_to(800))[:, 0]
    return Measurement(float(2 + np.flatnonzero(weights >= 0.5).max(initial=-2)))


@_ours(
    "foot-of-the-cliff",
    statement="For a leader that is 5 ahead the rule acts up to 736 keys.",
    quoted_value=736.0,
)
def _foot_of_the_cliff() -> Measurement:
    beta = _weights.beta(_leader_of_five_up_to(800))
    return Measurement(float(2 + np.flatnonzero(beta > 1.0).max(initial=-2)))


def _gap_window(num_keys: int) -> tuple[float, float]:
    """Gaps between which the rule sharpens a leader among equal keys."""
    lower, upper = temperature.active_domain()

    def crossing(value: float) -> float:
        low, high = 0.0, 20.0  # entropy falls from log n to 0 between these gaps
        for _ in range(20):
            middle = (low + high) / 2
            above = (
                _weights.row_entropy(_weights.leader_rows([middle], num_keys))[0]
                > value
            )
            low, high = (middle, high) if above else (low, middle)
        return low

    return crossing(upper), crossing(lower)


@_ours(
    "gap-window-among-1024",
    statement="Among 1,024 keys the rule acts only if the leader is between 5.65 and "
    "9.35 ahead (measured: largest difference of the two ends).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=0.005,
)
def _gap_window_among_1024() -> Measurement:
    window = np.array(_gap_window(1024))
    return Measurement(float(np.abs(window - np.array([5.65, 9.35])).max()))


@_ours(
    "gap-window-among-16384",
    statement="Among 16,384 keys the rule acts only if the leader is between 9.54 and "
    "12.40 ahead (measured: largest difference of the two ends).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=0.005,
)
def _gap_window_among_16384() -> Measurement:
    window = np.array(_gap_window(16384))
    return Measurement(float(np.abs(window - np.array([9.54, 12.40])).max()))
