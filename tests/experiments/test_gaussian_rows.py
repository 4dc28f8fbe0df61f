"""Gaussian rows against what is known of them."""

import numpy as np
import pytest
from scipy.stats import norm

from sharp_attention.experiments import gaussian_rows


def test_two_items_by_hand() -> None:
    found = gaussian_rows.twins([2], [1.0], num_rows=20_000).iloc[0]
    # The gap of two logits is |N(0, 2 s²)|, of mean 2 s / sqrt(pi).
    assert found["scale"] == pytest.approx(np.pi**0.5 / 2, rel=0.02)
    gaps = np.abs(np.random.default_rng(1).normal(size=200_000)) * (np.pi / 2) ** 0.5
    weight = 1 / (1 + np.exp(-gaps))
    error = 5 * np.hypot(found["max_weight_error"], weight.std() / 200_000**0.5)
    assert abs(found["max_weight"] - weight.mean()) < error + 0.005


def test_entropy_of_many_items_is_that_of_the_random_energy_model() -> None:
    sizes = [4096, 16384]
    grid = np.linspace(0, 8, 100_001)
    # The mean of the largest of n, whose distribution function is Phi^n.
    tops = [np.trapezoid(1 - norm.cdf(grid) ** n, grid) for n in sizes]
    found = gaussian_rows.twins(sizes, [2 * top for top in tops], num_rows=100)
    np.testing.assert_allclose(found["scale"], 1.0, rtol=0.03)
    expected = np.log(sizes) - found["scale"] ** 2 / 2
    # Corrections are of order exp(s²) / n.
    gap = (found["entropy"] - expected).abs()
    assert (gap < 5 * found["entropy_error"] + 2e-3).all()


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="spreads must be of length 2"):
        gaussian_rows.twins([16, 32], [1.0])
    with pytest.raises(ValueError, match="spreads must be > 0"):
        gaussian_rows.twins([16], [0.0])
    with pytest.raises(ValueError, match="num_items must be >= 2"):
        gaussian_rows.twins([1], [1.0])
