"""Closed forms on the two-level row: limits, order, what is no way out."""

import math

import numpy as np
import pytest

from sharp_attention.theory import dispersion, escapes, sign_vote

GAPS = (0.3, 1.5, 3.0)
FAR = 10**9


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("name", escapes.DROPPED)
def test_rows_tend_to_their_limit(name: str, gap: float) -> None:
    limit, near = escapes.limit(name, gap), escapes.leader(name, FAR, gap)
    # log-n scaling moves like a small power of n: its own test below.
    if name == "log-n":
        return
    assert near.weight == pytest.approx(limit.weight, abs=1e-3)
    assert near.share == pytest.approx(limit.share, abs=1e-3)
    if math.isinf(limit.signal_to_noise):
        assert near.signal_to_noise > 500
    else:
        # Largest for differential attention, whose hay is halved: (2 e^gap - 1) / √n.
        left = 3 * math.exp(gap) / math.sqrt(FAR)
        assert near.signal_to_noise == pytest.approx(limit.signal_to_noise, abs=left)


@pytest.mark.parametrize(
    ("gap", "weight", "ratio"),
    [
        (0.9 / escapes.SCALE, 0.0, math.inf),
        (1.1 / escapes.SCALE, 1.0, math.inf),
        (0.4 / escapes.SCALE, 0.0, 0.0),
    ],
)
def test_log_n_has_two_thresholds(gap: float, weight: float, ratio: float) -> None:
    limit = escapes.limit("log-n", gap)
    assert (limit.weight, limit.signal_to_noise) == (weight, ratio)
    rows = [escapes.leader("log-n", 10**k, gap) for k in (10, 20, 40, 80)]
    weights = [abs(row.weight - weight) for row in rows]
    assert weights == sorted(weights, reverse=True)
    assert weights[-1] < 1e-6
    ratios = [row.signal_to_noise for row in rows]
    assert ratios == sorted(ratios, reverse=ratio == 0)
    power = escapes.SCALE * gap - 0.5
    assert math.log10(ratios[-1] / ratios[-2]) == pytest.approx(40 * power, rel=1e-6)


def test_at_the_threshold_log_n_keeps_a_half() -> None:
    gap = 1 / escapes.SCALE
    if escapes.SCALE * gap == 1:  # as floats
        assert escapes.limit("log-n", gap).weight == 0.5
    assert escapes.leader("log-n", FAR, gap).weight == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("num_keys", [2, 16, 10**6])
def test_softmax_is_the_attained_bound(num_keys: int) -> None:
    _, upper = dispersion.sharp_weight_bounds(1.5, num_keys)
    found = escapes.leader("softmax", num_keys, 1.5)
    assert found.weight == pytest.approx(upper, rel=1e-13)
    assert found.share == pytest.approx(upper, rel=1e-13)


def test_weight_stays_and_share_goes_without_normalisation() -> None:
    for name in ("sigmoid", "linear"):
        one, many = (escapes.leader(name, n, 3.0) for n in (16, 16384))
        assert one.weight == many.weight
        assert many.share < 2e-3 * one.weight


def test_no_gap_is_no_leader() -> None:
    assert escapes.leader("hard", 10, 0.0).weight == pytest.approx(0.1)
    assert escapes.leader("sparsemax", 10, 0.0).weight == pytest.approx(0.1)


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="name must be one of"):
        escapes.leader("softmin", 10, 1.0)
    with pytest.raises(ValueError, match="num_keys must be >= 2"):
        escapes.leader("softmax", 1, 1.0)
    with pytest.raises(ValueError, match="gap must be >= 0"):
        escapes.leader("softmax", 2, -1.0)
    with pytest.raises(ValueError, match="gap must be > 0"):
        escapes.limit("softmax", 0.0)


@pytest.mark.parametrize(
    ("num_keys", "ratio"), [(2, 0.5), (2, 1.0), (10, 2.5), (101, 20.0)]
)
def test_sign_vote_by_sampling(num_keys: int, ratio: float) -> None:
    rng = np.random.default_rng(num_keys)
    signs = 2 * rng.binomial(num_keys - 1, 0.5, 400_000) - (num_keys - 1)
    right = (ratio + signs > 0) + 0.5 * (ratio + signs == 0)
    error = right.std() / math.sqrt(len(right))
    exact = sign_vote.balanced_vote(num_keys, ratio)
    assert abs(right.mean() - exact) <= 5 * error


def test_sign_vote_ends() -> None:
    assert sign_vote.balanced_vote(10**6, 0.0) == pytest.approx(0.5)
    assert sign_vote.balanced_vote(10, math.e**9) == 1.0
    far = sign_vote.balanced_vote(10**6 + 1, 1000.0)
    assert far == pytest.approx(0.8413, abs=1e-3)  # Φ(1)
