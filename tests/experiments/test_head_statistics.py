"""Statistics of rows against the same in plain NumPy."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import softmax

from sharp_attention.experiments.head_statistics import RowStatistics, row_statistics
from sharp_attention.models.pretrained import HeadVectors


def vectors(*, is_causal: bool, scale: float = 1.0) -> HeadVectors:
    rng = np.random.default_rng(0)
    query = scale * rng.normal(size=(4, 11, 8))
    key = rng.normal(size=(2, 11, 8))
    arrays = (jnp.asarray(array, jnp.float32) for array in (query, key))
    return HeadVectors(*arrays, is_causal=is_causal)


def entropy_of(weights: np.ndarray) -> float:
    return float(-(weights * np.log(weights)).sum())


def plain(heads: HeadVectors) -> dict[str, np.ndarray]:
    query, key = (np.asarray(a, dtype=np.float64) for a in (heads.query, heads.key))
    result = {name: np.full((4, 11), np.nan) for name in RowStatistics._fields}
    for head, row in np.ndindex(4, 11):
        logits = key[head // 2] @ query[head, row]
        logits = logits[: row + 1] if heads.is_causal else logits
        weights, rest = softmax(logits), logits[1:]
        found = {
            "largest": logits.max(),
            "smallest": logits.min(),
            "max_weight": weights.max(),
            "entropy": entropy_of(weights),
            "first_weight": weights[0],
        }
        if rest.size:
            found |= {
                "spread_rest": rest.max() - rest.min(),
                "max_weight_rest": softmax(rest).max(),
                "entropy_rest": entropy_of(softmax(rest)),
            }
        for name, value in found.items():
            result[name][head, row] = value
    return result


@pytest.mark.parametrize("is_causal", [True, False])
def test_every_statistic_is_the_plain_one(is_causal: bool) -> None:
    heads = vectors(is_causal=is_causal)
    found, expected = row_statistics(heads), plain(heads)
    for name in RowStatistics._fields:
        ours = getattr(found, name)
        np.testing.assert_allclose(ours, expected[name], rtol=2e-4, atol=2e-5)


def test_spreads_beyond_the_exponential_are_finite() -> None:
    found = row_statistics(vectors(is_causal=True, scale=100.0))
    spread = np.asarray(found.largest - found.smallest)
    assert spread.max() > 103
    for statistic in found[:5]:
        assert np.isfinite(np.asarray(statistic)).all()
