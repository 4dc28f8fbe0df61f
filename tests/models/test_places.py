"""Where characters stand: gaps of their own in training, gaps that fit at test."""

import jax
import numpy as np
import pytest

from sharp_attention.models import places as rules
from sharp_attention.models.places import fitted_places, random_places


def test_random_gaps_are_one_or_less() -> None:
    places = np.asarray(random_places(jax.random.key(1), 4000, 6))
    gaps = np.diff(places, axis=-1)
    np.testing.assert_allclose(gaps, gaps[:, :1] * np.ones(5), rtol=1e-5)
    assert gaps.min() >= rules.NARROWEST_GAP
    assert gaps.max() == 1
    plain = (gaps[:, 0] == 1).mean()
    error = np.sqrt(0.85 * 0.15 / 4000)
    assert abs(plain - rules.PLAIN_SHARE) < 5 * error


def test_fitted_places_stay_in_the_span() -> None:
    np.testing.assert_array_equal(fitted_places(1, 5, 9)[0], np.arange(5))
    assert float(fitted_places(3, 100, 25).max()) < 25
    with pytest.raises(ValueError, match="span must be >= 1"):
        fitted_places(1, 5, 0)
